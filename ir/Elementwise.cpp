//===- Elementwise.cpp - types, rules, work and gradients -----------------===//

#include "ir/Elementwise.h"
#include "ir/ElementwiseTable.h"
#include "ir/LogicalBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Elementwise.cpp.inc"

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

//===-- Unary -------------------------------------------------------------===//

LogicalResult UnaryOp::verify() {
  Type element = getX().getType().getElementType();
  bool fits = getKind() == UnaryKind::Not ? element.isInteger(1)
              : getKind() == UnaryKind::Neg || getKind() == UnaryKind::Abs
                  ? !element.isInteger(1)
                  : isa<FloatType>(element);
  if (!fits)
    return emitOpError() << "kind " << stringifyUnaryKind(getKind())
                         << " does not exist for " << element;
  return success();
}

ShardingRule UnaryOp::getShardingRule() {
  return getElementwiseRule(*this, getKind() == UnaryKind::Neg);
}

Work UnaryOp::getWork() {
  return getElementwiseWork(*this, getInfo(getKind()).flops);
}

SmallVector<Value> UnaryOp::buildGradients(OpBuilder &builder, Value dresult,
                                           ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  return {getInfo(getKind()).gradient(b, getX(), getResult(), dresult)};
}

//===-- Binary ------------------------------------------------------------===//

LogicalResult BinaryOp::verify() {
  Type element = getLhs().getType().getElementType();
  BinaryKind kind = getKind();
  bool shifts = kind == BinaryKind::ShiftLeft || kind == BinaryKind::ShiftRight;
  bool logical = kind == BinaryKind::And || kind == BinaryKind::Or ||
                 kind == BinaryKind::Xor;
  bool fits = (logical || !element.isInteger(1)) &&
              (!(logical || shifts) || isa<IntegerType>(element));
  if (!fits)
    return emitOpError() << "kind " << stringifyBinaryKind(getKind())
                         << " does not exist for " << element;
  return success();
}

ShardingRule BinaryOp::getShardingRule() {
  bool linear = getKind() == BinaryKind::Add || getKind() == BinaryKind::Sub;
  return getElementwiseRule(*this, linear && isFloat(getLhs().getType()));
}

Work BinaryOp::getWork() {
  return getElementwiseWork(*this, getInfo(getKind()).flops);
}

SmallVector<Value> BinaryOp::buildGradients(OpBuilder &builder, Value dresult,
                                            ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<Value> result(2);
  for (int i : {0, 1})
    if (needed[i])
      result[i] = getInfo(getKind()).gradient(b, i, getLhs(), getRhs(),
                                              getResult(), dresult);
  return result;
}

//===-- Compare, select, cast ---------------------------------------------===//

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getLhs().getType());
  types.push_back(type.clone(IntegerType::get(context, 1)));
  return success();
}
ShardingRule CompareOp::getShardingRule() {
  return getElementwiseRule(*this, false);
}
Work CompareOp::getWork() { return getElementwiseWork(*this, 1); }

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto condition = cast<RankedTensorType>(adaptor.getCondition().getType());
  auto value = cast<RankedTensorType>(adaptor.getOnTrue().getType());
  if (!condition.getElementType().isInteger(1))
    return emitOptionalError(loc, "condition must be i1, found ", condition);
  if (adaptor.getOnFalse().getType() != value ||
      condition.getShape() != value.getShape())
    return emitOptionalError(loc, "shapes and types must agree, found ",
                             condition, ", ", value, ", ",
                             adaptor.getOnFalse().getType());
  types.push_back(value);
  return success();
}
ShardingRule SelectOp::getShardingRule() {
  return getElementwiseRule(*this, false);
}
Work SelectOp::getWork() { return getElementwiseWork(*this, 1); }

SmallVector<Value> SelectOp::buildGradients(OpBuilder &builder, Value dresult,
                                            ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<Value> result(3);
  if (needed[1])
    result[1] = b.keepWhere(getCondition(), dresult);
  if (needed[2])
    result[2] = b.select(getCondition(), b.splat(dresult, 0), dresult);
  return result;
}

LogicalResult CastOp::verify() {
  if (getX().getType().getShape() != getType().getShape())
    return emitOpError() << "keeps the shape, found " << getX().getType()
                         << " and " << getType();
  return success();
}
ShardingRule CastOp::getShardingRule() {
  return getElementwiseRule(*this,
                            isFloat(getX().getType()) && isFloat(getType()));
}
Work CastOp::getWork() { return getElementwiseWork(*this, 1); }

SmallVector<Value> CastOp::buildGradients(OpBuilder &builder, Value dresult,
                                          ArrayRef<bool>) {
  LogicalBuilder b(builder, getLoc());
  return {b.cast(dresult, getX().getType().getElementType())};
}

//===-- Constant ----------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getShapedType());
  return success();
}
ShardingRule ConstantOp::getShardingRule() {
  return getElementwiseRule(*this, false);
}
Work ConstantOp::getWork() { return Work(); }

/// A splat takes the local shape. Other constants must stay whole.
Operation *ConstantOp::localize(OpBuilder &builder, ValueRange,
                                TypeRange types) {
  ElementsAttr value = getValue();
  auto type = cast<RankedTensorType>(types[0]);
  if (type != value.getShapedType()) {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense || !dense.isSplat()) {
      emitOpError() << "only a splat can be made smaller, found " << getType();
      return nullptr;
    }
    value = dense.resizeSplat(type);
  }
  return builder.create<ConstantOp>(getLoc(), type, value);
}
