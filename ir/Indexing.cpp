//===- Indexing.cpp - gather and scatter: types, rules, folds -------------===//

#include "ir/Movement.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

/// Elements beyond which a gathered constant is left to run time.
static constexpr int64_t foldLimit = 1 << 16;

/// The shape of x[..., indices[j...], ...]: the dims of the indices, but for
/// the first `batch` ones, in place of `dim`. Fails after an error.
static FailureOr<SmallVector<int64_t>>
getGatheredShape(std::optional<Location> loc, RankedTensorType x,
                 RankedTensorType indices, int64_t dim, int64_t batch) {
  bool isIndex = indices.getElementType().isInteger(32) ||
                 indices.getElementType().isInteger(64);
  if (dim < 0 || dim >= x.getRank() || !isIndex)
    return emitOptionalError(loc, "needs a dim of ", x,
                             " and i32 or i64 indices, found ", dim, " and ",
                             indices);
  if (batch < 0 || batch > dim || batch > indices.getRank() ||
      x.getShape().take_front(batch) != indices.getShape().take_front(batch))
    return emitOptionalError(loc, "the first ", batch, " dims of ", x, " and ",
                             indices, " are not common dims before dim ", dim);
  SmallVector<int64_t> shape(x.getShape().take_front(dim));
  llvm::append_range(shape, indices.getShape().drop_front(batch));
  llvm::append_range(shape, x.getShape().drop_front(dim + 1));
  return shape;
}

namespace {
/// Factors of x, its indices, and what is gathered or takes its place.
struct IndexFactors {
  TensorFactors x, indices, gathered;
};
} // namespace

/// All dims are factors of their own; the indexed one is whole, and those of
/// the indices alone are of `kind`.
static IndexFactors getFactors(ShardingRule &rule, ArrayRef<int64_t> x,
                               ArrayRef<int64_t> indices, int64_t dim,
                               int64_t batch, FactorKind kind) {
  IndexFactors factors;
  for (auto [i, size] : llvm::enumerate(x))
    factors.x.push_back({rule.addFactor(size, static_cast<int64_t>(i) == dim
                                                  ? FactorKind::Whole
                                                  : FactorKind::Parallel)});
  TensorFactors own;
  for (int64_t size : indices.drop_front(batch))
    own.push_back({rule.addFactor(size, kind)});
  auto *at = factors.x.begin();
  factors.indices.append(at, at + batch);
  factors.indices.append(own);
  factors.gathered.append(at, at + dim);
  factors.gathered.append(own);
  factors.gathered.append(at + dim + 1, factors.x.end());
  return factors;
}

/// Type of what a gather gives and a scatter takes.
template <typename Adaptor>
static FailureOr<RankedTensorType> getGatheredType(std::optional<Location> loc,
                                                   Adaptor adaptor) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  FailureOr<SmallVector<int64_t>> shape = getGatheredShape(
      loc, type, indices, adaptor.getDim(), adaptor.getBatchDims());
  if (failed(shape))
    return failure();
  return type.clone(*shape);
}

//===-- Gather ------------------------------------------------------------===//

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = getGatheredType(loc, adaptor);
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  auto x = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  auto indices = dyn_cast_or_null<DenseElementsAttr>(adaptor.getIndices());
  if (!x || !indices || getBatchDims() != 0 ||
      getType().getNumElements() > foldLimit)
    return {};
  ArrayRef<int64_t> shape = getX().getType().getShape();
  int64_t dim = getDim(), size = shape[dim];
  auto product = [](ArrayRef<int64_t> list) {
    return std::accumulate(list.begin(), list.end(), int64_t(1),
                           std::multiplies<>());
  };
  int64_t outer = product(shape.take_front(dim)),
          inner = product(shape.drop_front(dim + 1));
  SmallVector<Attribute> values;
  auto source = x.value_begin<Attribute>();
  for (int64_t o = 0; o < outer; ++o)
    for (const APInt &entry : indices.getValues<APInt>()) {
      int64_t index = entry.getSExtValue();
      index += index < 0 ? size : 0;
      if (index < 0 || index >= size)
        return {};
      for (int64_t i = 0; i < inner; ++i)
        values.push_back(*(source + ((o * size + index) * inner + i)));
    }
  return DenseElementsAttr::get(getType(), values);
}

/// Everything but the gathered dim is parallel.
ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  IndexFactors factors = getFactors(rule, getX().getType().getShape(),
                                    getIndices().getType().getShape(), getDim(),
                                    getBatchDims(), FactorKind::Parallel);
  rule.operands = {factors.x, factors.indices};
  rule.results = {factors.gathered};
  return rule;
}

/// Reads or writes a row of `table` for each index of operand 1.
static void setScattered(Work &work, Type table, RankedTensorType indices) {
  work.scatteredOver = getByteSize(table);
  work.scatteredRows = indices.getNumElements();
  work.rowOperand = 1;
}

Work GatherOp::getWork() {
  Work work;
  work.bytesWritten = getByteSize(getType());
  work.bytesRead = work.bytesWritten + getByteSize(getIndices().getType());
  setScattered(work, getX().getType(), getIndices().getType());
  return work;
}

//===-- Gradient of a gather ----------------------------------------------===//

LogicalResult GatherGradOp::verify() {
  FailureOr<SmallVector<int64_t>> shape = getGatheredShape(
      getLoc(), getType(), getIndices().getType(), getDim(), getBatchDims());
  if (failed(shape))
    return failure();
  RankedTensorType expected = getType().clone(*shape);
  if (getDresult().getType() != expected)
    return emitOpError() << "dresult must be " << expected << ", found "
                         << getDresult().getType();
  if (getType().getElementType().isInteger(1))
    return emitOpError() << "cannot add bools";
  return success();
}

/// Indices that the ranks share out leave partial sums.
ShardingRule GatherGradOp::getShardingRule() {
  ShardingRule rule;
  IndexFactors factors =
      getFactors(rule, getType().getShape(), getIndices().getType().getShape(),
                 getDim(), getBatchDims(), FactorKind::Reduction);
  rule.operands = {factors.gathered, factors.indices};
  rule.results = {factors.x};
  return rule;
}

Work GatherGradOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = getDresult().getType().getNumElements();
  return work;
}

//===-- Scatter -----------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> gathered = getGatheredType(loc, adaptor);
  if (failed(gathered))
    return failure();
  if (adaptor.getUpdates().getType() != *gathered)
    return emitOptionalError(loc, "updates must be ", *gathered, ", found ",
                             adaptor.getUpdates().getType());
  types.push_back(adaptor.getX().getType());
  return success();
}

/// Every rank sees all updates of the elements that it holds.
ShardingRule ScatterOp::getShardingRule() {
  ShardingRule rule;
  IndexFactors factors = getFactors(rule, getX().getType().getShape(),
                                    getIndices().getType().getShape(), getDim(),
                                    getBatchDims(), FactorKind::Whole);
  rule.operands = {factors.x, factors.indices, factors.gathered};
  rule.results = {factors.x};
  return rule;
}

Work ScatterOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = getUpdates().getType().getNumElements();
  setScattered(work, getType(), getIndices().getType());
  return work;
}
