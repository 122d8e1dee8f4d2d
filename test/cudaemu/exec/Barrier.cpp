//===- Barrier.cpp - barriers of a block ----------------------------------===//

#include "exec/Barrier.h"
#include "exec/Block.h"
#include "exec/Decoder.h"

#include <algorithm>
#include <bit>

using namespace cudaemu;
using ptx::Type;

static void doNothing(Warp &, const Inst &) {}

namespace {
enum Reduction : uint8_t { None, Popc, And, Or };
} // namespace

static void joinClocks(std::array<uint32_t, lanesOfWarp> &into,
                       const std::array<uint32_t, lanesOfWarp> &from) {
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    into[k] = std::max(into[k], from[k]);
}

void cudaemu::synchroniseWarps(Block &block) {
  std::array<uint32_t, lanesOfWarp> all{};
  for (const Warp &warp : block.warps)
    joinClocks(all, warp.clocks);
  for (Warp &warp : block.warps) {
    warp.clocks = all;
    ++warp.clocks[warp.index];
  }
}

/// Threads that must come: the number that the barrier names or, without one,
/// those of all warps that have not exited.
static unsigned expected(const Block &block, const Warp &waiting) {
  if (waiting.barrierThreads)
    return waiting.barrierThreads;
  unsigned threads = 0;
  for (const Warp &warp : block.warps)
    threads += warp.state == Warp::Done ? 0 : lanesOfWarp;
  return threads;
}

/// Gives the warps the result of bar.red.
static void writeVotes(const std::vector<Warp *> &group) {
  unsigned count = 0, threads = 0;
  for (const Warp *w : group) {
    count += std::popcount(w->vote);
    threads += std::popcount(w->live);
  }
  for (Warp *w : group) {
    w->exec = w->live;
    if (w->barrierMode == Popc)
      writeLanes(*w, w->reg<uint32_t>(w->barrierResult),
                 [&](int) { return count; });
    else if (w->barrierMode != None)
      writePredicate(
          *w, w->barrierResult,
          (w->barrierMode == And ? count == threads : count > 0) ? ~0u : 0);
  }
}

bool cudaemu::releaseBarriers(Block &block) {
  bool released = false;
  for (unsigned id = 0; id < block.barriers.size(); ++id) {
    std::vector<Warp *> group;
    for (Warp &warp : block.warps)
      if (warp.state == Warp::AtBarrier && warp.barrier == id)
        group.push_back(&warp);
    Block::Arrivals &arrived = block.barriers[id];
    if (group.empty() || group.size() * lanesOfWarp + arrived.threads <
                             expected(block, *group[0]))
      continue;
    for (const Warp *warp : group)
      joinClocks(arrived.clocks, warp->clocks);
    writeVotes(group);
    for (Warp *warp : group) {
      warp->clocks = arrived.clocks;
      ++warp->clocks[warp->index];
      warp->state = Warp::Running;
    }
    arrived = {};
    released = true;
  }
  return released;
}

void cudaemu::faultAtBarrier(const Block &block) {
  std::string states;
  const Warp *waiting = nullptr;
  for (const Warp &warp : block.warps) {
    if (warp.state != Warp::AtBarrier)
      continue;
    waiting = &warp;
    states += (states.empty() ? "" : ", ") +
              ("warp " + std::to_string(warp.index)) + " at barrier " +
              std::to_string(warp.barrier) + " of " +
              std::to_string(expected(block, warp)) + " threads";
  }
  waiting->fault(0, 702, "barriers that never complete: " + states);
}

/// All lanes of a warp must come together, as PTX demands of bar.sync.
static void checkConverged(const Warp &w) {
  if (w.exec != w.live)
    w.fault(std::countr_zero(w.live & ~w.exec), 719,
            "barrier in divergent code: this thread does not come to it with "
            "its warp");
}

static void waitThere(Warp &w, const Inst &i) {
  checkConverged(w);
  unsigned first = std::countr_zero(w.exec);
  w.barrier = w.reg<uint32_t>(i.a)[first];
  w.barrierThreads = w.reg<uint32_t>(i.b)[first];
  if (w.barrier >= w.block->barriers.size() ||
      w.barrierThreads % lanesOfWarp != 0)
    w.fault(first, 719,
            "barrier " + std::to_string(w.barrier) + " of " +
                std::to_string(w.barrierThreads) + " threads");
  w.barrierMode = i.mode;
  w.barrierResult = i.d;
  if (i.mode != None) {
    if (w.checksMarks && (w.marks[i.c] & w.exec))
      w.faultUninitialised(w.marks[i.c] & w.exec, "a vote");
    w.vote = (i.isSigned ? ~w.predicate(i.c) : w.predicate(i.c)) & w.exec;
  }
  w.state = Warp::AtBarrier;
}

static void arrive(Warp &w, const Inst &i) {
  checkConverged(w);
  unsigned id = w.reg<uint32_t>(i.a)[std::countr_zero(w.exec)];
  if (id >= w.block->barriers.size())
    w.fault(0, 719, "barrier " + std::to_string(id));
  Block::Arrivals &arrived = w.block->barriers[id];
  arrived.threads += lanesOfWarp;
  joinClocks(arrived.clocks, w.clocks);
  ++w.clocks[w.index];
}

/// bar.sync a{, b}; bar.arrive a, b; bar.red.op.type d, a{, b}, {!}p
static void decodeBarrier(Decoder &d) {
  const ptx::Statement &st = d.statement();
  if (st.op.size() > 1 && st.op[1] == "warp")
    return void(d.emit(doNothing));
  bool reduces = st.has("red");
  size_t from = reduces ? 1 : 0, to = d.operands() - from;
  uint32_t id = d.source(from, Type::U32);
  uint32_t threads = to - from > 1 ? d.source(from + 1, Type::U32) : noSource;
  if (!reduces)
    return void(
        d.emit(st.has("arrive") ? arrive : waitThere, noResult, id, threads));
  ptx::Operand vote = d.operand(d.operands() - 1);
  bool isNot = vote.isNot;
  vote.isNot = false;
  Inst &i =
      d.emit(waitThere, d.result(0), id, threads, d.source(vote, Type::Pred));
  i.isSigned = isNot;
  i.mode = st.has("popc") ? Popc : st.has("and") ? And : Or;
}

static constexpr Rule rules[] = {
    {"bar", decodeBarrier},
    {"barrier", decodeBarrier},
};
std::span<const Rule> cudaemu::barrierRules() { return rules; }
