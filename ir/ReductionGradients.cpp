//===- ReductionGradients.cpp - reductions of dims, prefixes, windows -----===//

#include "ir/Elementwise.h"
#include "ir/LogicalBuilder.h"
#include "ir/Movement.h"
#include "ir/Reduction.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

//===-- Reduce ------------------------------------------------------------===//

/// The largest (smallest) elements share the gradient.
static Value shareExtremes(LogicalBuilder &b, ReduceOp op, Value dresult) {
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  Value isExtreme =
      b.compare(CompareKind::Eq, op.getX(),
                b.repeatAlong(op.getResult(), shape, op.getDims()));
  Value count =
      b.sum(b.cast(isExtreme, op.getType().getElementType()), op.getDims());
  Value part = b.div(dresult, count);
  return b.keepWhere(isExtreme, b.repeatAlong(part, shape, op.getDims()));
}

/// The product of the other elements: of those before times those behind, along
/// all reduced dims as one.
static Value multiplyOthers(LogicalBuilder &b, ReduceOp op, Value dresult) {
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  SmallVector<int64_t> kept = getOtherDims(shape.size(), op.getDims());
  SmallVector<int64_t> perm(kept), flat, moved;
  llvm::append_range(perm, op.getDims());
  int64_t count = 1;
  for (int64_t dim : perm)
    moved.push_back(shape[dim]);
  for (int64_t dim : op.getDims())
    count *= shape[dim];
  for (int64_t dim : kept)
    flat.push_back(shape[dim]);
  flat.push_back(count);
  Value x = b.reshape(b.transpose(op.getX(), perm), flat);
  auto multiply = [&](bool reverse) -> Value {
    return b.b.create<CumulateOp>(b.loc, ReduceKind::Prod, x, kept.size(),
                                  /*exclusive=*/true, reverse);
  };
  int64_t last = kept.size();
  Value dx = b.mul(b.mul(multiply(false), multiply(true)),
                   b.repeatAlong(dresult, flat, {last}));
  SmallVector<int64_t> inverse(perm.size());
  for (auto [i, dim] : llvm::enumerate(perm))
    inverse[dim] = i;
  return b.transpose(b.reshape(dx, moved), inverse);
}

SmallVector<Value> ReduceOp::buildGradients(OpBuilder &builder, Value dresult,
                                            ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  switch (getKind()) {
  case ReduceKind::Sum:
    return {b.repeatAlong(dresult, getX().getType().getShape(), getDims())};
  case ReduceKind::Prod:
    return {multiplyOthers(b, *this, dresult)};
  default:
    return {shareExtremes(b, *this, dresult)};
  }
}

//===-- Cumulate ----------------------------------------------------------===//

std::string CumulateOp::getMissingGradient() {
  bool isExtreme = getKind() == ReduceKind::Max || getKind() == ReduceKind::Min;
  return isExtreme ? "of kind " + stringifyReduceKind(getKind()).str() : "";
}

/// dx[i] = before[i] sum over j of dy[j] between[i, j], where before[i] is the
/// product of the elements before i, and between[i, j] that of those behind i
/// which y[j] has; zeros among them do no harm. The sum is over the j whose
/// product has x[i].
static Value multiplyPrefixes(LogicalBuilder &b, CumulateOp op, Value dresult) {
  RankedTensorType type = op.getType();
  int64_t dim = op.getDim(), rank = type.getRank();
  bool exclusive = op.getExclusive(), reverse = op.getReverse();
  auto cumulate = [&](Value x, int64_t along, bool isExclusive) -> Value {
    return b.b.create<CumulateOp>(b.loc, ReduceKind::Prod, x, along,
                                  isExclusive, reverse);
  };
  SmallVector<int64_t> shape(type.getShape()); // [..., i, j, ...]
  shape.insert(shape.begin() + dim, shape[dim]);
  RankedTensorType numbers = RankedTensorType::get(shape, b.b.getI64Type());
  Value i = b.iota(numbers, dim), j = b.iota(numbers, dim + 1);
  auto isBehind = [&](bool orSame) {
    CompareKind kinds[] = {CompareKind::Gt, CompareKind::Ge, CompareKind::Lt,
                           CompareKind::Le};
    return b.compare(kinds[2 * reverse + orSame], j, i);
  };
  SmallVector<int64_t> alongJ = getOtherDims(rank + 1, {dim});
  Value x = b.repeat(op.getX(), shape, alongJ);
  Value behind = b.select(isBehind(false), x, b.splat(x, 1.0));
  Value between = cumulate(behind, dim + 1, exclusive);
  Value terms = b.mul(between, b.repeat(dresult, shape, alongJ));
  Value sum = b.sum(b.keepWhere(isBehind(!exclusive), terms), {dim + 1});
  return b.mul(cumulate(op.getX(), dim, true), sum);
}

/// A sum leads back by the sum from the other end.
SmallVector<Value> CumulateOp::buildGradients(OpBuilder &builder, Value dresult,
                                              ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  if (getKind() == ReduceKind::Prod)
    return {multiplyPrefixes(b, *this, dresult)};
  return {builder.create<CumulateOp>(getLoc(), ReduceKind::Sum, dresult,
                                     getDim(), getExclusive(), !getReverse())};
}

//===-- Pool --------------------------------------------------------------===//

SmallVector<Value> PoolOp::buildGradients(OpBuilder &b, Value dresult,
                                          ArrayRef<bool>) {
  Value x = getKind() == PoolKind::Max ? getX() : Value();
  return {b.create<PoolGradOp>(getLoc(), getX().getType(), getKind(), dresult,
                               x, getKernel(), getStrides(), getPads(),
                               getDilations(), getIncludePad(), getCeil())};
}

PoolWindow PoolGradOp::getWindow(int64_t dim) {
  int64_t i = dim - 2, spatial = getKernel().size();
  return {getType().getDimSize(dim),
          getKernel()[i],
          getStrides()[i],
          getDilations()[i],
          getPads()[i],
          getPads()[spatial + i],
          getCeil()};
}

LogicalResult PoolGradOp::verify() {
  if (static_cast<bool>(getX()) != (getKind() == PoolKind::Max))
    return emitOpError() << "needs x for kind max, and only there";
  if (getX() && getX().getType() != getType())
    return emitOpError() << "x has type " << getX().getType() << ", the result "
                         << getType();
  if (!isa<FloatType>(getType().getElementType()))
    return emitOpError() << "needs floats, found " << getType();
  SmallVector<Type> types;
  PoolOp::Properties properties;
  properties.kind = getKindAttr();
  properties.kernel = getKernelAttr();
  properties.strides = getStridesAttr();
  properties.pads = getPadsAttr();
  properties.dilations = getDilationsAttr();
  properties.include_pad = getIncludePadAttr();
  properties.ceil = getCeilAttr();
  // The pooling of a value of the result's type, whatever that is.
  Value like = getResult();
  PoolOp::Adaptor pooling(ValueRange(like), DictionaryAttr(), properties);
  if (failed(PoolOp::inferReturnTypes(getContext(), getLoc(), pooling, types)))
    return failure();
  if (types[0] != getDresult().getType())
    return emitOpError() << "dresult has type " << getDresult().getType()
                         << ", expected " << types[0];
  return success();
}

/// As for the pooling.
ShardingRule PoolGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors small, large;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(
           getDresult().getType().getShape(), getType().getShape()))) {
    auto [out, in] = sizes;
    auto kind = dim < 2 ? FactorKind::Parallel : FactorKind::Whole;
    large.push_back({rule.addFactor(in, kind)});
    small.push_back(dim < 2 ? large.back()
                            : DimFactors{rule.addFactor(out, kind)});
  }
  rule.operands = {small};
  if (getX())
    rule.operands.push_back(large);
  rule.results = {large};
  if (!getX())
    rule.linearOperands = {0};
  return rule;
}

/// One FLOP for each element of each window.
Work PoolGradOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = getDresult().getType().getNumElements();
  for (int64_t size : getKernel())
    work.flops *= size;
  return work;
}
