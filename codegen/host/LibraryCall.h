//===- LibraryCall.h - descriptors of matmul and conv kernels -------------===//

#ifndef CLEAVE_CODEGEN_HOST_LIBRARYCALL_H
#define CLEAVE_CODEGEN_HOST_LIBRARYCALL_H

#include "codegen/host/Epilogue.h"

namespace cleave {

/// A library call of a kernel: which tensors go in, and the descriptor's bytes
/// (a CleaveMatmulDesc or CleaveConvDesc).
struct LibraryCall {
  LibraryOperand lhs, rhs; ///< matmul: a, b; conv: input, weight (dresult)
  llvm::SmallVector<std::optional<LibraryOperand>> post;
  std::string descriptor;
};

/// Of a kernel of kind matmul. Free dims of one side that do not join to one
/// dim in memory become leading dims; contracting dims must join.
mlir::FailureOr<LibraryCall> readMatmul(KernelOp kernel);

/// Of a kernel of kind conv; input, weight and result are dense.
mlir::FailureOr<LibraryCall> readConv(KernelOp kernel);

/// Of a kernel of kind conv_weight_grad; everything is dense.
mlir::FailureOr<LibraryCall> readConvWeightGrad(KernelOp kernel);

/// Of a kernel of any of these kinds.
mlir::FailureOr<LibraryCall> readLibraryCall(KernelOp kernel);

} // namespace cleave

#endif
