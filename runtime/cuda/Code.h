//===- Code.h - the code of a program on a device -------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_CODE_H
#define CLEAVE_RUNTIME_CUDA_CODE_H

#include "runtime/Abi.h"
#include "runtime/cuda/Driver.h"

#include <vector>

namespace cleave::rt::cuda {

/// The kernels of a program: from the binary that fits the device, or from the
/// PTX of the newest architecture that it knows.
class Code {
public:
  /// Throws Failure (ExitDevice) where no form of the code fits.
  Code(const CleaveDeviceCode &code, DeviceNumber device);
  ~Code();
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;

  FunctionHandle kernel(int number) const { return kernels.at(number); }

private:
  ModuleHandle module = nullptr;
  std::vector<FunctionHandle> kernels;
};

} // namespace cleave::rt::cuda

#endif
