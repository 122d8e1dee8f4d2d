//===- PostKernel.h - what a library call leaves of a kernel's chain ------===//
//
// cuBLASLt does some of the operations behind a product in its call: a bias,
// the sum with another matrix, then relu or the gelu by tanh. cuDNN's
// convolutions do none. What is left is a loop kernel that works on the result
// in place.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_POSTKERNEL_H
#define CLEAVE_CODEGEN_CUDA_POSTKERNEL_H

#include "codegen/host/LibraryCall.h"
#include "mlir/IR/BuiltinOps.h"

namespace cleave {

/// How many operations, from the first one on, the call does itself.
int64_t countFusedOps(const CleaveMatmulDesc &desc);

/// A loop kernel that stands alone: its operands are the result so far, then
/// those of its operations; it has their buffers.
struct PostKernel {
  mlir::OwningOpRef<mlir::ModuleOp> holder;
  KernelOp kernel;
  llvm::SmallVector<BufferAttr> operands, results;
  llvm::SmallVector<LibraryOperand> reads; ///< operands after the first
};

/// The operations of `library` from number `first` on.
mlir::FailureOr<PostKernel> makePostKernel(KernelOp library, int64_t first);

} // namespace cleave

#endif
