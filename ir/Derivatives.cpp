//===- Derivatives.cpp - derivatives of the elementwise kinds -------------===//
//
// Where a derivative jumps the value is PyTorch's: 0 for abs and relu at 0,
// half of it to each side for the larger or smaller of two equal values.
//
//===----------------------------------------------------------------------===//

#include "ir/Derivatives.h"

#include <cmath>

using namespace cleave;
using namespace mlir;

/// dy f with f = 1 / sqrt(x).
static Value mulByRsqrt(LogicalBuilder &b, Value dy, Value x) {
  return b.mul(dy, b.unary(UnaryKind::Rsqrt, x));
}

//===-- Unary kinds -------------------------------------------------------===//

Value derivative::zero(LogicalBuilder &, Value, Value, Value) { return {}; }

Value derivative::neg(LogicalBuilder &b, Value, Value, Value dy) {
  return b.neg(dy);
}
Value derivative::abs(LogicalBuilder &b, Value x, Value, Value dy) {
  Value falling = b.keepWhere(b.compare(CompareKind::Lt, x, 0.0), b.neg(dy));
  return b.select(b.compare(CompareKind::Gt, x, 0.0), dy, falling);
}
Value derivative::exp(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.mul(dy, y);
}
Value derivative::log(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, x);
}
Value derivative::sqrt(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.div(b.mul(dy, 0.5), y);
}
Value derivative::rsqrt(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.mul(dy, b.mul(b.mul(b.mul(y, y), y), -0.5));
}
Value derivative::reciprocal(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.neg(b.mul(dy, b.mul(y, y)));
}
/// 1 - y^2.
Value derivative::tanh(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.mul(dy, b.subFrom(1.0, b.mul(y, y)));
}
/// y (1 - y).
Value derivative::sigmoid(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.mul(dy, b.mul(y, b.subFrom(1.0, y)));
}
Value derivative::relu(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.keepWhere(b.compare(CompareKind::Gt, y, 0.0), dy);
}
/// 2 / sqrt(pi) exp(-x^2).
Value derivative::erf(LogicalBuilder &b, Value x, Value, Value dy) {
  Value bell = b.unary(UnaryKind::Exp, b.neg(b.mul(x, x)));
  return b.mul(dy, b.mul(bell, M_2_SQRTPI));
}
/// With F and f distribution and density of the normal distribution, y = x
/// F(x): F(x) + x f(x).
Value derivative::geluErf(LogicalBuilder &b, Value x, Value, Value dy) {
  Value erf = b.unary(UnaryKind::Erf, b.mul(x, M_SQRT1_2));
  Value distribution = b.mul(b.add(erf, 1.0), 0.5);
  Value bell = b.unary(UnaryKind::Exp, b.mul(b.mul(x, x), -0.5));
  Value density = b.mul(bell, 0.5 * M_SQRT1_2 * M_2_SQRTPI);
  return b.mul(dy, b.add(distribution, b.mul(x, density)));
}
/// y = x / 2 (1 + t), t = tanh(c (x + a x^3)): (1 + t) / 2 + x / 2 (1 - t^2) c
/// (1 + 3 a x^2).
Value derivative::geluTanh(LogicalBuilder &b, Value x, Value, Value dy) {
  const double a = 0.044715, c = std::sqrt(M_2_PI);
  Value square = b.mul(x, x);
  Value inner = b.mul(x, b.add(b.mul(square, a * c), c));
  Value t = b.unary(UnaryKind::Tanh, inner);
  Value slope = b.add(b.mul(square, 1.5 * a * c), 0.5 * c);
  Value bend = b.mul(b.mul(x, b.subFrom(1.0, b.mul(t, t))), slope);
  return b.mul(dy, b.add(b.add(b.mul(t, 0.5), 0.5), bend));
}
/// With s = sigmoid(x): s (1 + x (1 - s)).
Value derivative::silu(LogicalBuilder &b, Value x, Value, Value dy) {
  Value s = b.unary(UnaryKind::Sigmoid, x);
  Value rest = b.add(b.mul(x, b.subFrom(1.0, s)), 1.0);
  return b.mul(dy, b.mul(s, rest));
}
Value derivative::sin(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.mul(dy, b.unary(UnaryKind::Cos, x));
}
Value derivative::cos(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.neg(b.mul(dy, b.unary(UnaryKind::Sin, x)));
}
/// 1 + y^2.
Value derivative::tan(LogicalBuilder &b, Value, Value y, Value dy) {
  return b.mul(dy, b.add(b.mul(y, y), 1.0));
}
/// 1 / sqrt(1 - x^2).
Value derivative::asin(LogicalBuilder &b, Value x, Value, Value dy) {
  return mulByRsqrt(b, dy, b.subFrom(1.0, b.mul(x, x)));
}
Value derivative::acos(LogicalBuilder &b, Value x, Value y, Value dy) {
  return b.neg(asin(b, x, y, dy));
}
/// 1 / (1 + x^2).
Value derivative::atan(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, b.add(b.mul(x, x), 1.0));
}
Value derivative::sinh(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.mul(dy, b.unary(UnaryKind::Cosh, x));
}
Value derivative::cosh(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.mul(dy, b.unary(UnaryKind::Sinh, x));
}
/// 1 / sqrt(x^2 + 1).
Value derivative::asinh(LogicalBuilder &b, Value x, Value, Value dy) {
  return mulByRsqrt(b, dy, b.add(b.mul(x, x), 1.0));
}
/// 1 / sqrt(x^2 - 1).
Value derivative::acosh(LogicalBuilder &b, Value x, Value, Value dy) {
  return mulByRsqrt(b, dy, b.add(b.mul(x, x), -1.0));
}
/// 1 / (1 - x^2).
Value derivative::atanh(LogicalBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, b.subFrom(1.0, b.mul(x, x)));
}

//===-- Binary kinds ------------------------------------------------------===//

Value derivative::add(LogicalBuilder &, int, Value, Value, Value, Value dy) {
  return dy;
}
Value derivative::sub(LogicalBuilder &b, int index, Value, Value, Value,
                      Value dy) {
  return index == 0 ? dy : b.neg(dy);
}
Value derivative::mul(LogicalBuilder &b, int index, Value lhs, Value rhs, Value,
                      Value dy) {
  return b.mul(dy, index == 0 ? rhs : lhs);
}
/// 1 / rhs and -y / rhs.
Value derivative::div(LogicalBuilder &b, int index, Value, Value rhs, Value y,
                      Value dy) {
  return index == 0 ? b.div(dy, rhs) : b.neg(b.div(b.mul(dy, y), rhs));
}
/// rhs lhs^(rhs - 1), 0 where rhs is 0; and y log(lhs), 0 where lhs is 0
/// (unless rhs is negative).
Value derivative::pow(LogicalBuilder &b, int index, Value lhs, Value rhs,
                      Value y, Value dy) {
  if (index == 0) {
    Value power = b.binary(BinaryKind::Pow, lhs, b.add(rhs, -1.0));
    Value dx = b.mul(dy, b.mul(rhs, power));
    return b.select(b.compare(CompareKind::Eq, rhs, 0.0), b.splat(dx, 0), dx);
  }
  Value isFlat = b.binary(BinaryKind::And, b.compare(CompareKind::Eq, lhs, 0.0),
                          b.compare(CompareKind::Ge, rhs, 0.0));
  Value dx = b.mul(dy, b.mul(y, b.unary(UnaryKind::Log, lhs)));
  return b.select(isFlat, b.splat(dx, 0), dx);
}

/// dy where `own` comes before `other`, half of it where they are equal.
static Value pick(LogicalBuilder &b, CompareKind kind, Value own, Value other,
                  Value dy) {
  Value half =
      b.keepWhere(b.compare(CompareKind::Eq, own, other), b.mul(dy, 0.5));
  return b.select(b.compare(kind, own, other), dy, half);
}
Value derivative::max(LogicalBuilder &b, int index, Value lhs, Value rhs, Value,
                      Value dy) {
  return index == 0 ? pick(b, CompareKind::Gt, lhs, rhs, dy)
                    : pick(b, CompareKind::Gt, rhs, lhs, dy);
}
Value derivative::min(LogicalBuilder &b, int index, Value lhs, Value rhs, Value,
                      Value dy) {
  return index == 0 ? pick(b, CompareKind::Lt, lhs, rhs, dy)
                    : pick(b, CompareKind::Lt, rhs, lhs, dy);
}
/// y = lhs - rhs trunc(lhs / rhs): 1 and -(lhs - y) / rhs.
Value derivative::mod(LogicalBuilder &b, int index, Value lhs, Value rhs,
                      Value y, Value dy) {
  return index == 0 ? dy : b.mul(dy, b.div(b.sub(y, lhs), rhs));
}
