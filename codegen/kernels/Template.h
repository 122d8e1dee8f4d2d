//===- Template.h - a kernel function that is being written ---------------===//
//
// A template writes the body of a kernel function for one family of kernels. It
// gets the kernel with its operands and results as views. What is here is the
// same for all targets; each has templates of its own.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_TEMPLATE_H
#define CLEAVE_CODEGEN_KERNELS_TEMPLATE_H

#include "codegen/kernels/Domain.h"
#include "codegen/kernels/Evaluator.h"

namespace cleave {

/// Whether kernels of this kind are generated. The others (matmul, conv) are
/// library calls of the host side.
bool isGenerated(KernelKind kind);

/// A kernel that does items of an iteration space, one after the other or in
/// ranges.
struct KernelPlan {
  int64_t extent; ///< items of the iteration space; 0: nothing to do
  int64_t grain;  ///< least items a call, so that a call is worth its cost
  int64_t scratchBytesPerThread; ///< a multiple of 64; 64-byte aligned
  bool mayFail = false;          ///< has an error cell as last argument
  std::string failMessage;       ///< what a cell that is not 0 means, in words
};

/// A kernel function that is being written. A template whose kernel does items
/// in ranges does those from `begin` to `end`, with `scratch` to work in.
struct Template {
  Template(KernelOp op, Code &code) : op(op), code(code) {}

  KernelOp op;
  Code &code;
  llvm::DenseMap<mlir::Value, View> views; ///< block arguments, arrays
  llvm::SmallVector<View> results;
  mlir::Value begin, end, scratch;
  mlir::Value errorCell; ///< null when the kernel cannot fail
  int64_t lanes = Lanes; ///< of vectors where nothing else is said

  mlir::OperandRange getYields();
  /// An evaluator that knows the views.
  Evaluator makeEvaluator() { return makeEvaluator(lanes); }
  Evaluator makeEvaluator(int64_t lanes);
  /// Strides of all views, for `Accesses`.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> getStrides();
};

// Templates of walks that take their items one by one, whatever the target.
// Each fails with a diagnostic at the op that it has no code for.
mlir::FailureOr<KernelPlan> buildCumulateKernel(Template &, CumulateOp);
mlir::FailureOr<KernelPlan> buildTopKKernel(Template &, TopKOp);
mlir::FailureOr<KernelPlan> buildScatterKernel(Template &, ScatterOp);
mlir::FailureOr<KernelPlan> buildGatherGradKernel(Template &, GatherGradOp);
mlir::FailureOr<KernelPlan> buildPoolGradKernel(Template &, PoolGradOp);

/// Calls `body(base, mask)` for each vector of [from, to). Without `hasTail`,
/// the range is known to be whole vectors.
void forVectors(Code &, mlir::Value from, mlir::Value to, bool hasTail,
                llvm::function_ref<void(mlir::Value, mlir::Value)> body,
                int64_t lanes = Lanes);

/// Items a call should do at least, when one has `elements` elements.
int64_t getGrain(int64_t elements);

/// What a set error cell of this kernel means; empty: it cannot fail.
std::string getFailMessage(KernelOp kernel);

/// Fails with a diagnostic where the kernel has types that no template computes
/// with.
[[nodiscard]] mlir::LogicalResult verifyTypes(KernelOp kernel);

/// Makes views of operands, results and constant arrays at the function's
/// start. `addresses`: of operands, then of results.
void makeViews(Template &kernel, llvm::ArrayRef<mlir::Value> addresses,
               llvm::ArrayRef<BufferAttr> operands,
               llvm::ArrayRef<BufferAttr> results);

/// Text that is equal for two kernels exactly when their functions would be:
/// the kind, the body without locations, and the strides. Build each key once.
std::string getKernelKey(KernelOp op, llvm::ArrayRef<BufferAttr> operands,
                         llvm::ArrayRef<BufferAttr> results);

/// The first element of a domain of `rank` dims.
llvm::SmallVector<Index> getOrigin(Code &, int64_t rank);
/// Sets the carriers of the groups to the row-major position `item`.
void setPoint(Code &, llvm::MutableArrayRef<Index> point,
              llvm::ArrayRef<Group> groups, mlir::Value item);

/// The part of a result that one piece of a kernel fills: a box of the result,
/// and the values that are stored there. A null value stores `fill`.
struct Piece {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<View> targets;
  double fill = 0;
};

/// What a loop kernel stores: the operands of a concat, the inside and the
/// borders of a pad, else all results as one piece.
llvm::SmallVector<Piece> getPieces(Template &kernel);

} // namespace cleave

#endif
