//===- Float.cpp - arithmetic of floats -----------------------------------===//
//
// Each result is rounded once from the exact value (fused multiply-adds of 16
// bits in double). The approximate functions are those of libm, which are more
// exact than a device's.
//
//===----------------------------------------------------------------------===//

#include "exec/Decoder.h"
#include "exec/Handlers.h"
#include "exec/Operators.h"

#include <algorithm>
#include <immintrin.h>
#include <limits>

using namespace cudaemu;
using ptx::Type;

namespace {
template <class T> bool isNan(T a) { return a != a; }
template <class T> T fused(T a, T b, T c) { return std::fma(a, b, c); }
template <> Half fused(Half a, Half b, Half c) {
  return static_cast<Half>(roundToOdd(std::fma(
      static_cast<double>(a), static_cast<double>(b), static_cast<double>(c))));
}
template <> BFloat fused(BFloat a, BFloat b, BFloat c) {
  return BFloat(roundToOdd(std::fma(
      static_cast<double>(a), static_cast<double>(b), static_cast<double>(c))));
}
template <class T> bool signOf(T a) {
  return std::signbit(static_cast<float>(a));
}
template <> bool signOf(double a) { return std::signbit(a); }
/// One NaN gives the other operand (or NaN, with .NaN); -0 is less than +0.
template <class T> T lesser(T a, T b) {
  if (isNan(a))
    return b;
  if (isNan(b))
    return a;
  return a == b ? (signOf(a) ? a : b) : (a < b ? a : b);
}
template <class T> T greater(T a, T b) {
  if (isNan(a))
    return b;
  if (isNan(b))
    return a;
  return a == b ? (signOf(a) ? b : a) : (a < b ? b : a);
}

// clang-format off
template <class F> struct Sat { template <class... T> static auto of(T... a) {
  using R = decltype(F::of(a...));
  R r = F::of(a...);
  return isNan(r) ? R(0.0f) : r < R(0.0f) ? R(0.0f) : r > R(1.0f) ? R(1.0f) : r; } };
template <class F> struct Relu { template <class... T> static auto of(T... a) {
  using R = decltype(F::of(a...));
  R r = F::of(a...);
  return r < R(0.0f) ? R(0.0f) : r; } };
struct Add { template <class T> static T of(T a, T b) { return T(a + b); } };
struct Sub { template <class T> static T of(T a, T b) { return T(a - b); } };
struct Mul { template <class T> static T of(T a, T b) { return T(a * b); } };
struct Div { template <class T> static T of(T a, T b) { return T(a / b); } };
struct Fma { template <class T> static T of(T a, T b, T c) { return fused(a, b, c); } };
struct Min { template <class T> static T of(T a, T b) { return lesser(a, b); } };
struct Max { template <class T> static T of(T a, T b) { return greater(a, b); } };
struct MinNan { template <class T> static T of(T a, T b) { return isNan(a) || isNan(b) ? std::numeric_limits<float>::quiet_NaN() : lesser(a, b); } };
struct MaxNan { template <class T> static T of(T a, T b) { return isNan(a) || isNan(b) ? std::numeric_limits<float>::quiet_NaN() : greater(a, b); } };
template <> BFloat MinNan::of(BFloat a, BFloat b) { return isNan(a) || isNan(b) ? BFloat(NAN) : lesser(a, b); }
template <> BFloat MaxNan::of(BFloat a, BFloat b) { return isNan(a) || isNan(b) ? BFloat(NAN) : greater(a, b); }
struct Neg { template <class T> static T of(T a) { return T(-a); } };
template <> BFloat Neg::of(BFloat a) { a.bits ^= 0x8000; return a; }
struct Abs { template <class T> static T of(T a) { return a < T(0) || (a == T(0) && signOf(a)) ? T(-a) : a; } };
template <> BFloat Abs::of(BFloat a) { a.bits &= 0x7fff; return a; }
struct CopySign { template <class T> static T of(T a, T b) { return std::copysign(b, a); } };
struct Sqrt { template <class T> static T of(T a) { return std::sqrt(a); } };
struct Rcp { template <class T> static T of(T a) { return T(1) / a; } };
struct Rsqrt { template <class T> static T of(T a) { return T(1 / std::sqrt(double(a))); } };
struct Sin { template <class T> static T of(T a) { return T(std::sin(float(a))); } };
struct Cos { template <class T> static T of(T a) { return T(std::cos(float(a))); } };
struct Log2 { template <class T> static T of(T a) { return T(std::log2(float(a))); } };
struct Exp2 { template <class T> static T of(T a) { return T(std::exp2(float(a))); } };
struct Tanh { template <class T> static T of(T a) { return T(std::tanh(float(a))); } };
// clang-format on
} // namespace

void cudaemu::rounded(Warp &w, const Inst &i) {
  unsigned before = _mm_getcsr();
  // MXCSR: rounding in bits 13-14, flush to zero in 15, subnormals are zero: 6.
  _mm_setcsr((before & ~0x6000u) | (i.rounding & 3u) << 13 |
             (i.rounding & 4 ? 0x8040u : 0));
  i.inner(w, i);
  _mm_setcsr(before);
}

template <class Op, int Arity> static void decodeFloat(Decoder &d) {
  const ptx::Statement &st = d.statement();
  Type t = d.type();
  Handler run = st.has("sat")    ? floatHandler<Sat<Op>, Arity>(t)
                : st.has("relu") ? floatHandler<Relu<Op>, Arity>(t)
                                 : floatHandler<Op, Arity>(t);
  d.emit(run, d.result(0), d.source(1, t),
         Arity > 1 ? d.source(2, t) : noSource,
         Arity > 2 ? d.source(3, t) : noSource);
  d.applyRounding();
}

static void decodeExtreme(Decoder &d, bool isMin) {
  const ptx::Statement &st = d.statement();
  if (st.has("xorsign") || d.operands() != 3)
    d.unsupported();
  Type t = d.type();
  bool nan = st.has("NaN");
  Handler run =
      isMin ? (nan ? floatHandler<MinNan, 2>(t) : floatHandler<Min, 2>(t))
            : (nan ? floatHandler<MaxNan, 2>(t) : floatHandler<Max, 2>(t));
  d.emit(run, d.result(0), d.source(1, t), d.source(2, t));
  d.applyRounding();
}

void cudaemu::floatArithmetic(Decoder &d) {
  const std::string &op = d.statement().op[0];
  if (op == "add")
    return decodeFloat<Add, 2>(d);
  if (op == "sub")
    return decodeFloat<Sub, 2>(d);
  if (op == "mul")
    return decodeFloat<Mul, 2>(d);
  if (op == "mad")
    return decodeFloat<Fma, 3>(d);
  if (op == "div")
    return decodeFloat<Div, 2>(d);
  if (op == "min" || op == "max")
    return decodeExtreme(d, op == "min");
  if (op == "neg")
    return decodeFloat<Neg, 1>(d);
  decodeFloat<Abs, 1>(d);
}

/// Functions of f32 and, some of them, of f64.
template <class Op> static void decodeFunction(Decoder &d) {
  Type t = d.type();
  d.emit(t == Type::F32   ? handler<Op, float, 1>
         : t == Type::F64 ? handler<Op, double, 1>
                          : nullptr,
         d.result(0), d.source(1, t));
  d.applyRounding();
}

/// Functions of f32 and of 16 bits.
template <class Op> static void decodeApproximate(Decoder &d) {
  Type t = d.type();
  d.emit(t == Type::F64 ? nullptr : floatHandler<Op, 1>(t), d.result(0),
         d.source(1, t));
  d.applyRounding();
}

static void decodeCopySign(Decoder &d) {
  Type t = d.type();
  d.emit(t == Type::F64 ? handler<CopySign, double, 2>
                        : handler<CopySign, float, 2>,
         d.result(0), d.source(1, t), d.source(2, t));
}

static constexpr Rule rules[] = {
    {"fma", decodeFloat<Fma, 3>},     {"copysign", decodeCopySign},
    {"sqrt", decodeFunction<Sqrt>},   {"rcp", decodeFunction<Rcp>},
    {"rsqrt", decodeFunction<Rsqrt>}, {"sin", decodeApproximate<Sin>},
    {"cos", decodeApproximate<Cos>},  {"lg2", decodeApproximate<Log2>},
    {"ex2", decodeApproximate<Exp2>}, {"tanh", decodeApproximate<Tanh>},
};
std::span<const Rule> cudaemu::floatRules() { return rules; }
