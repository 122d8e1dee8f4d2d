//===- Integer.cpp - integer arithmetic -----------------------------------===//

#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace cudaemu;
using ptx::Type;

namespace {
template <class T> using Unsigned = std::make_unsigned_t<T>;
// clang-format off
template <class T> struct WideOf;
template <> struct WideOf<uint16_t> { using Type = uint32_t; };
template <> struct WideOf<int16_t> { using Type = int32_t; };
template <> struct WideOf<uint32_t> { using Type = uint64_t; };
template <> struct WideOf<int32_t> { using Type = int64_t; };
template <> struct WideOf<uint64_t> { using Type = unsigned __int128; };
template <> struct WideOf<int64_t> { using Type = __int128; };
template <class T> using Wide = typename WideOf<T>::Type;

template <class T> T lowProduct(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class T> T highProduct(T a, T b) {
  return static_cast<T>((static_cast<Wide<T>>(a) * b) >> (8 * sizeof(T)));
}

struct Add { template <class T> static T of(T a, T b) { return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b)); } };
struct Sub { template <class T> static T of(T a, T b) { return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b)); } };
struct MulLo { template <class T> static T of(T a, T b) { return lowProduct(a, b); } };
struct MulHi { template <class T> static T of(T a, T b) { return highProduct(a, b); } };
struct MadLo { template <class T> static T of(T a, T b, T c) { return Add::of(lowProduct(a, b), c); } };
struct MadHi { template <class T> static T of(T a, T b, T c) { return Add::of(highProduct(a, b), c); } };
struct Min { template <class T> static T of(T a, T b) { return std::min(a, b); } };
struct Max { template <class T> static T of(T a, T b) { return std::max(a, b); } };
struct Neg { template <class T> static T of(T a) { return static_cast<T>(-Unsigned<T>(a)); } };
struct Abs { template <class T> static T of(T a) { return a < 0 ? Neg::of(a) : a; } };
struct Sad { template <class T> static T of(T a, T b, T c) { return Add::of(c, a < b ? Sub::of(b, a) : Sub::of(a, b)); } };
// Division by zero gives what the device gives: all ones, or the dividend.
struct Div { template <class T> static T of(T a, T b) {
  if (b == 0) return static_cast<T>(~T(0));
  if constexpr (std::is_signed_v<T>) if (b == -1) return Neg::of(a);
  return static_cast<T>(a / b); } };
struct Rem { template <class T> static T of(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) if (b == -1) return 0;
  return static_cast<T>(a % b); } };
template <class T> T saturated(int64_t value) {
  return static_cast<T>(std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
struct AddSat { template <class T> static T of(T a, T b) { return saturated<T>(int64_t(a) + b); } };
struct SubSat { template <class T> static T of(T a, T b) { return saturated<T>(int64_t(a) - b); } };
struct Mul24 { template <class T> static T of(T a, T b) { return lowProduct<T>(T(Unsigned<T>(a) << 8) >> 8, T(Unsigned<T>(b) << 8) >> 8); } };
struct Mad24 { template <class T> static T of(T a, T b, T c) { return Add::of(Mul24::of(a, b), c); } };
// clang-format on
} // namespace

/// d = a * b (+ c) with a result of twice the width.
template <class T> static void multiplyWide(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b);
  const auto *c = w.reg<Wide<T>>(i.c);
  bool adds = i.mode;
  writeLanes(w, w.reg<Wide<T>>(i.d), [&](int k) {
    return Add::of(static_cast<Wide<T>>(static_cast<Wide<T>>(a[k]) * b[k]),
                   adds ? c[k] : Wide<T>(0));
  });
}

static Handler wideHandler(Type type) {
  switch (type) {
  case Type::U16:
    return multiplyWide<uint16_t>;
  case Type::S16:
    return multiplyWide<int16_t>;
  case Type::U32:
    return multiplyWide<uint32_t>;
  case Type::S32:
    return multiplyWide<int32_t>;
  default:
    return nullptr;
  }
}

/// Operations with the carry flag. mode: 1 reads it, 2 writes it, 4 subtracts,
/// 8 multiplies low, 16 multiplies high.
template <class T> static void withCarry(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b), *c = w.reg<T>(i.c);
  T *d = w.reg<T>(i.d);
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(w.exec >> k & 1))
      continue;
    T first = a[k], second = b[k];
    if (i.mode & 24) {
      first = i.mode & 8 ? lowProduct(a[k], b[k]) : highProduct(a[k], b[k]);
      second = c[k];
    }
    Wide<T> sum =
        i.mode & 4 ? Wide<T>(first) - second : Wide<T>(first) + second;
    if (i.mode & 1)
      sum +=
          i.mode & 4 ? -Wide<T>(w.carry >> k & 1) : Wide<T>(w.carry >> k & 1);
    if (i.mode & 2)
      w.carry = (w.carry & ~(1u << k)) |
                static_cast<uint32_t>(sum >> (8 * sizeof(T)) & 1) << k;
    d[k] = static_cast<T>(sum);
  }
}

static void decodeCarry(Decoder &d, uint8_t mode) {
  Type type = d.type();
  unsigned bytes = ptx::bytesOf(type);
  bool multiplies = mode & 24;
  // High products of signed numbers differ, and no compiler makes them here.
  if ((mode & 16) && isSigned(type))
    d.unsupported();
  d.emit(bytes == 4   ? withCarry<uint32_t>
         : bytes == 8 ? withCarry<uint64_t>
                      : nullptr,
         d.result(0), d.source(1, type), d.source(2, type),
         multiplies ? d.source(3, type) : noSource)
      .mode = mode | (d.statement().has("cc") ? 2 : 0);
}

static bool isFloatOp(Decoder &d) { return isFloat(d.type()); }

template <class Op> static void decodeUnary(Decoder &d) {
  d.emit(integerHandler<Op, 1>(d.type()), d.result(0), d.source(1, d.type()));
}
template <class Op> static void decodeBinary(Decoder &d) {
  d.emit(integerHandler<Op, 2>(d.type()), d.result(0), d.source(1, d.type()),
         d.source(2, d.type()));
}
template <class Op> static void decodeTernary(Decoder &d) {
  d.emit(integerHandler<Op, 3>(d.type()), d.result(0), d.source(1, d.type()),
         d.source(2, d.type()), d.source(3, d.type()));
}

template <class Op, class Saturating>
static void decodeSum(Decoder &d, uint8_t carryMode) {
  if (d.statement().has("cc"))
    return decodeCarry(d, carryMode);
  if (d.statement().has("sat"))
    return void(d.emit(handler<Saturating, int32_t, 2>, d.result(0),
                       d.source(1, Type::S32), d.source(2, Type::S32)));
  decodeBinary<Op>(d);
}

static void decodeProduct(Decoder &d, bool adds) {
  const ptx::Statement &st = d.statement();
  Type type = d.type();
  if (st.has("cc"))
    return decodeCarry(d, st.has("hi") ? 16 : 8);
  if (!st.has("wide")) {
    bool hi = st.has("hi");
    if (adds)
      return hi ? decodeTernary<MadHi>(d) : decodeTernary<MadLo>(d);
    return hi ? decodeBinary<MulHi>(d) : decodeBinary<MulLo>(d);
  }
  Type wide = ptx::bytesOf(type) == 2 ? Type::U32 : Type::U64;
  d.emit(wideHandler(type), d.result(0), d.source(1, type), d.source(2, type),
         adds ? d.source(3, wide) : noSource)
      .mode = adds;
}

/// Four (or two) products of bytes, summed onto c.
static void dotProduct(Warp &w, const Inst &i) {
  const auto *a = w.reg<uint32_t>(i.a), *b = w.reg<uint32_t>(i.b);
  const auto *c = w.reg<uint32_t>(i.c);
  auto part = [](uint32_t word, unsigned at, unsigned bits, bool isSigned) {
    uint32_t value = word >> at & ((1u << bits) - 1);
    bool negative = isSigned && value >> (bits - 1);
    return static_cast<int32_t>(negative ? value - (1u << bits) : value);
  };
  unsigned bits = i.bytes == 4 ? 8 : 16, count = i.bytes;
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) {
    uint32_t sum = c[k];
    for (unsigned e = 0; e < count; ++e)
      sum += static_cast<uint32_t>(
          part(a[k], e * bits, bits, i.mode & 1) *
          part(b[k], e * 8 + static_cast<unsigned>(i.imm), 8, i.mode & 2));
    return sum;
  });
}

static void decodeDot(Decoder &d, uint8_t count) {
  Inst &i = d.emit(dotProduct, d.result(0), d.source(1, Type::U32),
                   d.source(2, Type::U32), d.source(3, Type::U32));
  i.bytes = count;
  i.imm = d.statement().has("hi") ? 16 : 0;
  i.mode = static_cast<uint8_t>(isSigned(d.type(0)) | isSigned(d.type(1)) << 1);
}

static constexpr Rule rules[] = {
    {"add",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeSum<Add, AddSat>(d, 0);
     }},
    {"sub",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeSum<Sub, SubSat>(d, 4);
     }},
    {"mul",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeProduct(d, false);
     }},
    {"mad",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeProduct(d, true);
     }},
    {"addc", [](Decoder &d) { decodeCarry(d, 1); }},
    {"subc", [](Decoder &d) { decodeCarry(d, 1 | 4); }},
    {"madc",
     [](Decoder &d) { decodeCarry(d, d.statement().has("hi") ? 17 : 9); }},
    {"div",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeBinary<Div>(d);
     }},
    {"rem", decodeBinary<Rem>},
    {"min",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeBinary<Min>(d);
     }},
    {"max",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeBinary<Max>(d);
     }},
    {"neg",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeUnary<Neg>(d);
     }},
    {"abs",
     [](Decoder &d) {
       isFloatOp(d) ? floatArithmetic(d) : decodeUnary<Abs>(d);
     }},
    {"sad", decodeTernary<Sad>},
    {"mul24",
     [](Decoder &d) {
       d.emit(isSigned(d.type()) ? handler<Mul24, int32_t, 2>
                                 : handler<Mul24, uint32_t, 2>,
              d.result(0), d.source(1, d.type()), d.source(2, d.type()));
     }},
    {"mad24",
     [](Decoder &d) {
       d.emit(isSigned(d.type()) ? handler<Mad24, int32_t, 3>
                                 : handler<Mad24, uint32_t, 3>,
              d.result(0), d.source(1, d.type()), d.source(2, d.type()),
              d.source(3, d.type()));
     }},
    {"dp4a", [](Decoder &d) { decodeDot(d, 4); }},
    {"dp2a", [](Decoder &d) { decodeDot(d, 2); }},
};
std::span<const Rule> cudaemu::integerRules() { return rules; }
