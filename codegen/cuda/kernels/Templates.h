//===- Templates.h - the kernel templates of CUDA -------------------------===//
//
// A template writes the code of one thread, and says how many blocks of how
// many threads there are. Each fails with a diagnostic at the op that it has no
// code for.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_KERNELS_TEMPLATES_H
#define CLEAVE_CODEGEN_CUDA_KERNELS_TEMPLATES_H

#include "codegen/cuda/kernels/Kernels.h"
#include "codegen/kernels/Template.h"

namespace cleave::cuda {

mlir::FailureOr<LaunchPlan> buildLoopKernel(Template &);
mlir::FailureOr<LaunchPlan> buildRowKernel(Template &);
mlir::FailureOr<LaunchPlan> buildReduceKernel(Template &);
mlir::FailureOr<LaunchPlan> buildAttentionKernel(Template &);
/// Whether attention is of a type and of sizes that tensor cores take; its
/// kernel then. The op must be all of its kernel.
bool fitsTensorCores(AttentionOp);
LaunchPlan buildTensorAttention(Template &, AttentionOp);
mlir::FailureOr<LaunchPlan> buildPoolKernel(Template &, PoolOp);
mlir::FailureOr<LaunchPlan> buildResizeKernel(Template &, ResizeOp);
/// Writes a kernel whose elements are independent walks (cumulate, top-k,
/// scatter): a thread an item.
mlir::FailureOr<LaunchPlan> buildItemKernel(Template &, mlir::Operation *);

/// Elements of 16 bytes, the most that a thread loads or stores at once, for
/// the widest of the elements; 4 at most for bytes.
int64_t getVectorLanes(llvm::ArrayRef<View> views);

/// Threads that fold a row of `vectors` vectors, a power of two, and vectors
/// that each of them has.
struct RowShape {
  int64_t threads, slots;
  /// Slots that stay in registers, so that the row is read once.
  static constexpr int64_t MostKept = 8;
  bool isKept() const { return slots <= MostKept; }
};
RowShape chooseRowShape(int64_t vectors);

} // namespace cleave::cuda

#endif
