//===- DeviceFigures.h - what is known of the code of a device ------------===//

#ifndef CLEAVE_CODEGEN_HOST_DEVICEFIGURES_H
#define CLEAVE_CODEGEN_HOST_DEVICEFIGURES_H

#include <cstdint>
#include <string>
#include <vector>

namespace cleave {

/// What the assembler says of a kernel.
struct KernelFigures {
  std::string name;
  int64_t registers = 0;  ///< of a thread
  int64_t spillBytes = 0; ///< stored to and loaded from local memory
  int64_t stackBytes = 0;
  int64_t sharedBytes = 0;
  /// Why an elementwise kernel loads no 8 or 16 bytes at once; empty where it
  /// does.
  std::string narrowLoads;
};

/// The kernels of a program for one architecture.
struct BinaryFigures {
  std::string arch; ///< "sm_90"
  std::vector<KernelFigures> kernels;
};

struct DeviceFigures {
  int64_t launches = 0; ///< places in the host code that start a kernel
  std::vector<BinaryFigures> binaries;
};

} // namespace cleave

#endif
