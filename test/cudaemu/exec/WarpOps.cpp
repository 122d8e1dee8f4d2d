//===- WarpOps.cpp - what lanes of a warp do together ---------------------===//

#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <algorithm>
#include <bit>

using namespace cudaemu;
using ptx::Type;

/// The lanes of the mask in slot `slot`, which all must be at this instruction.
static uint32_t members(const Warp &w, uint32_t slot) {
  const auto *mask = w.reg<uint32_t>(slot);
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(w.exec >> k & 1))
      continue;
    uint32_t absent = mask[k] & w.live & ~w.exec;
    if (absent)
      w.fault(k, 719,
              "lane " + std::to_string(std::countr_zero(absent)) +
                  " is in the member mask, but not at the instruction");
    if (!(mask[k] >> k & 1))
      w.fault(k, 719, "a lane that is not in its own member mask");
  }
  return mask[std::countr_zero(w.exec)];
}

namespace {
enum Shuffle : uint8_t { Up, Down, Bfly, Idx };
} // namespace

/// d|p = a of another lane; b: distance or lane, c: clamp and segment mask.
static void shuffle(Warp &w, const Inst &i) {
  members(w, i.list.back());
  uint32_t a[lanesOfWarp];
  std::memcpy(a, w.reg<uint32_t>(i.a), sizeof a);
  const auto *b = w.reg<uint32_t>(i.b), *c = w.reg<uint32_t>(i.c);
  uint32_t valid = 0, from = 0, made[lanesOfWarp] = {};
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(w.exec >> k & 1))
      continue;
    int clamp = c[k] & 31, segment = c[k] >> 8 & 31, lane = b[k] & 31;
    int self = static_cast<int>(k),
        last = (self & segment) | (clamp & ~segment);
    int first = self & segment;
    int source = i.mode == Up     ? self - lane
                 : i.mode == Down ? self + lane
                 : i.mode == Bfly ? self ^ lane
                                  : first | (lane & ~segment);
    bool isValid = i.mode == Up ? source >= last : source <= last;
    if (!isValid)
      source = self;
    if (isValid && !(w.exec >> source & 1))
      w.fault(k, 719,
              "shuffle from lane " + std::to_string(source) +
                  ", which is not at the instruction");
    made[k] = a[source];
    valid |= static_cast<uint32_t>(isValid) << k;
    from |= (w.marks[i.a] >> source & 1) << k;
  }
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int k) { return made[k]; });
  w.marks[i.d] = (w.marks[i.d] & ~w.exec) | from;
  if (i.results)
    writePredicate(w, i.list[0], valid);
}

static void decodeShuffle(Decoder &d) {
  const ptx::Statement &st = d.statement();
  if (!st.has("sync"))
    d.unsupported();
  const ptx::Operand &to = d.operand(0);
  uint32_t members = d.source(4, Type::B32);
  Inst &i = d.emit(shuffle, d.result(0), d.source(1, Type::B32),
                   d.source(2, Type::B32), d.source(3, Type::B32));
  i.list = {members};
  if (to.other >= 0)
    i.list.insert(i.list.begin(), to.other + 2);
  i.results = to.other >= 0;
  i.mode = st.has("up")     ? Up
           : st.has("down") ? Down
           : st.has("bfly") ? Bfly
                            : Idx;
  i.marksResult = false;
}

namespace {
enum Vote : uint8_t { All, Any, Uniform, Ballot };
} // namespace

static void vote(Warp &w, const Inst &i) {
  if (w.checksMarks && (w.marks[i.a] & w.exec))
    w.faultUninitialised(w.marks[i.a] & w.exec, "a vote");
  uint32_t mask = members(w, i.b) & w.exec;
  uint32_t yes = (i.isSigned ? ~w.predicate(i.a) : w.predicate(i.a)) & mask;
  if (i.mode == Ballot)
    return writeLanes(w, w.reg<uint32_t>(i.d), [&](int) { return yes; });
  bool holds = i.mode == All   ? yes == mask
               : i.mode == Any ? yes != 0
                               : yes == mask || yes == 0;
  writePredicate(w, i.d, holds ? ~0u : 0);
}

static void decodeVote(Decoder &d) {
  const ptx::Statement &st = d.statement();
  if (!st.has("sync"))
    d.unsupported();
  ptx::Operand p = d.operand(1);
  bool isNot = p.isNot;
  p.isNot = false;
  Inst &i = d.emit(vote, d.result(0), d.source(p, Type::Pred),
                   d.source(2, Type::B32));
  i.isSigned = isNot;
  i.mode = st.has("all")   ? All
           : st.has("any") ? Any
           : st.has("uni") ? Uniform
                           : Ballot;
}

/// d = the lanes with the value of this one, or (mode) all lanes if equal.
template <class T> static void match(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i.b) & w.exec;
  T a[lanesOfWarp];
  std::memcpy(a, w.reg<T>(i.a), sizeof a);
  uint32_t made[lanesOfWarp] = {};
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    made[k] = mask & lanesWhere([&](int j) { return a[j] == a[k]; });
  bool isAll = made[std::countr_zero(w.exec)] == mask;
  writeLanes(w, w.reg<uint32_t>(i.d),
             [&](int k) { return i.mode ? (isAll ? mask : 0) : made[k]; });
  if (!i.list.empty())
    writePredicate(w, i.list[0], isAll ? ~0u : 0);
}

static void decodeMatch(Decoder &d) {
  const ptx::Operand &to = d.operand(0);
  Type t = d.type();
  Inst &i = d.emit(ptx::bytesOf(t) == 8 ? match<uint64_t> : match<uint32_t>,
                   d.result(0), d.source(1, t), d.source(2, Type::B32));
  i.mode = d.statement().has("all");
  if (to.other >= 0)
    i.list = {static_cast<uint32_t>(to.other) + 2};
  i.results = to.other >= 0;
}

template <class T, class F> static T fold(const Warp &w, uint32_t slot, F f) {
  const T *a = w.reg<T>(slot);
  T total = a[std::countr_zero(w.exec)];
  for (unsigned k = std::countr_zero(w.exec) + 1; k < lanesOfWarp; ++k)
    if (w.exec >> k & 1)
      total = f(total, a[k]);
  return total;
}

namespace {
enum Fold : uint8_t { FoldAdd, FoldMin, FoldMax, FoldAnd, FoldOr, FoldXor };
} // namespace

template <class T> static void redux(Warp &w, const Inst &i) {
  members(w, i.b);
  auto with = [&](auto f) { return fold<T>(w, i.a, f); };
  T total = i.mode == FoldAdd
                ? with([](T a, T b) { return T(uint32_t(a) + uint32_t(b)); })
            : i.mode == FoldMin ? with([](T a, T b) { return std::min(a, b); })
            : i.mode == FoldMax ? with([](T a, T b) { return std::max(a, b); })
            : i.mode == FoldAnd ? with([](T a, T b) { return a & b; })
            : i.mode == FoldOr  ? with([](T a, T b) { return a | b; })
                                : with([](T a, T b) { return a ^ b; });
  writeLanes(w, w.reg<T>(i.d), [&](int) { return total; });
  w.marks[i.d] =
      (w.marks[i.d] & ~w.exec) | (w.marks[i.a] & w.exec ? w.exec : 0);
}

static void decodeRedux(Decoder &d) {
  const ptx::Statement &st = d.statement();
  Type t = d.type();
  if (isFloat(t))
    d.unsupported();
  Inst &i = d.emit(isSigned(t) ? redux<int32_t> : redux<uint32_t>, d.result(0),
                   d.source(1, t), d.source(2, Type::B32));
  i.mode = st.has("add")   ? FoldAdd
           : st.has("min") ? FoldMin
           : st.has("max") ? FoldMax
           : st.has("and") ? FoldAnd
           : st.has("or")  ? FoldOr
                           : FoldXor;
  i.marksResult = false;
}

static void activeMask(Warp &w, const Inst &i) {
  uint32_t mask = w.exec;
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int) { return mask; });
}

/// d|p = the first lane of the mask; p holds there alone.
static void elect(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i.a) & w.exec;
  unsigned leader = std::countr_zero(mask);
  writeLanes(w, w.reg<uint32_t>(i.d), [&](int) { return leader; });
  writePredicate(w, i.list[0], 1u << leader);
}

static void decodeElect(Decoder &d) {
  const ptx::Operand &to = d.operand(0);
  Inst &i =
      d.emit(elect, to.kind == ptx::Operand::Sink ? noResult : d.result(0),
             d.source(1, Type::B32));
  i.list = {to.other >= 0 ? static_cast<uint32_t>(to.other) + 2 : noResult};
  i.results = 1;
}

static constexpr Rule rules[] = {
    {"shfl", decodeShuffle},
    {"vote", decodeVote},
    {"match", decodeMatch},
    {"redux", decodeRedux},
    {"activemask", [](Decoder &d) { d.emit(activeMask, d.result(0)); }},
    {"elect", decodeElect},
};
std::span<const Rule> cudaemu::warpRules() { return rules; }
