//===- Match.cpp - what rewrites of this room ask of values ---------------===//

#include "passes/normalize/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>

using namespace cleave;
using namespace mlir;

double cleave::toDouble(Attribute element) {
  if (auto value = dyn_cast<FloatAttr>(element))
    return value.getValueAsDouble();
  APInt integer = cast<IntegerAttr>(element).getValue();
  return integer.getBitWidth() == 1
             ? static_cast<double>(integer.getZExtValue())
             : static_cast<double>(integer.getSExtValue());
}

std::optional<double> cleave::getSplat(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat() || dense.getNumElements() == 0 ||
      !dense.getElementType().isIntOrFloat())
    return std::nullopt;
  return toDouble(dense.getSplatValue<Attribute>());
}

bool cleave::isClose(double found, double expected, Type elementType) {
  double tolerance = 1e-6;
  if (auto type = dyn_cast<FloatType>(elementType))
    tolerance =
        std::max(tolerance,
                 std::ldexp(2.0, -static_cast<int>(type.getFPMantissaWidth())));
  return std::abs(found - expected) <= tolerance * std::abs(expected);
}

bool cleave::isSplat(Value value, double expected) {
  std::optional<double> found = getSplat(value);
  return found && isClose(*found, expected, typeOf(value).getElementType());
}

Value cleave::makeSplat(OpBuilder &builder, Location loc, RankedTensorType type,
                        double value) {
  Attribute element =
      isa<FloatType>(type.getElementType())
          ? Attribute(FloatAttr::get(type.getElementType(), value))
          : IntegerAttr::get(type.getElementType(),
                             static_cast<int64_t>(value));
  return builder.create<ConstantOp>(loc, DenseElementsAttr::get(type, element));
}

UnaryOp cleave::getUnary(Value value, UnaryKind kind) {
  auto op = value.getDefiningOp<UnaryOp>();
  return op && op.getKind() == kind ? op : UnaryOp();
}

BinaryOp cleave::getBinary(Value value, BinaryKind kind) {
  auto op = value.getDefiningOp<BinaryOp>();
  return op && op.getKind() == kind ? op : BinaryOp();
}

Value cleave::getWithConstant(Value value, BinaryKind kind, double &constant) {
  BinaryOp op = getBinary(value, kind);
  std::optional<double> found =
      op ? getSplat(op.getRhs()) : std::optional<double>();
  if (!found)
    return Value();
  constant = *found;
  return op.getLhs();
}

bool cleave::hasOneUser(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user == *value.user_begin();
         });
}

bool cleave::differsByUnits(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isUnit = [](int64_t size) { return size == 1; };
  SmallVector<int64_t> left(a), right(b);
  llvm::erase_if(left, isUnit);
  llvm::erase_if(right, isUnit);
  return left == right;
}

SmallVector<int64_t> cleave::getRange(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, to));
}
