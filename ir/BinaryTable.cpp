//===- BinaryTable.cpp - rows of binary and compare kinds, reductions -----===//

#include "ir/ElementwiseTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace cleave;
using namespace mlir;

//===-- Scalar code -------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Value buildBinary(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return b.create<FloatOp>(loc, x, y);
  return b.create<IntOp>(loc, x, y);
}

/// C's remainder for floats; for integers the one with the sign of the divisor.
static Value buildMod(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return b.create<arith::RemFOp>(loc, x, y);
  Value rest = b.create<arith::RemSIOp>(loc, x, y);
  Value zero = b.create<arith::SubIOp>(loc, y, y);
  auto isNegative = [&](Value v) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, v, zero);
  };
  Value differs = b.create<arith::XOrIOp>(loc, isNegative(rest), isNegative(y));
  Value isWhole =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest, zero);
  Value shifted = b.create<arith::AddIOp>(loc, rest, y);
  Value result = b.create<arith::SelectOp>(loc, differs, shifted, rest);
  return b.create<arith::SelectOp>(loc, isWhole, rest, result);
}

/// Whether y is the index of a bit of its type, and the last one.
static std::pair<Value, Value> compareWithWidth(OpBuilder &b, Location loc,
                                                Value y) {
  Type type = y.getType(), element = getElementTypeOrSelf(type);
  TypedAttr scalar =
      b.getIntegerAttr(element, element.getIntOrFloatBitWidth() - 1);
  if (auto shaped = dyn_cast<ShapedType>(type))
    scalar = DenseElementsAttr::get(shaped, Attribute(scalar));
  Value last = b.create<arith::ConstantOp>(loc, scalar);
  return {b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, y, last),
          last};
}

/// A shift by the width or more, or by less than 0, leaves 0.
template <typename ShiftOp>
static Value buildShift(OpBuilder &b, Location loc, Value x, Value y) {
  Value zero = b.create<arith::SubIOp>(loc, x, x);
  Value fits = compareWithWidth(b, loc, y).first;
  Value amount = b.create<arith::SelectOp>(loc, fits, y, zero);
  Value shifted = b.create<ShiftOp>(loc, x, amount);
  return b.create<arith::SelectOp>(loc, fits, shifted, zero);
}

/// Of a signed integer such a shift leaves the sign.
static Value buildSignedShift(OpBuilder &b, Location loc, Value x, Value y) {
  auto [fits, last] = compareWithWidth(b, loc, y);
  Value amount = b.create<arith::SelectOp>(loc, fits, y, last);
  return b.create<arith::ShRSIOp>(loc, x, amount);
}

template <arith::CmpFPredicate Float, arith::CmpIPredicate Int>
static Value buildCompare(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return b.create<arith::CmpFOp>(loc, Float, x, y);
  return b.create<arith::CmpIOp>(loc, Int, x, y);
}

//===-- Tables ------------------------------------------------------------===//

/// Integers wrap around as they do at run time.
static uint64_t unsign(int64_t x) { return x; }
static int64_t wrap(uint64_t x) { return static_cast<int64_t>(x); }

static int64_t floorMod(int64_t a, int64_t b) {
  int64_t rest = b == -1 ? 0 : a % b;
  return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

static const BinaryInfo binaryTable[] = {
    {BinaryKind::Add, "Add", 1, [](double a, double b) { return a + b; },
     [](int64_t a, int64_t b) { return wrap(unsign(a) + unsign(b)); },
     buildBinary<arith::AddFOp, arith::AddIOp>, derivative::add},
    {BinaryKind::Sub, "Sub", 1, [](double a, double b) { return a - b; },
     [](int64_t a, int64_t b) { return wrap(unsign(a) - unsign(b)); },
     buildBinary<arith::SubFOp, arith::SubIOp>, derivative::sub},
    {BinaryKind::Mul, "Mul", 1, [](double a, double b) { return a * b; },
     [](int64_t a, int64_t b) { return wrap(unsign(a) * unsign(b)); },
     buildBinary<arith::MulFOp, arith::MulIOp>, derivative::mul},
    {BinaryKind::Div, "Div", 4, [](double a, double b) { return a / b; },
     [](int64_t a, int64_t b) { return b == -1 ? wrap(0 - unsign(a)) : a / b; },
     buildBinary<arith::DivFOp, arith::DivSIOp>, derivative::div,
     buildBinary<arith::DivFOp, arith::DivUIOp>},
    {BinaryKind::Pow, "Pow", 20,
     [](double a, double b) { return std::pow(a, b); }, nullptr,
     buildBinary<math::PowFOp, math::IPowIOp>, derivative::pow},
    {BinaryKind::Max, "Max", 1,
     [](double a, double b) { return a >= b || std::isnan(a) ? a : b; },
     [](int64_t a, int64_t b) { return std::max(a, b); },
     buildBinary<arith::MaximumFOp, arith::MaxSIOp>, derivative::max,
     buildBinary<arith::MaximumFOp, arith::MaxUIOp>},
    {BinaryKind::Min, "Min", 1,
     [](double a, double b) { return a <= b || std::isnan(a) ? a : b; },
     [](int64_t a, int64_t b) { return std::min(a, b); },
     buildBinary<arith::MinimumFOp, arith::MinSIOp>, derivative::min,
     buildBinary<arith::MinimumFOp, arith::MinUIOp>},
    {BinaryKind::And, "And", 1, nullptr,
     [](int64_t a, int64_t b) { return a & b; },
     buildBinary<arith::MulFOp, arith::AndIOp>, nullptr},
    {BinaryKind::Or, "Or", 1, nullptr,
     [](int64_t a, int64_t b) { return a | b; },
     buildBinary<arith::MaximumFOp, arith::OrIOp>, nullptr},
    // The sign of the divisor for integers is ONNX Mod with fmod = 0; floats:
    // fmod.
    {BinaryKind::Mod, "Mod", 10,
     [](double a, double b) { return std::fmod(a, b); }, floorMod, buildMod,
     derivative::mod, buildBinary<arith::RemFOp, arith::RemUIOp>},
    {BinaryKind::Xor, "Xor", 1, nullptr,
     [](int64_t a, int64_t b) { return a ^ b; },
     buildBinary<arith::SubFOp, arith::XOrIOp>, nullptr},
    {BinaryKind::ShiftLeft, nullptr, 1, nullptr, nullptr,
     buildShift<arith::ShLIOp>, nullptr},
    {BinaryKind::ShiftRight, nullptr, 1, nullptr, nullptr, buildSignedShift,
     nullptr, buildShift<arith::ShRUIOp>},
};

/// Floats, signed and unsigned integers.
template <arith::CmpFPredicate Float, arith::CmpIPredicate Signed,
          arith::CmpIPredicate Unsigned>
static CompareInfo makeRow(CompareKind kind, const char *onnxName) {
  return {kind, onnxName, buildCompare<Float, Signed>,
          buildCompare<Float, Unsigned>};
}

using FloatIs = arith::CmpFPredicate;
using IntIs = arith::CmpIPredicate;
static const CompareInfo compareTable[] = {
    makeRow<FloatIs::OEQ, IntIs::eq, IntIs::eq>(CompareKind::Eq, "Equal"),
    makeRow<FloatIs::UNE, IntIs::ne, IntIs::ne>(CompareKind::Ne, nullptr),
    makeRow<FloatIs::OLT, IntIs::slt, IntIs::ult>(CompareKind::Lt, "Less"),
    makeRow<FloatIs::OLE, IntIs::sle, IntIs::ule>(CompareKind::Le,
                                                  "LessOrEqual"),
    makeRow<FloatIs::OGT, IntIs::sgt, IntIs::ugt>(CompareKind::Gt, "Greater"),
    makeRow<FloatIs::OGE, IntIs::sge, IntIs::uge>(CompareKind::Ge,
                                                  "GreaterOrEqual"),
};

const BinaryInfo &cleave::getInfo(BinaryKind kind) {
  return binaryTable[static_cast<size_t>(kind)];
}
const CompareInfo &cleave::getInfo(CompareKind kind) {
  return compareTable[static_cast<size_t>(kind)];
}
ArrayRef<BinaryInfo> cleave::getBinaryTable() { return binaryTable; }
ArrayRef<CompareInfo> cleave::getCompareTable() { return compareTable; }

//===-- Reductions --------------------------------------------------------===//

TypedAttr cleave::getNeutralElement(ReduceKind kind, Type elementType) {
  Builder b(elementType.getContext());
  if (auto type = dyn_cast<FloatType>(elementType)) {
    double infinity = std::numeric_limits<double>::infinity();
    double values[] = {0.0, -infinity, infinity, 1.0};
    return b.getFloatAttr(type, values[static_cast<size_t>(kind)]);
  }
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (width == 1) // bools combine by or and and
    return b.getBoolAttr(kind == ReduceKind::Min || kind == ReduceKind::Prod);
  bool isUnsigned = elementType.isUnsignedInteger();
  APInt least = isUnsigned ? APInt(width, 0) : APInt::getSignedMinValue(width);
  APInt largest =
      isUnsigned ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width);
  APInt values[] = {APInt(width, 0), least, largest, APInt(width, 1)};
  return b.getIntegerAttr(elementType, values[static_cast<size_t>(kind)]);
}

BinaryKind cleave::getCombiningKind(ReduceKind kind, Type elementType) {
  if (elementType.isInteger(1))
    return kind == ReduceKind::Max || kind == ReduceKind::Sum ? BinaryKind::Or
                                                              : BinaryKind::And;
  static const BinaryKind kinds[] = {BinaryKind::Add, BinaryKind::Max,
                                     BinaryKind::Min, BinaryKind::Mul};
  return kinds[static_cast<size_t>(kind)];
}

Value cleave::buildCombine(OpBuilder &b, Location loc, ReduceKind kind,
                           Type element, Value x, Value y) {
  return buildFor(getInfo(getCombiningKind(kind, element)), element, b, loc, x,
                  y);
}
