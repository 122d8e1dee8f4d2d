//===- Atomic.cpp - atomic operations -------------------------------------===//
//
// Lane after lane, each by a compare-and-swap loop, since the blocks of a
// launch run on several threads.
//
//===----------------------------------------------------------------------===//

#include "exec/Access.h"
#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <algorithm>
#include <type_traits>

using namespace cudaemu;
using ptx::Type;

namespace {
// clang-format off
template <unsigned Bytes> struct BitsOf;
template <> struct BitsOf<2> { using Type = uint16_t; };
template <> struct BitsOf<4> { using Type = uint32_t; };
template <> struct BitsOf<8> { using Type = uint64_t; };

/// Two 16-bit floats that are updated together.
template <class T> struct Pair { T low, high; };

// `of(old, b, c)` is the new value.
struct Add { template <class T> static T of(T a, T b, T) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return T(a + b);
  }
  template <class T> static Pair<T> of(Pair<T> a, Pair<T> b, Pair<T>) { return {T(a.low + b.low), T(a.high + b.high)}; } };
struct Min { template <class T> static T of(T a, T b, T) { return b < a ? b : a; } };
struct Max { template <class T> static T of(T a, T b, T) { return a < b ? b : a; } };
struct And { template <class T> static T of(T a, T b, T) { return a & b; } };
struct Or { template <class T> static T of(T a, T b, T) { return a | b; } };
struct Xor { template <class T> static T of(T a, T b, T) { return a ^ b; } };
struct Exchange { template <class T> static T of(T, T b, T) { return b; } };
struct Compare { template <class T> static T of(T a, T b, T c) { return a == b ? c : a; } };
struct Inc { template <class T> static T of(T a, T b, T) { return a >= b ? 0 : a + 1; } };
struct Dec { template <class T> static T of(T a, T b, T) { return a == 0 || a > b ? b : a - 1; } };
// clang-format on
} // namespace

template <class Op, class T> static void atomic(Warp &w, const Inst &i) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  Access access;
  resolve(w, i, sizeof(T), AccessKind::Atomic, access);
  const T *b = w.reg<T>(i.b), *c = w.reg<T>(i.c);
  T *d = w.reg<T>(i.d);
  uint32_t unknown = 0;
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(w.exec >> k & 1))
      continue;
    auto *at = reinterpret_cast<Bits *>(access.at[k]);
    Bits seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        at, &seen,
        std::bit_cast<Bits>(Op::of(std::bit_cast<T>(seen), b[k], c[k])), false,
        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    d[k] = std::bit_cast<T>(seen);
    if (!w.checksMarks || !access.marks[k])
      continue;
    bool isUnknown = std::memchr(access.marks[k], 0, sizeof(T));
    unknown |= static_cast<uint32_t>(isUnknown) << k;
    bool taints = (w.marks[i.b] | w.marks[i.c]) >> k & 1;
    bool keeps = isUnknown && !std::is_same_v<Op, Exchange>;
    std::memset(access.marks[k], !(keeps || taints), sizeof(T));
  }
  w.marks[i.d] = (w.marks[i.d] & ~w.exec) | unknown;
}

template <class Op> static Handler integerAtomic(Type type) {
  switch (type) {
  case Type::S32:
    return atomic<Op, int32_t>;
  case Type::U32:
  case Type::B32:
    return atomic<Op, uint32_t>;
  case Type::S64:
    return atomic<Op, int64_t>;
  case Type::U64:
  case Type::B64:
    return atomic<Op, uint64_t>;
  default:
    return nullptr;
  }
}

static Handler addHandler(Type type) {
  switch (type) {
  case Type::F32:
    return atomic<Add, float>;
  case Type::F64:
    return atomic<Add, double>;
  case Type::F16:
    return atomic<Add, Half>;
  case Type::BF16:
    return atomic<Add, BFloat>;
  case Type::F16x2:
    return atomic<Add, Pair<Half>>;
  case Type::BF16x2:
    return atomic<Add, Pair<BFloat>>;
  default:
    return integerAtomic<Add>(type);
  }
}

static Handler atomicHandler(const ptx::Statement &st, Type type) {
  if (st.has("add"))
    return addHandler(type);
  if (st.has("min"))
    return integerAtomic<Min>(type);
  if (st.has("max"))
    return integerAtomic<Max>(type);
  if (st.has("and"))
    return integerAtomic<And>(type);
  if (st.has("or"))
    return integerAtomic<Or>(type);
  if (st.has("xor"))
    return integerAtomic<Xor>(type);
  if (st.has("exch"))
    return integerAtomic<Exchange>(type);
  if (st.has("cas"))
    return type == Type::B16 ? atomic<Compare, uint16_t>
                             : integerAtomic<Compare>(type);
  if (st.has("inc"))
    return atomic<Inc, uint32_t>;
  return st.has("dec") ? atomic<Dec, uint32_t> : nullptr;
}

/// atom d, [a], b{, c} and red [a], b
static void decodeAtomic(Decoder &d) {
  const ptx::Statement &st = d.statement();
  size_t from = st.op[0] == "atom" ? 1 : 0;
  Type type = d.type();
  if (st.has("v2") || st.has("v4") || st.has("v8"))
    d.unsupported();
  uint32_t b = d.source(from + 1, type);
  uint32_t c = st.has("cas") ? d.source(from + 2, type) : noSource;
  Inst &i = d.emit(atomicHandler(st, type), from ? d.result(0) : noResult,
                   noSource, b, c);
  i.space = spaceOf(st);
  i.marksResult = false;
  d.address(i, d.operand(from));
}

static constexpr Rule rules[] = {{"atom", decodeAtomic}, {"red", decodeAtomic}};
std::span<const Rule> cudaemu::atomicRules() { return rules; }
