//===- Requirements.h - what OUT asks of the system that runs it ----------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_REQUIREMENTS_H
#define CLEAVE_CODEGEN_OUTPUT_REQUIREMENTS_H

#include "codegen/output/OutFolder.h"
#include "llvm/Support/VersionTuple.h"

namespace cleave {

struct Requirements {
  llvm::VersionTuple glibc; ///< the least version
  std::string mpi;          ///< the library by its name: "libmpi.so.40"
  /// Architectures that a CUDA program has binaries for; empty: it is for CPUs.
  std::vector<std::string> cudaArchs;
};

/// Reads them from the executables and libraries that are in the folder.
mlir::FailureOr<Requirements> findRequirements(const OutFolder &folder);

} // namespace cleave

#endif
