//===- Reduction.cpp - types, rules, work and gradients -------------------===//

#include "ir/Reduction.h"
#include "ir/Elementwise.h"
#include "ir/ElementwiseTable.h"
#include "ir/Movement.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Reduction.cpp.inc"

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  ArrayRef<int64_t> dims = adaptor.getDims();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= type.getRank() || (i && dims[i - 1] >= dim))
      return emitOptionalError(
          loc, "dims must be sorted, unique and in range of ", type);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  types.push_back(type.clone(shape));
  return success();
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors operand, result;
  for (auto [dim, size] : llvm::enumerate(getX().getType().getShape())) {
    bool reduced = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    operand.push_back({rule.addFactor(
        size, reduced ? FactorKind::Reduction : FactorKind::Parallel,
        getKind())});
    if (!reduced)
      result.push_back(operand.back());
  }
  rule.operands = {operand};
  rule.results = {result};
  if (getKind() == ReduceKind::Sum)
    rule.linearOperands = {0};
  return rule;
}

Work ReduceOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = getX().getType().getNumElements();
  return work;
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  if (getDims().empty())
    return getX();
  auto x = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  RankedTensorType type = getX().getType();
  bool isInteger = isa<IntegerType>(type.getElementType());
  if (!x || !isInteger || type.getNumElements() > 4096 || type.getRank() != 1)
    return {};
  Attribute neutral = getNeutralElement(getKind(), type.getElementType());
  int64_t result = cast<IntegerAttr>(neutral).getValue().getSExtValue();
  auto combine =
      getInfo(getCombiningKind(getKind(), type.getElementType())).evaluateInt;
  for (const APInt &value : x.getValues<APInt>())
    result = combine(result, value.getSExtValue());
  return DenseElementsAttr::get(
      getType(),
      static_cast<Attribute>(IntegerAttr::get(type.getElementType(), result)));
}

/// Sum: the gradient is repeated along the reduced dims.
FailureOr<SmallVector<Value>>
ReduceOp::buildGradients(OpBuilder &b, ValueRange gradients, ArrayRef<bool>) {
  if (getKind() != ReduceKind::Sum)
    return emitOpError() << "kind " << stringifyReduceKind(getKind())
                         << " has no gradient";
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < getX().getType().getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      kept.push_back(dim);
  Value dx =
      b.create<BroadcastOp>(getLoc(), getX().getType(), gradients[0], kept);
  return SmallVector<Value>{dx};
}
