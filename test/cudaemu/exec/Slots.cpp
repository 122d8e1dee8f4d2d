//===- Slots.cpp - let registers share slots ------------------------------===//
//
// PTX is written in nearly single assignment, with thousands of registers. To
// keep a frame in the cache, each register gets the interval of instructions in
// which it may be live, and intervals that do not meet share a slot. Liveness
// is that of one thread; lanes never touch each other's part of a slot, so it
// holds for divergent warps, too.
//
//===----------------------------------------------------------------------===//

#include "exec/Blocks.h"
#include "exec/Decoder.h"
#include "exec/Handlers.h"

#include <algorithm>
#include <queue>

using namespace cudaemu;

namespace {
class Liveness {
public:
  Liveness(Program &program, uint32_t registers)
      : program(program), end(registers + 2), blocks(basicBlocks(program)),
        words((end + 63) / 64), first(end, ~0u), last(end, 0) {}
  void run();

  Program &program;
  uint32_t end;
  std::vector<BasicBlock> blocks;
  size_t words;
  std::vector<uint32_t> first, last; ///< Of each register, its interval.

private:
  using Set = std::vector<uint64_t>;
  bool isRegister(uint32_t slot) const { return slot >= 2 && slot < end; }
  template <class F> void forResults(const Inst &i, F f) const;
  template <class F> void forSources(const Inst &i, F f) const;
  void touch(uint32_t slot, uint32_t at) {
    first[slot] = std::min(first[slot], at);
    last[slot] = std::max(last[slot], at);
  }
};
} // namespace

template <class F> void Liveness::forResults(const Inst &i, F f) const {
  if (isRegister(i.d))
    f(i.d);
  for (size_t k = 0; k < i.results; ++k)
    if (isRegister(i.list[k]))
      f(i.list[k]);
}

template <class F> void Liveness::forSources(const Inst &i, F f) const {
  for (uint32_t slot : {i.a, i.b, i.c, static_cast<uint32_t>(i.guard)})
    if (isRegister(slot))
      f(slot);
  if (!isPlaceList(i))
    for (size_t k = i.results; k < i.list.size(); ++k)
      if (isRegister(i.list[k]))
        f(i.list[k]);
}

void Liveness::run() {
  std::vector<Set> uses(blocks.size(), Set(words)), kills = uses, liveIn = uses;
  for (size_t b = 0; b < blocks.size(); ++b)
    for (uint32_t at = blocks[b].begin; at < blocks[b].end; ++at) {
      const Inst &i = program.code[at];
      forSources(i, [&](uint32_t s) {
        touch(s, at);
        if (!(kills[b][s / 64] >> (s % 64) & 1))
          uses[b][s / 64] |= 1ull << (s % 64);
      });
      forResults(i, [&](uint32_t s) {
        touch(s, at);
        // Under a guard the old value may live on.
        if (i.guard < 0)
          kills[b][s / 64] |= 1ull << (s % 64);
        else if (!(kills[b][s / 64] >> (s % 64) & 1))
          uses[b][s / 64] |= 1ull << (s % 64);
      });
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      Set in(words);
      for (uint32_t next : blocks[b].next)
        for (size_t w = 0; w < words; ++w)
          in[w] |= liveIn[next][w];
      for (size_t w = 0; w < words; ++w) {
        in[w] = uses[b][w] | (in[w] & ~kills[b][w]);
        changed |= in[w] != liveIn[b][w];
      }
      liveIn[b] = std::move(in);
    }
  }
  auto extend = [&](const Set &set, uint32_t at) {
    for (uint32_t s = 2; s < end; ++s)
      if (set[s / 64] >> (s % 64) & 1)
        touch(s, at);
  };
  for (const BasicBlock &block : blocks) {
    extend(liveIn[&block - blocks.data()], block.begin);
    for (uint32_t next : block.next)
      extend(liveIn[next], block.end - 1);
  }
}

void cudaemu::shareSlots(Program &program, uint32_t registers) {
  Liveness live(program, registers);
  live.run();
  std::vector<uint32_t> order;
  for (uint32_t s = 2; s < live.end; ++s)
    if (live.first[s] != ~0u)
      order.push_back(s);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(live.first[a], a) < std::pair(live.first[b], b);
  });
  using Busy = std::pair<uint32_t, uint32_t>; // until, slot
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::vector<uint32_t> renamed(program.slots, noResult);
  renamed[0] = 0;
  uint32_t slots = 2;
  for (uint32_t s : order) {
    // Strictly before: a result never shares with a source of its instruction,
    // which handlers with several results rely on.
    if (!busy.empty() && busy.top().first < live.first[s]) {
      renamed[s] = busy.top().second;
      busy.pop();
    } else {
      renamed[s] = slots++;
    }
    busy.emplace(live.last[s], renamed[s]);
  }
  for (uint32_t s = live.end; s < program.slots; ++s)
    renamed[s] = slots++;
  program.slots = slots;
  for (Inst &i : program.code) {
    for (uint32_t *slot : {&i.d, &i.a, &i.b, &i.c})
      *slot = renamed[*slot];
    if (i.guard >= 0)
      i.guard = static_cast<int32_t>(renamed[i.guard]);
    if (!isPlaceList(i))
      for (uint32_t &slot : i.list)
        slot = renamed[slot];
  }
  for (Setup &setup : program.setup)
    setup.slot = renamed[setup.slot];
}
