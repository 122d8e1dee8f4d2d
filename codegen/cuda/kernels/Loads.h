//===- Loads.h - how wide a kernel's loads are ----------------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_KERNELS_LOADS_H
#define CLEAVE_CODEGEN_CUDA_KERNELS_LOADS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace cleave::cuda {

/// Why a kernel function that was written in vectors loads no 8 or 16 bytes at
/// once from device memory; empty where it does and where it loads nothing.
llvm::StringRef explainNarrowLoads(mlir::LLVM::LLVMFuncOp function);

/// Whether the function loads 8 or 16 bytes at once.
bool hasWideLoads(mlir::LLVM::LLVMFuncOp function);

} // namespace cleave::cuda

#endif
