//===- MovementGradients.cpp - what moved goes back -----------------------===//
//
// The gradient of a movement is the reverse movement; what was repeated or read
// several times is summed.
//
//===----------------------------------------------------------------------===//

#include "ir/Contraction.h"
#include "ir/Elementwise.h"
#include "ir/LogicalBuilder.h"
#include "ir/Movement.h"
#include "ir/Reduction.h"
#include "ir/ResizeTaps.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

SmallVector<Value> ReshapeOp::buildGradients(OpBuilder &builder, Value dresult,
                                             ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  return {b.reshape(dresult, getX().getType().getShape())};
}

SmallVector<Value> TransposeOp::buildGradients(OpBuilder &builder,
                                               Value dresult, ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<int64_t> inverse(getPerm().size());
  for (auto [i, dim] : llvm::enumerate(getPerm()))
    inverse[dim] = i;
  return {b.transpose(dresult, inverse)};
}

/// Sums over the dims that were repeated.
SmallVector<Value> BroadcastOp::buildGradients(OpBuilder &builder,
                                               Value dresult, ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  RankedTensorType x = getX().getType();
  SmallVector<int64_t> kept;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (x.getDimSize(i) == getType().getDimSize(dim))
      kept.push_back(dim);
  Value sum = b.sum(dresult, getOtherDims(getType().getRank(), kept));
  return {b.reshape(sum, x.getShape())};
}

//===-- Slice, pad, concat ------------------------------------------------===//

/// Puts `stride` - 1 zeros behind each element of `dim` but the last one.
static Value spread(LogicalBuilder &b, Value x, int64_t dim, int64_t stride) {
  SmallVector<int64_t> shape(getTensorType(x).getShape());
  if (stride == 1 || shape[dim] < 2)
    return x;
  SmallVector<int64_t> wide(shape), low(shape.size() + 1, 0), high(low);
  wide.insert(wide.begin() + dim + 1, 1);
  high[dim + 1] = stride - 1;
  x = b.pad(b.reshape(x, wide), low, high);
  int64_t size = (shape[dim] - 1) * stride + 1;
  shape[dim] *= stride;
  return b.slice(b.reshape(x, shape), dim, 0, size);
}

/// Zeros where nothing was taken.
SmallVector<Value> SliceOp::buildGradients(OpBuilder &builder, Value dresult,
                                           ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<int64_t> high;
  for (auto [dim, whole] : llvm::enumerate(getX().getType().getShape())) {
    dresult = spread(b, dresult, dim, getStrides()[dim]);
    high.push_back(whole - getStarts()[dim] -
                   getTensorType(dresult).getDimSize(dim));
  }
  return {b.pad(dresult, getStarts(), high)};
}

SmallVector<Value> PadOp::buildGradients(OpBuilder &builder, Value dresult,
                                         ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  for (auto [dim, size] : llvm::enumerate(getX().getType().getShape()))
    dresult = b.slice(dresult, dim, getLow()[dim], size);
  return {dresult};
}

SmallVector<Value> ConcatOp::buildGradients(OpBuilder &builder, Value dresult,
                                            ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<Value> result;
  int64_t start = 0;
  for (auto [input, wanted] : llvm::zip(getInputs(), needed)) {
    int64_t size = getTensorType(input).getDimSize(getDim());
    result.push_back(wanted ? b.slice(dresult, getDim(), start, size)
                            : Value());
    start += size;
  }
  return result;
}

//===-- Gather, scatter ---------------------------------------------------===//

static Value gather(LogicalBuilder &b, Value x, ScatterOp like) {
  return b.b.create<GatherOp>(b.loc, x, like.getIndices(), like.getDim(),
                              like.getBatchDims());
}

SmallVector<Value> GatherOp::buildGradients(OpBuilder &b, Value dresult,
                                            ArrayRef<bool>) {
  Value dx = b.create<GatherGradOp>(getLoc(), getX().getType(), dresult,
                                    getIndices(), getDim(), getBatchDims());
  return {dx, Value()};
}

std::string ScatterOp::getMissingGradient() {
  return getCombine() == ReduceKind::Prod ? "that combines by prod" : "";
}

/// The last update of an element is the one that stays: each writes its number,
/// and whoever reads its own number back has stayed.
static SmallVector<Value> replace(LogicalBuilder &b, ScatterOp op,
                                  Value dresult, ArrayRef<bool> needed) {
  RankedTensorType updates = op.getUpdates().getType();
  SmallVector<Value> result(3);
  if (needed[0])
    result[0] = b.b.create<ScatterOp>(b.loc, dresult, op.getIndices(),
                                      b.splat(updates, 0), op.getDim(),
                                      op.getBatchDims(), ReduceKindAttr());
  if (!needed[2])
    return result;
  Type i64 = b.b.getI64Type();
  int64_t dim = op.getDim();
  int64_t own = op.getIndices().getType().getRank() - op.getBatchDims();
  Value numbers = b.splat(updates.clone(i64), 0);
  for (int64_t d = dim; d < dim + own; ++d)
    numbers = b.add(b.mul(numbers, double(updates.getDimSize(d))),
                    b.iota(updates.clone(i64), d));
  Value written = b.b.create<ScatterOp>(
      b.loc, b.splat(op.getType().clone(i64), -1), op.getIndices(), numbers,
      op.getDim(), op.getBatchDims(), ReduceKindAttr());
  Value stays = b.compare(CompareKind::Eq, gather(b, written, op), numbers);
  result[2] = b.keepWhere(stays, gather(b, dresult, op));
  return result;
}

/// The largest (smallest) ones of an element and its updates share its
/// gradient.
static SmallVector<Value> share(LogicalBuilder &b, ScatterOp op,
                                Value dresult) {
  Value y = op.getResult();
  auto count = [&](Value x, Value y) {
    return b.cast(b.compare(CompareKind::Eq, x, y),
                  op.getType().getElementType());
  };
  Value own = count(op.getX(), y);
  Value updated = count(op.getUpdates(), gather(b, y, op));
  auto sum = ReduceKindAttr::get(b.b.getContext(), ReduceKind::Sum);
  Value all = b.b.create<ScatterOp>(b.loc, own, op.getIndices(), updated,
                                    op.getDim(), op.getBatchDims(), sum);
  Value part = b.div(dresult, all);
  return {b.mul(part, own), Value(), b.mul(gather(b, part, op), updated)};
}

SmallVector<Value> ScatterOp::buildGradients(OpBuilder &builder, Value dresult,
                                             ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  if (!getCombine())
    return replace(b, *this, dresult, needed);
  if (*getCombine() != ReduceKind::Sum)
    return share(b, *this, dresult);
  Value dupdates = needed[2] ? gather(b, dresult, *this) : Value();
  return {dresult, Value(), dupdates};
}

//===-- Resize ------------------------------------------------------------===//

/// [out, in]: the weight of each element of `dim` in each one of the result.
static Value makeWeights(LogicalBuilder &b, ResizeOp op, int64_t dim) {
  int64_t in = op.getX().getType().getDimSize(dim);
  int64_t out = op.getType().getDimSize(dim);
  SmallVector<double> weights(in * out, 0.0);
  ResizeTaps taps = getResizeTaps(op, dim);
  for (int64_t tap = 0; tap < taps.count; ++tap)
    for (int64_t i = 0; i < out; ++i)
      weights[i * in + taps.indices[tap][i]] += taps.weights[tap][i];
  auto element = cast<FloatType>(op.getType().getElementType());
  SmallVector<Attribute> values;
  for (double weight : weights)
    values.push_back(FloatAttr::get(element, weight));
  return b.b.create<ConstantOp>(
      b.loc, DenseElementsAttr::get(RankedTensorType::get({out, in}, element),
                                    values));
}

/// Interpolation is a product with a matrix of weights along each dim.
SmallVector<Value> ResizeOp::buildGradients(OpBuilder &builder, Value dresult,
                                            ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  int64_t rank = getType().getRank();
  for (int64_t dim : getResizedDims()) {
    dresult = b.dot(dresult, makeWeights(b, *this, dim), {}, {}, {dim}, {0});
    SmallVector<int64_t> perm = cleave::getDims(0, rank - 1);
    perm.insert(perm.begin() + dim, rank - 1);
    dresult = b.transpose(dresult, perm);
  }
  return {dresult};
}
