//===- ElementwiseTable.cpp - rows of the unary kinds ---------------------===//

#include "ir/ElementwiseTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

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

/// In double precision: MLIR 19 has polynomials for f32 that are too coarse
/// (asin by 0.04, atan by 1e-5).
template <typename OpTy>
static Value buildInDouble(OpBuilder &b, Location loc, Value x) {
  Type type = x.getType(), wide = b.getF64Type();
  if (auto shaped = dyn_cast<ShapedType>(type))
    wide = shaped.clone(wide);
  if (type == wide)
    return b.create<OpTy>(loc, x);
  Value result = b.create<OpTy>(loc, b.create<arith::ExtFOp>(loc, wide, x));
  return b.create<arith::TruncFOp>(loc, type, result);
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

//===-- Tables ------------------------------------------------------------===//

/// Wraps around, as at run time.
static int64_t negate(int64_t x) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
}

static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

static const UnaryInfo unaryTable[] = {
    {UnaryKind::Neg, "Neg", 1, true, [](double x) { return -x; },
     buildUnary<arith::NegFOp>, derivative::neg, negate},
    {UnaryKind::Abs, "Abs", 1, true, [](double x) { return std::fabs(x); },
     buildUnary<math::AbsFOp>, derivative::abs,
     [](int64_t x) { return x < 0 ? negate(x) : x; }},
    {UnaryKind::Exp, "Exp", 10, false, [](double x) { return std::exp(x); },
     buildUnary<math::ExpOp>, derivative::exp},
    {UnaryKind::Log, "Log", 10, false, [](double x) { return std::log(x); },
     buildUnary<math::LogOp>, derivative::log},
    {UnaryKind::Sqrt, "Sqrt", 4, true, [](double x) { return std::sqrt(x); },
     buildUnary<math::SqrtOp>, derivative::sqrt},
    {UnaryKind::Rsqrt, nullptr, 5, false,
     [](double x) { return 1.0 / std::sqrt(x); }, buildUnary<math::RsqrtOp>,
     derivative::rsqrt},
    {UnaryKind::Reciprocal, "Reciprocal", 4, false,
     [](double x) { return 1.0 / x; }, buildReciprocal, derivative::reciprocal},
    {UnaryKind::Tanh, "Tanh", 15, true, [](double x) { return std::tanh(x); },
     buildUnary<math::TanhOp>, derivative::tanh},
    {UnaryKind::Sigmoid, "Sigmoid", 14, false, sigmoid, buildSigmoid,
     derivative::sigmoid},
    {UnaryKind::Relu, "Relu", 1, true,
     [](double x) { return x <= 0 ? 0.0 : x; }, buildRelu, derivative::relu},
    {UnaryKind::Erf, "Erf", 15, true, [](double x) { return std::erf(x); },
     buildUnary<math::ErfOp>, derivative::erf},
    {UnaryKind::GeluErf, nullptr, 18, true,
     [](double x) { return 0.5 * x * (1.0 + std::erf(x * M_SQRT1_2)); },
     buildGeluErf, derivative::geluErf},
    {UnaryKind::GeluTanh, nullptr, 22, true,
     [](double x) {
       return 0.5 * x *
              (1.0 + std::tanh(std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x)));
     },
     buildGeluTanh, derivative::geluTanh},
    {UnaryKind::Silu, nullptr, 15, true,
     [](double x) { return x * sigmoid(x); }, buildSilu, derivative::silu},
    {UnaryKind::Sin, "Sin", 15, true, [](double x) { return std::sin(x); },
     buildUnary<math::SinOp>, derivative::sin},
    {UnaryKind::Cos, "Cos", 15, false, [](double x) { return std::cos(x); },
     buildUnary<math::CosOp>, derivative::cos},
    {UnaryKind::Floor, "Floor", 1, true, [](double x) { return std::floor(x); },
     buildUnary<math::FloorOp>, derivative::zero},
    {UnaryKind::Ceil, "Ceil", 1, true, [](double x) { return std::ceil(x); },
     buildUnary<math::CeilOp>, derivative::zero},
    {UnaryKind::Not, "Not", 1, false,
     [](double x) { return x == 0 ? 1.0 : 0.0; }, buildNot, nullptr,
     [](int64_t x) -> int64_t { return x == 0; }},
    {UnaryKind::Tan, "Tan", 20, true, [](double x) { return std::tan(x); },
     buildUnary<math::TanOp>, derivative::tan},
    {UnaryKind::Asin, "Asin", 20, true, [](double x) { return std::asin(x); },
     buildInDouble<math::AsinOp>, derivative::asin},
    {UnaryKind::Acos, "Acos", 20, false, [](double x) { return std::acos(x); },
     buildInDouble<math::AcosOp>, derivative::acos},
    {UnaryKind::Atan, "Atan", 20, true, [](double x) { return std::atan(x); },
     buildInDouble<math::AtanOp>, derivative::atan},
    {UnaryKind::Sinh, "Sinh", 20, true, [](double x) { return std::sinh(x); },
     buildUnary<math::SinhOp>, derivative::sinh},
    {UnaryKind::Cosh, "Cosh", 20, false, [](double x) { return std::cosh(x); },
     buildUnary<math::CoshOp>, derivative::cosh},
    {UnaryKind::Asinh, "Asinh", 20, true,
     [](double x) { return std::asinh(x); }, buildUnary<math::AsinhOp>,
     derivative::asinh},
    {UnaryKind::Acosh, "Acosh", 20, false,
     [](double x) { return std::acosh(x); }, buildUnary<math::AcoshOp>,
     derivative::acosh},
    {UnaryKind::Atanh, "Atanh", 20, true,
     [](double x) { return std::atanh(x); }, buildUnary<math::AtanhOp>,
     derivative::atanh},
    {UnaryKind::Round, "Round", 1, true,
     [](double x) { return std::nearbyint(x); }, buildUnary<math::RoundEvenOp>,
     derivative::zero},
};

const UnaryInfo &cleave::getInfo(UnaryKind kind) {
  return unaryTable[static_cast<size_t>(kind)];
}
ArrayRef<UnaryInfo> cleave::getUnaryTable() { return unaryTable; }
