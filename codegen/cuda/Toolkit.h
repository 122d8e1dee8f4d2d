//===- Toolkit.h - the assembler of the CUDA toolkit ----------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_TOOLKIT_H
#define CLEAVE_CODEGEN_CUDA_TOOLKIT_H

#include "codegen/host/DeviceFigures.h"
#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace cleave {

/// The toolkit's `ptxas`: in `cudaPath` where that is given, else on PATH,
/// below CUDA_HOME, or in the usual places. Fails with an error that says where
/// it was looked for.
mlir::FailureOr<std::string> findPtxas(mlir::MLIRContext *context,
                                       llvm::StringRef cudaPath);

/// A cubin and what its assembler says of it.
struct Cubin {
  std::string bytes;
  std::vector<KernelFigures> kernels;
};

/// Assembles PTX for `arch`, "sm_90". An error is the assembler's own.
mlir::FailureOr<Cubin> assemblePtx(mlir::MLIRContext *context,
                                   llvm::StringRef ptxas, llvm::StringRef ptx,
                                   llvm::StringRef arch);

} // namespace cleave

#endif
