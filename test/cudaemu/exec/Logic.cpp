//===- Logic.cpp - bits of integers and logic of predicates ---------------===//

#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <algorithm>

using namespace cudaemu;
using ptx::Type;

namespace {
// clang-format off
template <class T> constexpr unsigned bitsOf = 8 * sizeof(T);
struct And { template <class T> static T of(T a, T b) { return a & b; } };
struct Or { template <class T> static T of(T a, T b) { return a | b; } };
struct Xor { template <class T> static T of(T a, T b) { return a ^ b; } };
struct Not { template <class T> static T of(T a) { return ~a; } };
struct CNot { template <class T> static T of(T a) { return a == 0; } };
struct Popc { template <class T> static uint32_t of(T a) { return std::popcount(a); } };
struct Clz { template <class T> static uint32_t of(T a) { return std::countl_zero(a); } };
struct Brev { template <class T> static T of(T a) {
  T r = 0;
  for (unsigned k = 0; k < bitsOf<T>; ++k) r |= (a >> k & 1) << (bitsOf<T> - 1 - k);
  return r; } };
// clang-format on
} // namespace

/// d = a shifted by the 32-bit b; amounts beyond the width count as the width.
template <class T> static void shiftLeft(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a);
  const auto *b = w.reg<uint32_t>(i.b);
  writeLanes(w, w.reg<T>(i.d), [&](int k) -> T {
    return b[k] >= bitsOf<T> ? 0 : static_cast<T>(a[k] << b[k]);
  });
}

template <class T> static void shiftRight(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a);
  const auto *b = w.reg<uint32_t>(i.b);
  writeLanes(w, w.reg<T>(i.d), [&](int k) -> T {
    if (b[k] >= bitsOf<T>)
      return a[k] < 0 ? static_cast<T>(-1) : 0;
    return static_cast<T>(a[k] >> b[k]);
  });
}

static Handler shiftHandler(Type type, bool isLeft) {
  switch (ptx::bytesOf(type) * 2 + isSigned(type)) {
  case 4:
    return isLeft ? shiftLeft<uint16_t> : shiftRight<uint16_t>;
  case 5:
    return shiftRight<int16_t>;
  case 8:
    return isLeft ? shiftLeft<uint32_t> : shiftRight<uint32_t>;
  case 9:
    return shiftRight<int32_t>;
  case 16:
    return isLeft ? shiftLeft<uint64_t> : shiftRight<uint64_t>;
  case 17:
    return shiftRight<int64_t>;
  default:
    return nullptr;
  }
}

static void decodeShift(Decoder &d, bool isLeft) {
  d.emit(shiftHandler(d.type(), isLeft), d.result(0), d.source(1, d.type()),
         d.source(2, Type::U32));
}

/// The upper (mode 1) or lower word of (b:a) shifted by c, clamped or wrapped
/// (mode 2) at 32.
static void funnelShift(Warp &w, const Inst &i) {
  const auto *a = w.reg<uint32_t>(i.a), *b = w.reg<uint32_t>(i.b);
  const auto *c = w.reg<uint32_t>(i.c);
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) {
    unsigned n = i.mode & 2 ? c[k] & 31 : std::min(c[k], 32u);
    uint64_t both = static_cast<uint64_t>(b[k]) << 32 | a[k];
    return static_cast<uint32_t>(i.mode & 1 ? both << n >> 32 : both >> n);
  });
}

/// Any function of three bits, by its table.
static void logic3(Warp &w, const Inst &i) {
  const auto *a = w.reg<uint32_t>(i.a), *b = w.reg<uint32_t>(i.b);
  const auto *c = w.reg<uint32_t>(i.c);
  uint32_t table[8];
  for (int k = 0; k < 8; ++k)
    table[k] = i.mode >> k & 1 ? ~0u : 0;
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) {
    uint32_t x = a[k], y = b[k], z = c[k];
    return (~x & ~y & ~z & table[0]) | (~x & ~y & z & table[1]) |
           (~x & y & ~z & table[2]) | (~x & y & z & table[3]) |
           (x & ~y & ~z & table[4]) | (x & ~y & z & table[5]) |
           (x & y & ~z & table[6]) | (x & y & z & table[7]);
  });
}

/// The bytes of (b:a) that the nibbles of c name; bit 3 repeats the sign.
static void permute(Warp &w, const Inst &i) {
  const auto *a = w.reg<uint32_t>(i.a), *b = w.reg<uint32_t>(i.b);
  const auto *c = w.reg<uint32_t>(i.c);
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) {
    uint64_t both = static_cast<uint64_t>(b[k]) << 32 | a[k];
    uint32_t made = 0;
    for (unsigned n = 0; n < 4; ++n) {
      unsigned pick = c[k] >> (4 * n) & 15;
      auto byte = static_cast<uint8_t>(both >> (8 * (pick & 7)));
      if (pick & 8)
        byte = byte & 0x80 ? 0xff : 0;
      made |= static_cast<uint32_t>(byte) << (8 * n);
    }
    return made;
  });
}

/// `c` (imm: length in the upper half of what the decoder packs) bits of a from
/// bit b, with the sign of the field's last bit.
template <class T> static void extract(Warp &w, const Inst &i) {
  using U = std::make_unsigned_t<T>;
  const U *a = w.reg<U>(i.a);
  const auto *b = w.reg<uint32_t>(i.b), *c = w.reg<uint32_t>(i.c);
  constexpr unsigned bits = bitsOf<T>;
  writeLanes(w, w.reg<U>(i.d), [&](int k) -> U {
    unsigned from = b[k] & 255, length = c[k] & 255;
    bool negative = std::is_signed_v<T> && length > 0 &&
                    a[k] >> std::min(from + length - 1, bits - 1) & 1;
    U field = from >= bits ? 0 : static_cast<U>(a[k] >> from);
    if (from > 0 && from < bits && negative)
      field |= static_cast<U>(~U(0)) << (bits - from);
    else if (from >= bits && negative)
      field = ~U(0);
    if (length >= bits)
      return field;
    U mask = (U(1) << length) - 1;
    return negative ? (field | ~mask) : (field & mask);
  });
}

/// The bits of a, put into b from bit c on; their number is in the list.
template <class T> static void insert(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b);
  const auto *c = w.reg<uint32_t>(i.c), *n = w.reg<uint32_t>(i.list[0]);
  writeLanes(w, w.reg<T>(i.d), [&](int k) -> T {
    unsigned from = c[k] & 255, length = n[k] & 255;
    if (from >= bitsOf<T> || length == 0)
      return b[k];
    T mask = length >= bitsOf<T> ? ~T(0) : (T(1) << length) - 1;
    return (b[k] & ~(mask << from)) | ((a[k] & mask) << from);
  });
}

/// The position of the highest bit that is no sign bit, or all ones.
template <class T> static void findBit(Warp &w, const Inst &i) {
  using U = std::make_unsigned_t<T>;
  const T *a = w.reg<T>(i.a);
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) -> uint32_t {
    U bits = a[k] < 0 ? ~static_cast<U>(a[k]) : static_cast<U>(a[k]);
    if (bits == 0)
      return ~0u;
    unsigned zeros = std::countl_zero(bits);
    return i.mode ? zeros : bitsOf<T> - 1 - zeros;
  });
}

/// A count of 32 bits of a T.
template <class Op, class T> static void count(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a);
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) { return Op::of(a[k]); });
}

namespace {
enum PredicateOp : uint8_t { PAnd, POr, PXor, PNot };
} // namespace

static void predicateLogic(Warp &w, const Inst &i) {
  uint32_t a = w.predicate(i.a), b = w.predicate(i.b);
  writePredicate(w, i.d,
                 i.mode == PAnd   ? a & b
                 : i.mode == POr  ? a | b
                 : i.mode == PXor ? a ^ b
                                  : ~a);
}

template <class Op> static void decodeLogic(Decoder &d, PredicateOp op) {
  Type type = d.type();
  constexpr int arity = std::is_same_v<Op, Not> ? 1 : 2;
  uint32_t a = d.source(1, type);
  uint32_t b = arity == 2 ? d.source(2, type) : noSource;
  if (type == Type::Pred)
    d.emit(predicateLogic, d.result(0), a, b).mode = op;
  else
    d.emit(integerHandler<Op, arity>(type), d.result(0), a, b);
}

static void decodeThree(Decoder &d, Handler handler, uint8_t mode) {
  d.emit(handler, d.result(0), d.source(1, Type::U32), d.source(2, Type::U32),
         d.source(3, Type::U32))
      .mode = mode;
}

template <class Op> static void decodeCount(Decoder &d) {
  bool isWide = ptx::bytesOf(d.type()) == 8;
  d.emit(isWide ? count<Op, uint64_t> : count<Op, uint32_t>, d.result(0),
         d.source(1, d.type()));
}

static void decodeExtract(Decoder &d) {
  Type t = d.type();
  bool isWide = ptx::bytesOf(t) == 8;
  d.emit(isSigned(t) ? (isWide ? extract<int64_t> : extract<int32_t>)
                     : (isWide ? extract<uint64_t> : extract<uint32_t>),
         d.result(0), d.source(1, t), d.source(2, Type::U32),
         d.source(3, Type::U32));
}

static void decodeInsert(Decoder &d) {
  Type t = d.type();
  uint32_t length = d.source(4, Type::U32);
  d.emit(ptx::bytesOf(t) == 8 ? insert<uint64_t> : insert<uint32_t>,
         d.result(0), d.source(1, t), d.source(2, t), d.source(3, Type::U32))
      .list = {length};
}

static void decodeFindBit(Decoder &d) {
  Type t = d.type();
  bool isWide = ptx::bytesOf(t) == 8;
  d.emit(isSigned(t) ? (isWide ? findBit<int64_t> : findBit<int32_t>)
                     : (isWide ? findBit<uint64_t> : findBit<uint32_t>),
         d.result(0), d.source(1, t))
      .mode = d.statement().has("shiftamt");
}

static void decodeFunnel(Decoder &d) {
  const ptx::Statement &st = d.statement();
  decodeThree(d, funnelShift,
              static_cast<uint8_t>(st.has("l") | st.has("wrap") << 1));
}

static void decodePermute(Decoder &d) {
  if (d.statement().op.size() != 2)
    d.unsupported(); // the modes such as .f4e
  decodeThree(d, permute, 0);
}

static constexpr Rule rules[] = {
    {"and", [](Decoder &d) { decodeLogic<And>(d, PAnd); }},
    {"or", [](Decoder &d) { decodeLogic<Or>(d, POr); }},
    {"xor", [](Decoder &d) { decodeLogic<Xor>(d, PXor); }},
    {"not", [](Decoder &d) { decodeLogic<Not>(d, PNot); }},
    {"cnot",
     [](Decoder &d) {
       d.emit(integerHandler<CNot, 1>(d.type()), d.result(0),
              d.source(1, d.type()));
     }},
    {"shl", [](Decoder &d) { decodeShift(d, true); }},
    {"shr", [](Decoder &d) { decodeShift(d, false); }},
    {"shf", decodeFunnel},
    {"lop3",
     [](Decoder &d) {
       decodeThree(d, logic3, static_cast<uint8_t>(d.operand(4).bits));
     }},
    {"prmt", decodePermute},
    {"popc", decodeCount<Popc>},
    {"clz", decodeCount<Clz>},
    {"brev",
     [](Decoder &d) {
       d.emit(integerHandler<Brev, 1>(ptx::bytesOf(d.type()) == 8 ? Type::U64
                                                                  : Type::U32),
              d.result(0), d.source(1, d.type()));
     }},
    {"bfe", decodeExtract},
    {"bfi", decodeInsert},
    {"bfind", decodeFindBit},
};
std::span<const Rule> cudaemu::logicRules() { return rules; }
