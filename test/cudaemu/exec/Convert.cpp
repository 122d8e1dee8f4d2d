//===- Convert.cpp - cvt --------------------------------------------------===//
//
// A register may be wider than the type that an instruction names: of a source
// the low bytes count, a result is extended.
//
//===----------------------------------------------------------------------===//

#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

using namespace cudaemu;
using ptx::Type;

namespace {
/// Bits 0-2: how a float becomes an integer.
enum Mode : uint8_t {
  Nearest = 1,
  ToZero = 2,
  Down = 3,
  Up = 4,
  Saturate = 8,
  Relu = 16,
  Truncate = 32,
};
template <class T> constexpr bool isFloatType = !std::is_integral_v<T>;
} // namespace

template <class T> static T toInteger(T value, uint8_t mode) {
  using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
  auto x = static_cast<F>(value);
  switch (mode & 7) {
  case Nearest:
    return static_cast<T>(std::nearbyint(x));
  case ToZero:
    return static_cast<T>(std::trunc(x));
  case Down:
    return static_cast<T>(std::floor(x));
  case Up:
    return static_cast<T>(std::ceil(x));
  default:
    return value;
  }
}

template <class D, class S> static D floatToFloat(S a, uint8_t mode) {
  S value = toInteger(a, mode);
  D made;
  if constexpr (std::is_same_v<D, S>)
    made = value;
  else if constexpr (sizeof(D) == 2 && std::is_same_v<S, double>)
    made = D(roundToOdd(value));
  else if constexpr (std::is_same_v<D, double>)
    made = static_cast<double>(static_cast<float>(value));
  else
    made = D(static_cast<float>(value));
  if constexpr (std::is_same_v<S, double> && std::is_same_v<D, float>)
    made = static_cast<float>(value);
  if constexpr (std::is_same_v<D, BFloat>)
    if ((mode & Truncate) && a == a)
      made.bits = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
  if (mode & Saturate)
    return made != made || made < D(0.0f) ? D(0.0f)
           : made > D(1.0f)               ? D(1.0f)
                                          : made;
  return (mode & Relu) && made < D(0.0f) ? D(0.0f) : made;
}

template <class D, class S> static D floatToInteger(S a, uint8_t mode) {
  if (a != a)
    return sizeof(D) == 8 ? static_cast<D>(1ull << 63) : 0;
  double value = static_cast<double>(toInteger(a, mode & 7 ? mode : ToZero));
  constexpr D least = std::numeric_limits<D>::min();
  constexpr D most = std::numeric_limits<D>::max();
  if (value <= static_cast<double>(least))
    return least;
  return value >= static_cast<double>(most) ? most : static_cast<D>(value);
}

template <class D, class S> static D convertValue(S a, uint8_t mode) {
  if constexpr (isFloatType<D> && isFloatType<S>) {
    return floatToFloat<D>(a, mode);
  } else if constexpr (isFloatType<S>) {
    return floatToInteger<D>(a, mode);
  } else if constexpr (isFloatType<D>) {
    if constexpr (sizeof(D) == 2)
      return D(roundToOdd(static_cast<double>(a)));
    else
      return static_cast<D>(a);
  } else {
    if (mode & Saturate) {
      if (std::cmp_less(a, std::numeric_limits<D>::min()))
        return std::numeric_limits<D>::min();
      if (std::cmp_greater(a, std::numeric_limits<D>::max()))
        return std::numeric_limits<D>::max();
    }
    return static_cast<D>(a);
  }
}

/// Writes values of D to registers of `Wide`, extended.
template <class Wide, class D>
static void writeExtended(Warp &w, const Inst &i, const D *made) {
  writeLanes(w, w.reg<Wide>(i.d), [&](int k) -> Wide {
    if constexpr (std::is_integral_v<D>)
      return static_cast<Wide>(made[k]);
    else
      return static_cast<Wide>(std::bit_cast<uint16_t>(made[k]));
  });
}

template <class D, class S> static void convert(Warp &w, const Inst &i) {
  S from[lanesOfWarp];
  const char *a = w.reg<char>(i.a);
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    std::memcpy(&from[k], a + k * i.regBytes, sizeof(S));
  D made[lanesOfWarp];
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    made[k] = convertValue<D>(from[k], i.mode);
  if (i.bytes == sizeof(D))
    return writeLanes(w, w.reg<D>(i.d), [&](int k) { return made[k]; });
  if constexpr (sizeof(D) <= 2) {
    if (i.bytes == 2)
      return writeExtended<int16_t>(w, i, made);
    if (i.bytes == 4)
      return writeExtended<int32_t>(w, i, made);
  }
  if constexpr (std::is_integral_v<D>)
    writeExtended<int64_t>(w, i, made);
}

template <class D> static Handler handlerFrom(Type type) {
  using enum Type;
  switch (type) {
  case S8:
    return convert<D, int8_t>;
  case U8:
  case B8:
    return convert<D, uint8_t>;
  case S16:
    return convert<D, int16_t>;
  case U16:
  case B16:
    return convert<D, uint16_t>;
  case S32:
    return convert<D, int32_t>;
  case U32:
  case B32:
    return convert<D, uint32_t>;
  case S64:
    return convert<D, int64_t>;
  case U64:
  case B64:
    return convert<D, uint64_t>;
  case F16:
    return convert<D, Half>;
  case BF16:
    return convert<D, BFloat>;
  case F32:
    return convert<D, float>;
  case F64:
    return convert<D, double>;
  default:
    return nullptr;
  }
}

static Handler handlerTo(Type to, Type from) {
  using enum Type;
  switch (to) {
  case S8:
    return handlerFrom<int8_t>(from);
  case U8:
  case B8:
    return handlerFrom<uint8_t>(from);
  case S16:
    return handlerFrom<int16_t>(from);
  case U16:
  case B16:
    return handlerFrom<uint16_t>(from);
  case S32:
    return handlerFrom<int32_t>(from);
  case U32:
  case B32:
    return handlerFrom<uint32_t>(from);
  case S64:
    return handlerFrom<int64_t>(from);
  case U64:
  case B64:
    return handlerFrom<uint64_t>(from);
  case F16:
    return handlerFrom<Half>(from);
  case BF16:
    return handlerFrom<BFloat>(from);
  case F32:
    return handlerFrom<float>(from);
  case F64:
    return handlerFrom<double>(from);
  default:
    return nullptr;
  }
}

/// a becomes the upper half, b the lower one.
template <class D> static void convertPair(Warp &w, const Inst &i) {
  const auto *a = w.reg<float>(i.a), *b = w.reg<float>(i.b);
  writeLanes<2>(w, w.reg<D>(i.d), [&](unsigned k) {
    return floatToFloat<D>(k % 2 ? a[k / 2] : b[k / 2], i.mode);
  });
}

/// The 10 upper bits of the fraction; ties go away from zero, or (mode Nearest)
/// to even.
static void convertTf32(Warp &w, const Inst &i) {
  const auto *a = w.reg<uint32_t>(i.a);
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) {
    uint32_t bits = a[k];
    if ((bits & 0x7f800000) == 0x7f800000)
      return bits;
    if ((i.mode & Relu) && bits >> 31)
      return 0u;
    uint32_t half = i.mode & Nearest ? 0xfff + (bits >> 13 & 1) : 0x1000;
    if (i.mode & ToZero)
      half = 0;
    return (bits + half) & ~0x1fffu;
  });
}

static uint8_t modeOf(const ptx::Statement &st) {
  uint8_t mode = 0;
  for (auto [name, bits] : {std::pair{"rni", Nearest},
                            {"rzi", ToZero},
                            {"rmi", Down},
                            {"rpi", Up},
                            {"sat", Saturate},
                            {"relu", Relu}})
    if (st.has(name))
      mode |= bits;
  return mode;
}

static void decodeConvert(Decoder &d) {
  const ptx::Statement &st = d.statement();
  Type to = d.type(0), from = d.type(1);
  uint8_t mode = modeOf(st);
  if (to == Type::TF32) {
    mode |= st.has("rn") ? Nearest : st.has("rz") ? ToZero : 0;
    d.emit(convertTf32, d.result(0), d.source(1, Type::F32)).mode = mode;
    return;
  }
  if (to == Type::F16x2 || to == Type::BF16x2) {
    if (from != Type::F32 || d.operands() != 3)
      d.unsupported();
    if (to == Type::BF16x2 && st.has("rz"))
      mode |= Truncate;
    d.emit(to == Type::F16x2 ? convertPair<Half> : convertPair<BFloat>,
           d.result(0), d.source(1, from), d.source(2, from))
        .mode = mode;
    d.applyRounding();
    return;
  }
  if (to == Type::BF16 && st.has("rz"))
    mode |= Truncate;
  if (st.has("pack"))
    d.unsupported();
  Inst &i = d.emit(handlerTo(to, from), d.result(0), d.source(1, from));
  i.mode = mode;
  i.bytes = static_cast<uint8_t>(ptx::bytesOf(d.typeOf(d.operand(0))));
  i.regBytes = static_cast<uint8_t>(
      ptx::bytesOf(d.operand(1).reg >= 0 ? d.typeOf(d.operand(1)) : from));
  d.applyRounding();
}

static constexpr Rule rules[] = {{"cvt", decodeConvert}};
std::span<const Rule> cudaemu::convertRules() { return rules; }
