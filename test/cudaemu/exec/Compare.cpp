//===- Compare.cpp - comparisons and selections ---------------------------===//

#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <map>

using namespace cudaemu;
using ptx::Type;

namespace {
enum Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Num, Nan };
/// Bit 3 of a mode: true as well when an operand is NaN.
constexpr uint8_t orNan = 8;
} // namespace

template <class T> static bool isNan(T a) { return a != a; }

/// The lanes where `a REL b`.
template <class T>
static uint32_t compareLanes(const T *a, const T *b, uint8_t mode) {
  auto where = [&](auto relation) {
    return lanesWhere([&](unsigned k) -> bool {
      bool either = isNan(a[k]) || isNan(b[k]);
      return mode & orNan ? relation(a[k], b[k]) || either
                          : relation(a[k], b[k]) && !either;
    });
  };
  switch (mode & 7) {
  case Eq:
    return where([](T x, T y) { return x == y; });
  case Ne:
    return where([](T x, T y) { return x != y; });
  case Lt:
    return where([](T x, T y) { return x < y; });
  case Le:
    return where([](T x, T y) { return x <= y; });
  case Gt:
    return where([](T x, T y) { return x > y; });
  case Ge:
    return where([](T x, T y) { return x >= y; });
  case Num:
    return where([](T, T) { return true; });
  default:
    return lanesWhere([&](unsigned k) { return isNan(a[k]) || isNan(b[k]); });
  }
}

namespace {
enum Combine : uint8_t { Plain = 0, And = 16, Or = 32, Xor = 48 };
} // namespace

static uint32_t combine(uint32_t result, uint32_t with, uint8_t mode) {
  switch (mode & 48) {
  case And:
    return result & with;
  case Or:
    return result | with;
  case Xor:
    return result ^ with;
  default:
    return result;
  }
}

/// p = (a REL b) OP c; the list may have q, which is (not (a REL b)) OP c.
template <class T> static void setPredicate(Warp &w, const Inst &i) {
  uint32_t c = i.isSigned ? ~w.predicate(i.c) : w.predicate(i.c);
  uint32_t r = compareLanes(w.reg<T>(i.a), w.reg<T>(i.b), i.mode);
  if (!i.list.empty()) {
    writePredicate(w, i.list[0], combine(~r, c, i.mode));
    if (w.checksMarks) {
      uint32_t from = w.marks[i.a] | w.marks[i.b] | w.marks[i.c];
      w.marks[i.list[0]] = (w.marks[i.list[0]] & ~w.exec) | (from & w.exec);
    }
  }
  writePredicate(w, i.d, combine(r, c, i.mode));
}

/// Of two elements a lane: p for the lower ones, q for the upper ones.
template <class T> static void setPredicatePair(Warp &w, const Inst &i) {
  T low[2][lanesOfWarp], high[2][lanesOfWarp];
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    for (unsigned s = 0; s < 2; ++s) {
      const T *pair = w.reg<T>(s ? i.b : i.a) + 2 * k;
      low[s][k] = pair[0];
      high[s][k] = pair[1];
    }
  uint32_t c = i.isSigned ? ~w.predicate(i.c) : w.predicate(i.c);
  writePredicate(w, i.d,
                 combine(compareLanes(low[0], low[1], i.mode), c, i.mode));
  writePredicate(w, i.list[0],
                 combine(compareLanes(high[0], high[1], i.mode), c, i.mode));
}

/// d = (a REL b) OP c as all ones or zero, or (bytes 1) as 1.0 or 0.
template <class T> static void setValue(Warp &w, const Inst &i) {
  uint32_t c = i.isSigned ? ~w.predicate(i.c) : w.predicate(i.c);
  uint32_t r =
      combine(compareLanes(w.reg<T>(i.a), w.reg<T>(i.b), i.mode), c, i.mode);
  uint32_t yes = i.bytes ? std::bit_cast<uint32_t>(1.0f) : ~0u;
  writeLanes(w, w.reg<uint32_t>(i.d),
             [&](int k) { return r >> k & 1 ? yes : 0; });
}

/// Elementwise: lanes or, for pairs, halves of lanes.
template <class T> static void setPair(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b);
  uint32_t r[2] = {compareLanes(a, b, i.mode),
                   compareLanes(a + lanesOfWarp, b + lanesOfWarp, i.mode)};
  bool isFloat = i.bytes;
  uint16_t yes = !isFloat ? 0xffff : std::is_same_v<T, Half> ? 0x3c00 : 0x3f80;
  writeLanes<2>(w, w.reg<uint16_t>(i.d), [&](unsigned k) -> uint16_t {
    return r[k / lanesOfWarp] >> (k % lanesOfWarp) & 1 ? yes : 0;
  });
}

namespace {
// clang-format off
struct SetPredicate { template <class T> static void of(Warp &w, const Inst &i) { setPredicate<T>(w, i); } };
struct SetValue { template <class T> static void of(Warp &w, const Inst &i) { setValue<T>(w, i); } };
// clang-format on
} // namespace

template <class Op> static Handler handlerOf(Type type) {
  using enum Type;
  switch (type) {
  case S16:
    return Op::template of<int16_t>;
  case U16:
  case B16:
    return Op::template of<uint16_t>;
  case S32:
    return Op::template of<int32_t>;
  case U32:
  case B32:
    return Op::template of<uint32_t>;
  case S64:
    return Op::template of<int64_t>;
  case U64:
  case B64:
    return Op::template of<uint64_t>;
  case F16:
    return Op::template of<Half>;
  case BF16:
    return Op::template of<BFloat>;
  case F32:
    return Op::template of<float>;
  case F64:
    return Op::template of<double>;
  default:
    return nullptr;
  }
}

static uint8_t relation(Decoder &d) {
  static const std::map<std::string, uint8_t> named = {
      {"eq", Eq},          {"ne", Ne},          {"lt", Lt},
      {"le", Le},          {"gt", Gt},          {"ge", Ge},
      {"lo", Lt},          {"ls", Le},          {"hi", Gt},
      {"hs", Ge},          {"num", Num},        {"nan", Nan},
      {"equ", Eq | orNan}, {"neu", Ne | orNan}, {"ltu", Lt | orNan},
      {"leu", Le | orNan}, {"gtu", Gt | orNan}, {"geu", Ge | orNan}};
  auto found = named.find(d.statement().op[1]);
  if (found == named.end())
    d.unsupported();
  const ptx::Statement &st = d.statement();
  uint8_t with = st.has("and")   ? And
                 : st.has("or")  ? Or
                 : st.has("xor") ? Xor
                                 : Plain;
  return found->second | with;
}

/// Fills mode and the predicate that the result is combined with.
static void finish(Decoder &d, Inst &i, uint8_t mode) {
  i.mode = mode;
  if (!(mode & 48))
    return;
  ptx::Operand with = d.operand(3);
  i.isSigned = with.isNot;
  with.isNot = false;
  i.c = d.source(with, Type::Pred);
}

static void decodeSetPredicate(Decoder &d) {
  uint8_t mode = relation(d);
  Type t = d.type();
  const ptx::Operand &p = d.operand(0);
  bool isPair = t == Type::F16x2 || t == Type::BF16x2;
  Handler run = t == Type::F16x2    ? setPredicatePair<Half>
                : t == Type::BF16x2 ? setPredicatePair<BFloat>
                                    : handlerOf<SetPredicate>(t);
  Inst &i = d.emit(run, d.result(0), d.source(1, t), d.source(2, t));
  if (p.other >= 0 || isPair) {
    i.list = {p.other >= 0 ? static_cast<uint32_t>(p.other) + 2 : noResult};
    i.results = 1;
  }
  finish(d, i, mode);
  d.applyRounding();
}

static void decodeSet(Decoder &d) {
  uint8_t mode = relation(d);
  Type result = d.type(0), t = d.type(1);
  Handler run = t == Type::F16x2    ? setPair<Half>
                : t == Type::BF16x2 ? setPair<BFloat>
                                    : handlerOf<SetValue>(t);
  Inst &i = d.emit(run, d.result(0), d.source(1, t), d.source(2, t));
  i.bytes = isFloat(result);
  finish(d, i, mode);
  d.applyRounding();
}

/// d = c ? a : b. Only what is selected can be uninitialised.
template <class T> static void select(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b);
  uint32_t p = w.predicate(i.c);
  uint32_t from = (p & w.marks[i.a]) | (~p & w.marks[i.b]) | w.marks[i.c];
  writeLanes(w, w.reg<T>(i.d), [&](int k) { return p >> k & 1 ? a[k] : b[k]; });
  w.marks[i.d] = (w.marks[i.d] & ~w.exec) | (from & w.exec);
}

static Handler selectHandler(unsigned bytes) {
  return bytes == 2   ? select<uint16_t>
         : bytes == 4 ? select<uint32_t>
         : bytes == 8 ? select<uint64_t>
                      : nullptr;
}

static void decodeSelect(Decoder &d) {
  Type t = d.type();
  d.emit(selectHandler(ptx::bytesOf(t)), d.result(0), d.source(1, t),
         d.source(2, t), d.source(3, Type::Pred))
      .marksResult = false;
}

/// d = c >= 0 ? a : b
template <class T, class C> static void selectBySign(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b);
  const C *c = w.reg<C>(i.c);
  writeLanes(w, w.reg<T>(i.d), [&](int k) { return c[k] >= 0 ? a[k] : b[k]; });
}

static void decodeSelectBySign(Decoder &d) {
  Type t = d.type(0), by = d.type(1);
  unsigned bytes = ptx::bytesOf(t);
  bool isFloat = by == Type::F32;
  d.emit(bytes == 4   ? (isFloat ? selectBySign<uint32_t, float>
                                 : selectBySign<uint32_t, int32_t>)
         : bytes == 8 ? (isFloat ? selectBySign<uint64_t, float>
                                 : selectBySign<uint64_t, int32_t>)
                      : nullptr,
         d.result(0), d.source(1, t), d.source(2, t), d.source(3, by));
}

namespace {
enum FloatClass : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};
} // namespace

template <class T> static void testProperty(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a);
  writePredicate(w, i.d, lanesWhere([&](int k) {
                   switch (i.mode) {
                   case Finite:
                     return std::isfinite(a[k]);
                   case Infinite:
                     return std::isinf(a[k]);
                   case Number:
                     return !std::isnan(a[k]);
                   case NotANumber:
                     return std::isnan(a[k]);
                   case Normal:
                     return std::isnormal(a[k]);
                   default:
                     return std::fpclassify(a[k]) == FP_SUBNORMAL;
                   }
                 }));
}

static void decodeTest(Decoder &d) {
  static const std::map<std::string, uint8_t> named = {
      {"finite", Finite}, {"infinite", Infinite},
      {"number", Number}, {"notanumber", NotANumber},
      {"normal", Normal}, {"subnormal", Subnormal}};
  auto found = named.find(d.statement().op[1]);
  if (found == named.end())
    d.unsupported();
  d.emit(d.type() == Type::F64 ? testProperty<double> : testProperty<float>,
         d.result(0), d.source(1, d.type()))
      .mode = found->second;
}

static constexpr Rule rules[] = {
    {"setp", decodeSetPredicate}, {"set", decodeSet},    {"selp", decodeSelect},
    {"slct", decodeSelectBySign}, {"testp", decodeTest},
};
std::span<const Rule> cudaemu::compareRules() { return rules; }
