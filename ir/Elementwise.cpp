//===- Elementwise.cpp - types, rules, work and gradients -----------------===//

#include "ir/Elementwise.h"
#include "ir/ElementwiseTable.h"

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

FailureOr<SmallVector<Value>> UnaryOp::buildGradients(OpBuilder &builder,
                                                      ValueRange gradients,
                                                      ArrayRef<bool>) {
  auto gradient = getInfo(getKind()).gradient;
  if (!gradient)
    return emitOpError() << "kind " << stringifyUnaryKind(getKind())
                         << " has no gradient";
  return SmallVector<Value>{
      gradient(builder, getLoc(), getX(), getResult(), gradients[0])};
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

/// Gradients of the arithmetic kinds; null where one is not wanted.
FailureOr<SmallVector<Value>> BinaryOp::buildGradients(OpBuilder &b,
                                                       ValueRange gradients,
                                                       ArrayRef<bool> needed) {
  Location loc = getLoc();
  Value dy = gradients[0];
  auto make = [&](BinaryKind kind, Value x, Value y) -> Value {
    return b.create<BinaryOp>(loc, x.getType(), kind, x, y);
  };
  auto negate = [&](Value x) -> Value {
    return b.create<UnaryOp>(loc, x.getType(), UnaryKind::Neg, x);
  };
  SmallVector<Value> result(2);
  switch (getKind()) {
  case BinaryKind::Add:
    result = {dy, dy};
    break;
  case BinaryKind::Sub:
    result[0] = dy;
    if (needed[1])
      result[1] = negate(dy);
    break;
  case BinaryKind::Mul:
    if (needed[0])
      result[0] = make(BinaryKind::Mul, dy, getRhs());
    if (needed[1])
      result[1] = make(BinaryKind::Mul, dy, getLhs());
    break;
  case BinaryKind::Div:
    if (needed[0])
      result[0] = make(BinaryKind::Div, dy, getRhs());
    if (needed[1])
      result[1] = negate(make(
          BinaryKind::Div, make(BinaryKind::Mul, dy, getResult()), getRhs()));
    break;
  default:
    return emitOpError() << "kind " << stringifyBinaryKind(getKind())
                         << " has no gradient";
  }
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

FailureOr<SmallVector<Value>>
CastOp::buildGradients(OpBuilder &b, ValueRange gradients, ArrayRef<bool>) {
  if (!isFloat(getX().getType()) || !isFloat(getType()))
    return SmallVector<Value>{Value()};
  Value dx = b.create<CastOp>(getLoc(), getX().getType(), gradients[0]);
  return SmallVector<Value>{dx};
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
