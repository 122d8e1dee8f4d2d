//===- Composite.cpp - types, rules, work and gradients -------------------===//

#include "ir/Composite.h"
#include "ir/LogicalBuilder.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Composite.cpp.inc"

//===-- Attention ---------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType q = getTensorType(adaptor.getQ()),
                   k = getTensorType(adaptor.getK());
  RankedTensorType v = getTensorType(adaptor.getV());
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4)
    return emitOptionalError(loc, "q, k and v must have rank 4, found ", q,
                             ", ", k, ", ", v);
  ArrayRef<int64_t> qs = q.getShape(), ks = k.getShape(), vs = v.getShape();
  bool agree = qs[0] == ks[0] && qs[0] == vs[0] && ks[1] == vs[1] &&
               ks[2] == vs[2] && qs[3] == ks[3] && ks[1] > 0 &&
               qs[1] % ks[1] == 0 && q.getElementType() == k.getElementType() &&
               q.getElementType() == v.getElementType();
  if (!agree)
    return emitOptionalError(
        loc, "sizes or types of q, k and v do not agree, found ", q, ", ", k,
        ", ", v);
  if (Value mask = adaptor.getMask()) {
    int64_t full[] = {qs[0], qs[1], qs[2], ks[2]};
    RankedTensorType type = getTensorType(mask);
    bool fits = type.getRank() == 4 && type.getDimSize(3) == full[3];
    for (int64_t dim = 0; fits && dim < 3; ++dim)
      fits = type.getDimSize(dim) == 1 || type.getDimSize(dim) == full[dim];
    if (!fits || type.getElementType() != q.getElementType())
      return emitOptionalError(loc, "mask ", type, " does not fit q ", q,
                               " and k ", k);
  }
  types.push_back(q.clone({qs[0], qs[1], qs[2], vs[3]}));
  return success();
}

/// Batch, heads and queries are parallel, as is the size of a value; keys and
/// the size of a key stay whole. A head is a group of keys and a place in it:
/// heads are split by whole groups, or within the only one.
ShardingRule AttentionOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> q = getQ().getType().getShape(),
                    v = getV().getType().getShape();
  int64_t batch = rule.addFactor(q[0]);
  int64_t group = rule.addFactor(v[1]);
  DimFactors head = {group, rule.addFactor(q[1] / v[1])};
  int64_t query = rule.addFactor(q[2], getCausal() ? FactorKind::Whole
                                                   : FactorKind::Parallel);
  int64_t key = rule.addFactor(v[2], FactorKind::Whole);
  int64_t size = rule.addFactor(q[3], FactorKind::Whole);
  int64_t valueSize = rule.addFactor(v[3]);
  rule.operands = {{{batch}, head, {query}, {size}},
                   {{batch}, {group}, {key}, {size}},
                   {{batch}, {group}, {key}, {valueSize}}};
  if (getMask()) {
    TensorFactors mask = {{batch}, head, {query}, {key}};
    for (auto [dim, whole] :
         llvm::enumerate(getTensorType(getMask()).getShape()))
      if (whole == 1)
        mask[dim].clear();
    rule.operands.push_back(mask);
  }
  rule.results = {{{batch}, head, {query}, {valueSize}}};
  return rule;
}

/// Two products of 2 S T D FLOPs a head, and 12 a score for the softmax.
Work AttentionOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  ArrayRef<int64_t> q = getQ().getType().getShape(),
                    v = getV().getType().getShape();
  double scores = static_cast<double>(q[0]) * q[1] * q[2] * v[2];
  work.flops = scores * (2.0 * q[3] + 2.0 * v[3] + 12.0);
  work.isProduct = true;
  return work;
}

//===-- Softmax -----------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getX());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= type.getRank())
    return emitOptionalError(loc, "dim ", dim, " is out of range of ", type);
  types.push_back(type);
  return success();
}

ShardingRule SoftmaxOp::getShardingRule() {
  SmallVector<bool> parallel(getType().getRank(), true);
  parallel[getDim()] = false;
  return getRowwiseRule(*this, parallel);
}

Work SoftmaxOp::getWork() { return getElementwiseWork(*this, 14); }

//===-- Norm --------------------------------------------------------------===//

LogicalResult NormOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType type = getTensorType(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOptionalError(loc, "axis ", axis, " is out of range of ", type);
  RankedTensorType expected = type.clone(type.getShape().drop_front(axis));
  for (Value value : {adaptor.getScale(), adaptor.getBias()})
    if (value && value.getType() != expected)
      return emitOptionalError(loc, "scale and bias must be ", expected,
                               ", found ", value.getType());
  types.push_back(type);
  return success();
}

ShardingRule NormOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors x;
  int64_t axis = getAxis();
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    x.push_back({rule.addFactor(size, static_cast<int64_t>(dim) < axis
                                          ? FactorKind::Parallel
                                          : FactorKind::Whole)});
  TensorFactors row(x.begin() + axis, x.end());
  rule.operands.assign(getNumOperands(), row);
  rule.operands[0] = x;
  rule.results = {x};
  return rule;
}

Work NormOp::getWork() { return getElementwiseWork(*this, 8); }

//===-- Cross-entropy -----------------------------------------------------===//

static LogicalResult verifyLabels(std::optional<Location> loc,
                                  RankedTensorType logits,
                                  RankedTensorType labels,
                                  const llvm::APFloat &smoothing) {
  double share = smoothing.convertToDouble();
  if (!(share >= 0 && share <= 1))
    return emitOptionalError(loc, "smoothing must be in 0 to 1, found ", share);
  bool isIndex = labels.getElementType().isInteger(32) ||
                 labels.getElementType().isInteger(64);
  if (logits.getRank() == 0 || !isIndex ||
      logits.getShape().drop_back() != labels.getShape())
    return emitOptionalError(
        loc,
        "labels must be i32 or i64 of the leading dims of logits, "
        "found ",
        labels, " for ", logits);
  return success();
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> loc,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType logits = getTensorType(adaptor.getLogits());
  types.push_back(logits.clone(getTensorType(adaptor.getLabels()).getShape()));
  return verifyLabels(loc, logits, getTensorType(adaptor.getLabels()),
                      adaptor.getSmoothing());
}

/// Rows are parallel, classes whole. `logits` first, then per-row operands.
static ShardingRule getClassRule(RankedTensorType logits, int64_t operands,
                                 bool resultHasClasses) {
  ShardingRule rule;
  TensorFactors rows;
  for (int64_t size : logits.getShape().drop_back())
    rows.push_back({rule.addFactor(size)});
  TensorFactors full = rows;
  full.push_back({rule.addFactor(logits.getShape().back(), FactorKind::Whole)});
  rule.operands.assign(operands, rows);
  rule.operands[0] = full;
  rule.results = {resultHasClasses ? full : rows};
  return rule;
}

ShardingRule CrossEntropyOp::getShardingRule() {
  return getClassRule(getLogits().getType(), 2, false);
}

Work CrossEntropyOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = 12.0 * getLogits().getType().getNumElements();
  return work;
}

LogicalResult
CrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  RankedTensorType logits = getTensorType(adaptor.getLogits());
  RankedTensorType labels = getTensorType(adaptor.getLabels());
  if (adaptor.getDloss().getType() != logits.clone(labels.getShape()))
    return emitOptionalError(loc,
                             "dloss must have the shape of the labels, found ",
                             adaptor.getDloss().getType());
  types.push_back(logits);
  return verifyLabels(loc, logits, labels, adaptor.getSmoothing());
}

ShardingRule CrossEntropyGradOp::getShardingRule() {
  return getClassRule(getLogits().getType(), 3, true);
}

Work CrossEntropyGradOp::getWork() { return getElementwiseWork(*this, 14); }
