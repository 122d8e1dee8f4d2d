//===- Warp.h - the state of a warp and of its block ----------------------===//
#pragma once

#include "device/Order.h"
#include "exec/Program.h"

#include <array>
#include <cstring>
#include <memory>
#include <optional>

namespace cudaemu {

struct Block;
struct Allocation;

/// Stops a launch: `code` is what the driver returns from then on.
struct Fault {
  int code;
  std::string message;
};

/// A copy to shared memory that is not made yet.
struct AsyncCopy {
  char *to;
  uint8_t *marksTo;
  const char *from; ///< Null: zeros.
  const uint8_t *marksFrom;
  uint32_t size, bytes; ///< From the source; in all, the rest is zeros.
};

struct Warp {
  enum State { Running, AtBarrier, Done };

  /// Lanes that wait to run from `pc` until they come to `join`.
  struct Path {
    uint32_t pc, join, lanes;
  };
  struct Frame {
    const Program *program = nullptr;
    std::unique_ptr<char[]> memory;
    size_t bytes = 0;
    size_t localBase = 0;
    size_t pathsBelow = 0;      ///< Paths of the callers.
    const Inst *site = nullptr; ///< The call.
    uint32_t lanes = 0;         ///< Those that made the call.
  };

  Block *block = nullptr;
  unsigned index = 0; ///< In its block.
  State state = Running;

  // The path that runs. `exec` are the lanes of the instruction in hand.
  uint32_t pc = 0, join = ~0u, active = 0, exec = 0;
  uint32_t live = 0; ///< Lanes that have not exited.
  std::vector<Path> paths;

  // The innermost frame.
  char *slots = nullptr;
  uint32_t *marks = nullptr; ///< Of each slot the lanes that are uninitialised.
  size_t depth = 0;
  std::vector<Frame> frames;
  bool checksMarks = false;

  const Allocation *lastAllocation = nullptr;
  std::optional<OrderCheck> order;
  std::vector<char> local; ///< Lane after lane.
  std::vector<uint8_t> localMarks;
  size_t localBytes = 0;
  std::vector<AsyncCopy> openCopies;
  std::vector<std::vector<AsyncCopy>> copyGroups; ///< Committed ones.
  uint32_t carry = 0;                             ///< CC.CF of each lane.
  unsigned barrier = 0, barrierThreads = 0;
  bool hasVote = false; ///< What bar.red brings to the barrier.
  uint32_t vote = 0;
  uint32_t barrierResult = noResult;
  uint8_t barrierMode = 0;
  std::array<uint32_t, lanesOfWarp> clocks{}; ///< Of the race checker.

  template <class T> T *reg(uint32_t slot) const {
    return reinterpret_cast<T *>(slots + slot * slotBytes);
  }
  uint32_t &predicate(uint32_t slot) const { return *reg<uint32_t>(slot); }
  const Frame &frame() const { return frames[depth]; }
  const Program &program() const { return *frames[depth].program; }

  /// Starts the kernel for the lanes that there are.
  void start(const Program &program, uint32_t lanes);
  /// Runs until a barrier, the end, or `budget` instructions.
  void run(int64_t budget);
  /// Goes on with the innermost path that waits.
  void resume();
  void enter(const Program &program, const Inst *site, uint32_t lanes);
  void leave();
  /// `.param` memory of the frame at `depth`, of a lane.
  char *params(size_t depth, unsigned lane) const;

  [[noreturn]] void fault(unsigned lane, int code,
                          const std::string &what) const;
  [[noreturn]] void faultUninitialised(uint32_t lanes, const char *use) const;
};

/// Writes f(k) for lanes that execute; f is also called for the others.
/// `PerLane` elements of the slot belong to a lane.
template <unsigned PerLane = 1, class D, class F>
inline void writeLanes(Warp &w, D *d, F f) {
  constexpr unsigned count = lanesOfWarp * PerLane;
  D made[count];
  for (unsigned k = 0; k < count; ++k)
    made[k] = f(k);
  if (w.exec == ~0u) {
    std::memcpy(d, made, sizeof made);
    return;
  }
  for (unsigned k = 0; k < count; ++k)
    if (w.exec >> (k / PerLane) & 1)
      d[k] = made[k];
}

/// A predicate from f(k), which gives 0 or 1.
template <class F> inline uint32_t lanesWhere(F f) {
  uint8_t made[lanesOfWarp];
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    made[k] = f(k);
  uint32_t mask = 0;
  for (unsigned k = 0; k < lanesOfWarp; k += 8) {
    uint64_t eight;
    std::memcpy(&eight, made + k, 8);
    mask |= static_cast<uint32_t>((eight * 0x0102040810204080) >> 56) << k;
  }
  return mask;
}

inline void writePredicate(Warp &w, uint32_t slot, uint32_t value) {
  uint32_t &p = w.predicate(slot);
  p = (p & ~w.exec) | (value & w.exec);
}

} // namespace cudaemu
