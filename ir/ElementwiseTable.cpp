//===- ElementwiseTable.cpp - rows of the elementwise tables --------------===//

#include "ir/ElementwiseTable.h"

#include "ir/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace cleave;
using namespace mlir;

//===-- Scalar code -------------------------------------------------------===//

/// A float constant of the (scalar or vector) type of `like`.
static Value constantLike(OpBuilder &b, Location loc, Value like,
                          double value) {
  Type type = like.getType();
  auto scalar = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return b.create<arith::ConstantOp>(loc,
                                       DenseElementsAttr::get(shaped, scalar));
  return b.create<arith::ConstantOp>(loc, scalar);
}

template <typename OpTy>
static Value buildUnary(OpBuilder &b, Location loc, Value x) {
  return b.create<OpTy>(loc, x);
}

static Value buildReciprocal(OpBuilder &b, Location loc, Value x) {
  return b.create<arith::DivFOp>(loc, constantLike(b, loc, x, 1.0), x);
}

/// 1 / (1 + exp(-x)).
static Value buildSigmoid(OpBuilder &b, Location loc, Value x) {
  Value e = b.create<math::ExpOp>(loc, b.create<arith::NegFOp>(loc, x));
  Value one = constantLike(b, loc, x, 1.0);
  return b.create<arith::DivFOp>(loc, one,
                                 b.create<arith::AddFOp>(loc, one, e));
}

static Value buildRelu(OpBuilder &b, Location loc, Value x) {
  return b.create<arith::MaximumFOp>(loc, x, constantLike(b, loc, x, 0.0));
}

/// x / 2 (1 + erf(x / sqrt 2)), Hendrycks and Gimpel, arXiv 1606.08415.
static Value buildGeluErf(OpBuilder &b, Location loc, Value x) {
  Value scaled =
      b.create<arith::MulFOp>(loc, x, constantLike(b, loc, x, M_SQRT1_2));
  Value erf = b.create<math::ErfOp>(loc, scaled);
  Value half = b.create<arith::MulFOp>(loc, x, constantLike(b, loc, x, 0.5));
  Value one = b.create<arith::AddFOp>(loc, erf, constantLike(b, loc, x, 1.0));
  return b.create<arith::MulFOp>(loc, half, one);
}

/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), same source.
static Value buildGeluTanh(OpBuilder &b, Location loc, Value x) {
  Value square = b.create<arith::MulFOp>(loc, x, x);
  Value cubic =
      b.create<arith::MulFOp>(loc, b.create<arith::MulFOp>(loc, square, x),
                              constantLike(b, loc, x, 0.044715));
  Value inner =
      b.create<arith::MulFOp>(loc, b.create<arith::AddFOp>(loc, x, cubic),
                              constantLike(b, loc, x, std::sqrt(M_2_PI)));
  Value one = b.create<arith::AddFOp>(loc, b.create<math::TanhOp>(loc, inner),
                                      constantLike(b, loc, x, 1.0));
  Value half = b.create<arith::MulFOp>(loc, x, constantLike(b, loc, x, 0.5));
  return b.create<arith::MulFOp>(loc, half, one);
}

static Value buildSilu(OpBuilder &b, Location loc, Value x) {
  return b.create<arith::MulFOp>(loc, x, buildSigmoid(b, loc, x));
}

static Value buildNot(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  auto bit = b.getBoolAttr(true);
  Value ones =
      isa<ShapedType>(type)
          ? b.create<arith::ConstantOp>(
                loc, DenseElementsAttr::get(cast<ShapedType>(type), bit))
          : b.create<arith::ConstantOp>(loc, bit);
  return b.create<arith::XOrIOp>(loc, x, ones);
}

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

template <arith::CmpFPredicate Float, arith::CmpIPredicate Int>
static Value buildCompare(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return b.create<arith::CmpFOp>(loc, Float, x, y);
  return b.create<arith::CmpIOp>(loc, Int, x, y);
}

//===-- Derivatives, in logical ops ---------------------------------------===//

static Value splat(OpBuilder &b, Location loc, Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  return b.create<ConstantOp>(
      loc, DenseElementsAttr::get(
               type, b.getFloatAttr(type.getElementType(), value)));
}
static Value unary(OpBuilder &b, Location loc, UnaryKind kind, Value x) {
  return b.create<UnaryOp>(loc, x.getType(), kind, x);
}
static Value binary(OpBuilder &b, Location loc, BinaryKind kind, Value x,
                    Value y) {
  return b.create<BinaryOp>(loc, x.getType(), kind, x, y);
}
static Value mul(OpBuilder &b, Location loc, Value x, Value y) {
  return binary(b, loc, BinaryKind::Mul, x, y);
}

static Value gradNeg(OpBuilder &b, Location loc, Value, Value, Value dy) {
  return unary(b, loc, UnaryKind::Neg, dy);
}
static Value gradExp(OpBuilder &b, Location loc, Value, Value y, Value dy) {
  return mul(b, loc, dy, y);
}
static Value gradLog(OpBuilder &b, Location loc, Value x, Value, Value dy) {
  return binary(b, loc, BinaryKind::Div, dy, x);
}
static Value gradSqrt(OpBuilder &b, Location loc, Value, Value y, Value dy) {
  return binary(b, loc, BinaryKind::Div, mul(b, loc, dy, splat(b, loc, y, 0.5)),
                y);
}
/// d tanh = 1 - y^2.
static Value gradTanh(OpBuilder &b, Location loc, Value, Value y, Value dy) {
  Value one = splat(b, loc, y, 1.0);
  return mul(b, loc, dy,
             binary(b, loc, BinaryKind::Sub, one, mul(b, loc, y, y)));
}
/// d sigmoid = y (1 - y).
static Value gradSigmoid(OpBuilder &b, Location loc, Value, Value y, Value dy) {
  Value one = splat(b, loc, y, 1.0);
  Value slope = mul(b, loc, y, binary(b, loc, BinaryKind::Sub, one, y));
  return mul(b, loc, dy, slope);
}
/// dy where y > 0.
static Value gradRelu(OpBuilder &b, Location loc, Value, Value y, Value dy) {
  Value zero = splat(b, loc, y, 0.0);
  Value positive = b.create<CompareOp>(loc, CompareKind::Gt, y, zero);
  return b.create<SelectOp>(loc, positive, dy, zero);
}

//===-- Tables ------------------------------------------------------------===//

static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

static const UnaryInfo unaryTable[] = {
    {UnaryKind::Neg, "Neg", 1, true, [](double x) { return -x; },
     buildUnary<arith::NegFOp>, gradNeg},
    {UnaryKind::Abs, "Abs", 1, true, [](double x) { return std::fabs(x); },
     buildUnary<math::AbsFOp>, nullptr},
    {UnaryKind::Exp, "Exp", 10, false, [](double x) { return std::exp(x); },
     buildUnary<math::ExpOp>, gradExp},
    {UnaryKind::Log, "Log", 10, false, [](double x) { return std::log(x); },
     buildUnary<math::LogOp>, gradLog},
    {UnaryKind::Sqrt, "Sqrt", 4, true, [](double x) { return std::sqrt(x); },
     buildUnary<math::SqrtOp>, gradSqrt},
    {UnaryKind::Rsqrt, nullptr, 5, false,
     [](double x) { return 1.0 / std::sqrt(x); }, buildUnary<math::RsqrtOp>,
     nullptr},
    {UnaryKind::Reciprocal, "Reciprocal", 4, false,
     [](double x) { return 1.0 / x; }, buildReciprocal, nullptr},
    {UnaryKind::Tanh, "Tanh", 15, true, [](double x) { return std::tanh(x); },
     buildUnary<math::TanhOp>, gradTanh},
    {UnaryKind::Sigmoid, "Sigmoid", 14, false, sigmoid, buildSigmoid,
     gradSigmoid},
    {UnaryKind::Relu, "Relu", 1, true, [](double x) { return x > 0 ? x : 0.0; },
     buildRelu, gradRelu},
    {UnaryKind::Erf, "Erf", 15, true, [](double x) { return std::erf(x); },
     buildUnary<math::ErfOp>, nullptr},
    {UnaryKind::GeluErf, nullptr, 18, true,
     [](double x) { return 0.5 * x * (1.0 + std::erf(x * M_SQRT1_2)); },
     buildGeluErf, nullptr},
    {UnaryKind::GeluTanh, nullptr, 22, true,
     [](double x) {
       return 0.5 * x *
              (1.0 + std::tanh(std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x)));
     },
     buildGeluTanh, nullptr},
    {UnaryKind::Silu, nullptr, 15, true,
     [](double x) { return x * sigmoid(x); }, buildSilu, nullptr},
    {UnaryKind::Sin, "Sin", 15, true, [](double x) { return std::sin(x); },
     buildUnary<math::SinOp>, nullptr},
    {UnaryKind::Cos, "Cos", 15, false, [](double x) { return std::cos(x); },
     buildUnary<math::CosOp>, nullptr},
    {UnaryKind::Floor, "Floor", 1, true, [](double x) { return std::floor(x); },
     buildUnary<math::FloorOp>, nullptr},
    {UnaryKind::Ceil, "Ceil", 1, true, [](double x) { return std::ceil(x); },
     buildUnary<math::CeilOp>, nullptr},
    {UnaryKind::Not, "Not", 1, false,
     [](double x) { return x == 0 ? 1.0 : 0.0; }, buildNot, nullptr},
};

static int64_t floorMod(int64_t a, int64_t b) {
  int64_t rest = b == -1 ? 0 : a % b;
  return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

static const BinaryInfo binaryTable[] = {
    {BinaryKind::Add, "Add", 1, [](double a, double b) { return a + b; },
     [](int64_t a, int64_t b) { return a + b; },
     buildBinary<arith::AddFOp, arith::AddIOp>},
    {BinaryKind::Sub, "Sub", 1, [](double a, double b) { return a - b; },
     [](int64_t a, int64_t b) { return a - b; },
     buildBinary<arith::SubFOp, arith::SubIOp>},
    {BinaryKind::Mul, "Mul", 1, [](double a, double b) { return a * b; },
     [](int64_t a, int64_t b) { return a * b; },
     buildBinary<arith::MulFOp, arith::MulIOp>},
    {BinaryKind::Div, "Div", 4, [](double a, double b) { return a / b; },
     [](int64_t a, int64_t b) { return a / b; },
     buildBinary<arith::DivFOp, arith::DivSIOp>},
    {BinaryKind::Pow, "Pow", 20,
     [](double a, double b) { return std::pow(a, b); }, nullptr,
     buildBinary<math::PowFOp, math::IPowIOp>},
    {BinaryKind::Max, "Max", 1,
     [](double a, double b) { return a < b ? b : a; },
     [](int64_t a, int64_t b) { return std::max(a, b); },
     buildBinary<arith::MaximumFOp, arith::MaxSIOp>},
    {BinaryKind::Min, "Min", 1,
     [](double a, double b) { return b < a ? b : a; },
     [](int64_t a, int64_t b) { return std::min(a, b); },
     buildBinary<arith::MinimumFOp, arith::MinSIOp>},
    {BinaryKind::And, "And", 1, nullptr,
     [](int64_t a, int64_t b) { return a & b; },
     buildBinary<arith::MulFOp, arith::AndIOp>},
    {BinaryKind::Or, "Or", 1, nullptr,
     [](int64_t a, int64_t b) { return a | b; },
     buildBinary<arith::MaximumFOp, arith::OrIOp>},
    // The sign of the divisor for integers is ONNX Mod with fmod = 0; floats:
    // fmod.
    {BinaryKind::Mod, "Mod", 10,
     [](double a, double b) { return std::fmod(a, b); }, floorMod, buildMod},
};

static const CompareInfo compareTable[] = {
    {CompareKind::Eq, "Equal",
     buildCompare<arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq>},
    {CompareKind::Ne, nullptr,
     buildCompare<arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne>},
    {CompareKind::Lt, "Less",
     buildCompare<arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt>},
    {CompareKind::Le, "LessOrEqual",
     buildCompare<arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle>},
    {CompareKind::Gt, "Greater",
     buildCompare<arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt>},
    {CompareKind::Ge, "GreaterOrEqual",
     buildCompare<arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge>},
};

const UnaryInfo &cleave::getInfo(UnaryKind kind) {
  return unaryTable[static_cast<size_t>(kind)];
}
const BinaryInfo &cleave::getInfo(BinaryKind kind) {
  return binaryTable[static_cast<size_t>(kind)];
}
const CompareInfo &cleave::getInfo(CompareKind kind) {
  return compareTable[static_cast<size_t>(kind)];
}
ArrayRef<UnaryInfo> cleave::getUnaryTable() { return unaryTable; }
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
  APInt values[] = {APInt(width, 0), APInt::getSignedMinValue(width),
                    APInt::getSignedMaxValue(width), APInt(width, 1)};
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

Value cleave::buildCombine(OpBuilder &b, Location loc, ReduceKind kind, Value x,
                           Value y) {
  BinaryKind combining =
      getCombiningKind(kind, getElementTypeOrSelf(x.getType()));
  return getInfo(combining).build(b, loc, x, y);
}
