//===- Split.cpp - dims split into several, and values rebuilt so ---------===//

#include "passes/normalize/Split.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

//===-- Splits ------------------------------------------------------------===//

std::optional<Split> cleave::getSplit(ArrayRef<int64_t> from,
                                      ArrayRef<int64_t> to) {
  if (llvm::is_contained(from, 0) || (from.empty() && !to.empty()))
    return std::nullopt;
  Split split;
  for (int64_t size : from) {
    SmallVector<int64_t, 2> sizes;
    int64_t product = 1;
    while (!to.empty() && (sizes.empty() || product < size)) {
      product *= to.front();
      sizes.push_back(to.front());
      to = to.drop_front();
    }
    if (sizes.empty() || product != size)
      return std::nullopt;
    split.push_back(sizes);
  }
  for (int64_t size : to) {
    if (size != 1)
      return std::nullopt;
    split.back().push_back(size);
  }
  return split;
}

Split cleave::getNoSplit(ArrayRef<int64_t> shape) {
  Split split;
  for (int64_t size : shape)
    split.push_back({size});
  return split;
}

bool cleave::isNoSplit(const Split &split) {
  return llvm::all_of(split, [](auto &sizes) { return sizes.size() == 1; });
}

SmallVector<int64_t> cleave::getSplitShape(const Split &split) {
  SmallVector<int64_t> shape;
  for (auto &sizes : split)
    llvm::append_range(shape, sizes);
  return shape;
}

/// For each dim, the new dims that it becomes.
static SmallVector<SmallVector<int64_t>> getNewDims(const Split &split) {
  SmallVector<SmallVector<int64_t>> dims;
  int64_t next = 0;
  for (auto &sizes : split) {
    int64_t count = sizes.size();
    dims.push_back(getRange(next, next + count));
    next += count;
  }
  return dims;
}

//===-- What an op's operands need ----------------------------------------===//

static Split getTransposeSplit(TransposeOp op, const Split &split) {
  Split source(split.size());
  for (auto [i, dim] : llvm::enumerate(op.getPerm()))
    source[dim] = split[i];
  return source;
}

/// A dim that is repeated stays one dim of size 1.
static Split getBroadcastSplit(BroadcastOp op, const Split &split) {
  Split source;
  for (auto [size, dim] : llvm::zip(shapeOf(op.getX()), op.getDims())) {
    bool repeats = size != op.getType().getDimSize(dim);
    source.push_back(repeats ? SmallVector<int64_t, 2>{size} : split[dim]);
  }
  return source;
}

/// Splits of both operands; contracting dims stay whole.
static std::pair<Split, Split> getDotSplits(DotOp op, const Split &split) {
  Split lhs = getNoSplit(shapeOf(op.getLhs()));
  Split rhs = getNoSplit(shapeOf(op.getRhs()));
  size_t next = 0;
  for (auto [l, r] : llvm::zip(op.getLhsBatch(), op.getRhsBatch()))
    lhs[l] = rhs[r] = split[next++];
  for (int64_t dim : op.getLhsFree())
    lhs[dim] = split[next++];
  for (int64_t dim : op.getRhsFree())
    rhs[dim] = split[next++];
  return {lhs, rhs};
}

//===-- Splitter ----------------------------------------------------------===//

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumOperands() > 0;
}

bool Splitter::canSplit(Value value, const Split &split) const {
  if (isNoSplit(split))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<LoadOp, ReshapeOp>(op))
    return true;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue());
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return canSplit(transpose.getX(), getTransposeSplit(transpose, split));
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return canSplit(broadcast.getX(), getBroadcastSplit(broadcast, split));
  if (!hasOneUser(value))
    return false;
  if (auto dot = dyn_cast<DotOp>(op)) {
    auto [lhs, rhs] = getDotSplits(dot, split);
    return canSplit(dot.getLhs(), lhs) && canSplit(dot.getRhs(), rhs);
  }
  return isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value v) {
           return canSplit(v, split);
         });
}

Value Splitter::split(Value value, const Split &split) {
  if (isNoSplit(split))
    return value;
  Operation *op = value.getDefiningOp();
  RankedTensorType type = typeOf(value).clone(getSplitShape(split));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  if (auto load = dyn_cast<LoadOp>(op))
    return splitLoad(load, type);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return rewriter.createOrFold<ReshapeOp>(op->getLoc(), type, reshape.getX());
  if (auto constant = dyn_cast<ConstantOp>(op))
    return rewriter.create<ConstantOp>(
        op->getLoc(),
        cast<DenseElementsAttr>(constant.getValue()).reshape(type));
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return splitTranspose(transpose, split);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return splitBroadcast(broadcast, split);
  if (auto dot = dyn_cast<DotOp>(op))
    return splitDot(dot, split);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(this->split(operand, split));
  return cloneWithTypes(rewriter, op, operands, Type(type))->getResult(0);
}

/// The symbol itself gets the new shape when this is its only reader.
Value Splitter::splitLoad(LoadOp load, RankedTensorType type) {
  ParamOp param = params.lookup(load.getSymbolAttr().getAttr());
  if (!param || !load->hasOneUse()) {
    rewriter.setInsertionPointAfter(load);
    return rewriter.create<ReshapeOp>(load.getLoc(), type, load);
  }
  rewriter.modifyOpInPlace(param, [&] {
    if (!param.getTrueShape())
      param.setTrueShape(cast<RankedTensorType>(param.getType()).getShape());
    if (auto dense = dyn_cast_or_null<DenseElementsAttr>(param.getValueAttr()))
      param.setValueAttr(dense.reshape(type));
    param.setType(type);
  });
  return rewriter.create<LoadOp>(load.getLoc(), type, load.getSymbolAttr());
}

Value Splitter::splitTranspose(TransposeOp op, const Split &split) {
  Split source = getTransposeSplit(op, split);
  SmallVector<SmallVector<int64_t>> dims = getNewDims(source);
  SmallVector<int64_t> perm;
  for (int64_t dim : op.getPerm())
    llvm::append_range(perm, dims[dim]);
  Value x = this->split(op.getX(), source);
  return rewriter.create<TransposeOp>(op.getLoc(), x, perm);
}

Value Splitter::splitBroadcast(BroadcastOp op, const Split &split) {
  Split source = getBroadcastSplit(op, split);
  SmallVector<SmallVector<int64_t>> newDims = getNewDims(split);
  SmallVector<int64_t> dims;
  for (auto [sizes, dim] : llvm::zip(source, op.getDims()))
    llvm::append_range(dims, ArrayRef(newDims[dim]).take_front(sizes.size()));
  Value x = this->split(op.getX(), source);
  return rewriter.create<BroadcastOp>(
      op.getLoc(), op.getType().clone(getSplitShape(split)), x, dims);
}

Value Splitter::splitDot(DotOp op, const Split &split) {
  auto [lhs, rhs] = getDotSplits(op, split);
  Value left = this->split(op.getLhs(), lhs);
  Value right = this->split(op.getRhs(), rhs);
  return buildSplitDot(rewriter, op, left, right, lhs, rhs);
}

Value cleave::buildSplitDot(RewriterBase &rewriter, DotOp op, Value lhs,
                            Value rhs, const Split &lhsSplit,
                            const Split &rhsSplit) {
  auto renumber = [](ArrayRef<int64_t> dims, const Split &split) {
    SmallVector<SmallVector<int64_t>> newDims = getNewDims(split);
    SmallVector<int64_t> result;
    for (int64_t dim : dims)
      llvm::append_range(result, newDims[dim]);
    return result;
  };
  return rewriter.create<DotOp>(op.getLoc(), lhs, rhs,
                                renumber(op.getLhsBatch(), lhsSplit),
                                renumber(op.getRhsBatch(), rhsSplit),
                                renumber(op.getLhsContract(), lhsSplit),
                                renumber(op.getRhsContract(), rhsSplit));
}
