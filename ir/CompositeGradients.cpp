//===- CompositeGradients.cpp - gradients of composite ops ----------------===//
//
// Ops that have kernels of their own have gradients with kernels of their own:
// what they are made of is computed again, not kept.
//
//===----------------------------------------------------------------------===//

#include "ir/AttentionFormula.h"
#include "ir/Composite.h"
#include "ir/Elementwise.h"
#include "ir/LogicalBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

//===-- Attention ---------------------------------------------------------===//

SmallVector<Value> AttentionOp::buildGradients(OpBuilder &builder,
                                               Value dresult,
                                               ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  if (getMask() && needed[3]) {
    AttentionGradients found =
        buildAttentionGradients(b,
                                {getQ(), getK(), getV(), getMask(),
                                 getScale().convertToDouble(), getCausal()},
                                dresult);
    return {found.dq, found.dk, found.dv, found.dmask};
  }
  auto gradient =
      builder.create<AttentionGradOp>(getLoc(), getQ(), getK(), getV(), dresult,
                                      getMask(), getScale(), getCausal());
  SmallVector<Value> result(gradient.getResults());
  result.resize(getNumOperands());
  return result;
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> loc,
                                                Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  SmallVector<Value> operands = {adaptor.getQ(), adaptor.getK(),
                                 adaptor.getV()};
  if (adaptor.getMask())
    operands.push_back(adaptor.getMask());
  SmallVector<Type> forward;
  if (failed(AttentionOp::inferReturnTypes(
          context, loc, AttentionOp::Adaptor(operands), forward)))
    return failure();
  if (forward[0] != adaptor.getDresult().getType())
    return emitOptionalError(loc, "dresult has type ",
                             adaptor.getDresult().getType(),
                             ", the attention gives ", forward[0]);
  for (Value value : {adaptor.getQ(), adaptor.getK(), adaptor.getV()})
    types.push_back(value.getType());
  return success();
}

/// Batch and groups of heads are parallel. Heads of a group, and queries, add
/// up in dk and dv but not in dq, so they stay whole.
ShardingRule AttentionGradOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> q = getQ().getType().getShape(),
                    v = getV().getType().getShape();
  auto addWhole = [&](int64_t size) {
    return rule.addFactor(size, FactorKind::Whole);
  };
  int64_t batch = rule.addFactor(q[0]), group = rule.addFactor(v[1]);
  DimFactors head = {group, addWhole(q[1] / v[1])};
  int64_t query = addWhole(q[2]), key = addWhole(v[2]);
  int64_t size = addWhole(q[3]), valueSize = addWhole(v[3]);
  TensorFactors queries = {{batch}, head, {query}, {size}};
  TensorFactors keys = {{batch}, {group}, {key}, {size}};
  TensorFactors values = {{batch}, {group}, {key}, {valueSize}};
  rule.operands = {
      queries, keys, values, {{batch}, head, {query}, {valueSize}}};
  if (getMask()) {
    TensorFactors mask = {{batch}, head, {query}, {key}};
    for (auto [dim, whole] :
         llvm::enumerate(getTensorType(getMask()).getShape()))
      if (whole == 1)
        mask[dim].clear();
    rule.operands.push_back(mask);
  }
  rule.results = {queries, keys, values};
  return rule;
}

/// Five products, and 16 a score for the softmax and its gradient.
Work AttentionGradOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  ArrayRef<int64_t> q = getQ().getType().getShape(),
                    v = getV().getType().getShape();
  double scores = static_cast<double>(q[0]) * q[1] * q[2] * v[2];
  work.flops = scores * (6.0 * q[3] + 4.0 * v[3] + 16.0);
  work.isProduct = true;
  return work;
}

//===-- Softmax -----------------------------------------------------------===//

/// y (dy - sum(dy y)) along dim; of its logarithm: dy - exp(y) sum(dy).
SmallVector<Value> SoftmaxOp::buildGradients(OpBuilder &builder, Value dresult,
                                             ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  int64_t dim = getDim();
  auto sum = [&](Value x) {
    return b.repeatAlong(b.sum(x, {dim}), getType().getShape(), {dim});
  };
  Value y = getResult();
  if (!getLog())
    return {b.mul(y, b.sub(dresult, sum(b.mul(dresult, y))))};
  return {b.sub(dresult, b.mul(b.unary(UnaryKind::Exp, y), sum(dresult)))};
}

//===-- Norm --------------------------------------------------------------===//

/// The norm without scale and bias is computed again for the scale's gradient.
SmallVector<Value> NormOp::buildGradients(OpBuilder &builder, Value dresult,
                                          ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<Value> result;
  result.push_back(needed[0] ? builder.create<NormGradOp>(
                                   getLoc(), getKind(), getX(), dresult,
                                   getScale(), getAxis(), getEpsilon())
                             : Value());
  SmallVector<int64_t> rows = cleave::getDims(0, getAxis());
  if (getScale()) {
    Value dscale;
    if (needed[1]) {
      Value norm = builder.create<NormOp>(getLoc(), getKind(), getX(), Value(),
                                          Value(), getAxis(), getEpsilon());
      dscale = b.sum(b.mul(norm, dresult), rows);
    }
    result.push_back(dscale);
  }
  if (getBias())
    result.push_back(needed.back() ? b.sum(dresult, rows) : Value());
  return result;
}

LogicalResult NormGradOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOptionalError(loc, "axis ", axis, " is out of range of ", type);
  if (adaptor.getDresult().getType() != type)
    return emitOptionalError(loc, "dresult must be ", type, ", found ",
                             adaptor.getDresult().getType());
  RankedTensorType expected = type.clone(type.getShape().drop_front(axis));
  if (Value scale = adaptor.getScale(); scale && scale.getType() != expected)
    return emitOptionalError(loc, "scale must be ", expected, ", found ",
                             scale.getType());
  types.push_back(type);
  return success();
}

ShardingRule NormGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors x;
  int64_t axis = getAxis();
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    x.push_back({rule.addFactor(size, static_cast<int64_t>(dim) < axis
                                          ? FactorKind::Parallel
                                          : FactorKind::Whole)});
  rule.operands = {x, x};
  if (getScale())
    rule.operands.emplace_back(x.begin() + axis, x.end());
  rule.results = {x};
  return rule;
}

Work NormGradOp::getWork() { return getElementwiseWork(*this, 14); }

//===-- Cross-entropy -----------------------------------------------------===//

SmallVector<Value> CrossEntropyOp::buildGradients(OpBuilder &b, Value dresult,
                                                  ArrayRef<bool>) {
  Value dx =
      b.create<CrossEntropyGradOp>(getLoc(), getLogits(), getLabels(), dresult,
                                   getIgnoreIndexAttr(), getSmoothingAttr());
  return {dx, Value()};
}
