//===- Template.h - what the kernel templates share -----------------------===//
//
// A template writes the body of a kernel function for one family of kernels. It
// gets the kernel with its operands and results as views, writes code that does
// items [begin, end), and says how many items there are.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CPU_KERNELS_TEMPLATE_H
#define CLEAVE_CODEGEN_CPU_KERNELS_TEMPLATE_H

#include "codegen/cpu/kernels/Domain.h"
#include "codegen/cpu/kernels/Evaluator.h"
#include "codegen/cpu/kernels/Kernels.h"

namespace cleave {

/// A kernel function that is being written.
struct Template {
  Template(KernelOp op, Code &code) : op(op), code(code) {}

  KernelOp op;
  Code &code;
  llvm::DenseMap<mlir::Value, View> views; ///< block arguments, arrays
  llvm::SmallVector<View> results;
  mlir::Value begin, end, scratch;
  mlir::Value errorCell; ///< null when the kernel cannot fail

  mlir::OperandRange getYields();
  /// An evaluator that knows the views.
  Evaluator makeEvaluator(int64_t lanes = Lanes);
  /// Strides of all views, for `Accesses`.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> getStrides();
};

// Each fails with a diagnostic at the op that it has no code for.
mlir::FailureOr<KernelPlan> buildLoopKernel(Template &);
mlir::FailureOr<KernelPlan> buildResizeKernel(Template &, ResizeOp);
mlir::FailureOr<KernelPlan> buildPoolKernel(Template &, PoolOp);
mlir::FailureOr<KernelPlan> buildCumulateKernel(Template &, CumulateOp);
mlir::FailureOr<KernelPlan> buildTopKKernel(Template &, TopKOp);
mlir::FailureOr<KernelPlan> buildScatterKernel(Template &, ScatterOp);
mlir::FailureOr<KernelPlan> buildRowKernel(Template &);
mlir::FailureOr<KernelPlan> buildReduceKernel(Template &);
mlir::FailureOr<KernelPlan> buildAttentionKernel(Template &);

//===-- Nests ---------------------------------------------------------------//

/// The first element of a domain of `rank` dims.
llvm::SmallVector<Index> getOrigin(Code &, int64_t rank);
/// Sets the carriers of the groups to the row-major position `item`.
void setPoint(Code &, llvm::MutableArrayRef<Index> point,
              llvm::ArrayRef<Group> groups, mlir::Value item);

/// Calls `body(base, mask)` for each vector of [from, to). Without `hasTail`,
/// the range is known to be whole vectors.
void forVectors(Code &, mlir::Value from, mlir::Value to, bool hasTail,
                llvm::function_ref<void(mlir::Value, mlir::Value)> body);

/// Carries values through the vectors of [0, size), in a few independent chains
/// that `combine` joins at the end, in fixed order.
Code::Values
foldVectors(Code &, int64_t size, mlir::ValueRange init,
            llvm::function_ref<Code::Values(mlir::Value base, mlir::Value mask,
                                            mlir::ValueRange carried)>
                body,
            llvm::function_ref<Code::Values(mlir::ValueRange, mlir::ValueRange)>
                combine);

/// Items a call should do at least, when one has `elements` elements.
int64_t getGrain(int64_t elements);

} // namespace cleave

#endif
