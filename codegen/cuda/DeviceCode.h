//===- DeviceCode.h - from lowered kernels to PTX and cubins --------------===//

#ifndef CLEAVE_CODEGEN_CUDA_DEVICECODE_H
#define CLEAVE_CODEGEN_CUDA_DEVICECODE_H

#include "codegen/cuda/Toolkit.h"
#include "mlir/IR/BuiltinOps.h"

namespace cleave {

/// "sm_90" -> 90; none where it is no architecture of CUDA.
std::optional<int64_t> parseArch(llvm::StringRef arch);

/// The architecture whose PTX is assembled for `arch`: LLVM knows sm_80 and
/// sm_90, and newer devices take sm_90's.
int64_t getPtxArch(int64_t arch);

/// PTX of a module of the LLVM dialect for architecture 80 or 90, optimised.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp kernels, int64_t arch);

/// One form of the code of a program's kernels.
struct DeviceImage {
  int64_t arch;
  bool isBinary;
  std::string bytes;
};

/// Adds a CleaveDeviceCode (runtime/Abi.h) and what it refers to, to the module
/// of a program; returns its symbol.
std::string addDeviceSymbols(mlir::ModuleOp program,
                             llvm::ArrayRef<std::string> kernels,
                             llvm::ArrayRef<DeviceImage> images,
                             llvm::StringRef constants, int64_t cells);

} // namespace cleave

#endif
