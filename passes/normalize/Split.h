//===- Split.h - dims split into several, and values rebuilt so -----------===//
//
// A split gives each dim of a shape a list of sizes whose product is the dim:
// [197, 1152] -> [197, 3, 6, 64] is {{197}, {3, 6, 64}}.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_NORMALIZE_SPLIT_H
#define CLEAVE_PASSES_NORMALIZE_SPLIT_H

#include "passes/normalize/Match.h"
#include "llvm/ADT/DenseMap.h"

namespace cleave {

/// Per dim, the sizes that it splits into.
using Split = llvm::SmallVector<llvm::SmallVector<int64_t, 2>>;

/// The split that turns shape `from` into `to`; none if a dim of `to` joins
/// dims of `from`, or a size is 0.
std::optional<Split> getSplit(llvm::ArrayRef<int64_t> from,
                              llvm::ArrayRef<int64_t> to);
/// The split that changes nothing.
Split getNoSplit(llvm::ArrayRef<int64_t> shape);
/// Whether no dim gets more than one size.
bool isNoSplit(const Split &split);
/// The shape after the split.
llvm::SmallVector<int64_t> getSplitShape(const Split &split);

/// Rebuilds values with their dims split, up to where that costs nothing:
/// loads, constants and other reshapes. Does not touch the old ops.
class Splitter {
public:
  /// `params`: symbols by name whose type may change: only one load reads them.
  Splitter(mlir::RewriterBase &rewriter,
           const llvm::DenseMap<mlir::StringAttr, ParamOp> &params)
      : rewriter(rewriter), params(params) {}

  /// Whether `split` builds `value` without a reshape of a computed value. Ops
  /// on the way that compute must have no other user.
  bool canSplit(mlir::Value value, const Split &split) const;
  /// Needs canSplit.
  mlir::Value split(mlir::Value value, const Split &split);

private:
  mlir::Value splitLoad(LoadOp load, mlir::RankedTensorType type);
  mlir::Value splitBroadcast(BroadcastOp op, const Split &split);
  mlir::Value splitTranspose(TransposeOp op, const Split &split);
  mlir::Value splitDot(DotOp op, const Split &split);

  mlir::RewriterBase &rewriter;
  const llvm::DenseMap<mlir::StringAttr, ParamOp> &params;
};

/// The dot with its operands split (their batch and contracting dims alike),
/// and its dim lists renumbered.
mlir::Value buildSplitDot(mlir::RewriterBase &rewriter, DotOp op,
                          mlir::Value lhs, mlir::Value rhs,
                          const Split &lhsSplit, const Split &rhsSplit);

} // namespace cleave

#endif
