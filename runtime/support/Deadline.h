//===- Deadline.h - how long an operation may block -----------------------===//
//
// A deadline starts when it is made. `pause` is called in each turn of a wait:
// first it spins, which is fastest when the peer runs on another core, then it
// yields, which lets the peer run when it shares this one.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_DEADLINE_H
#define CLEAVE_RUNTIME_SUPPORT_DEADLINE_H

#include <chrono>
#include <cstdint>
#include <sched.h>

namespace cleave::rt {

/// Tells the processor that this is a spin loop.
inline void relaxCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Deadline {
public:
  using Clock = std::chrono::steady_clock;

  /// `spins` turns without giving up the core.
  explicit Deadline(double seconds, int spins = 20000)
      : limit(seconds), spins(spins) {}

  /// One turn of a wait; false once the time is up.
  bool pause() {
    if (turn++ < spins) {
      relaxCpu();
      return true;
    }
    sched_yield();
    if ((turn & 15) != 0)
      return true;
    if (start == Clock::time_point())
      start = Clock::now();
    return std::chrono::duration<double>(Clock::now() - start).count() < limit;
  }

  double seconds() const { return limit; }

private:
  double limit;
  int spins;
  int64_t turn = 0;
  Clock::time_point start;
};

} // namespace cleave::rt

#endif
