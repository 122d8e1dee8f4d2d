//===- Deadline.h - how long an operation may block -----------------------===//
//
// A deadline starts when it is made. `pause` is called in each turn of a wait:
// first it spins, which is fastest when the peer runs on another core; then it
// yields, which lets the peer run when it shares this one; where cores are too
// few it sleeps then, so that the system sees only ranks that work and gives
// each of these a core.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_DEADLINE_H
#define CLEAVE_RUNTIME_SUPPORT_DEADLINE_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sched.h>
#include <sys/prctl.h>
#include <thread>

namespace cleave::rt {

/// Tells the processor that this is a spin loop.
inline void relaxCpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The number of turns before the core is given up, and then before sleep.
struct Patience {
  int64_t spins = 20000;
  int64_t yields = INT64_MAX / 2;
};

class Deadline {
public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(double seconds, Patience patience = {})
      : limit(seconds), patience(patience) {}

  /// One turn of a wait; false once the time is up.
  bool pause() {
    if (turn++ < patience.spins) {
      relaxCpu();
      return true;
    }
    if (!sleeps()) {
      sched_yield();
      if ((turn & 15) != 0)
        return true;
    }
    Clock::time_point now = Clock::now();
    if (start == Clock::time_point())
      start = now;
    if (sleeps())
      sleep(now - start);
    return std::chrono::duration<double>(now - start).count() < limit;
  }

  /// Whether turns are long by now.
  bool sleeps() const { return turn > patience.spins + patience.yields; }

  double seconds() const { return limit; }

private:
  /// A sixteenth of what was waited, so that little is lost by waking late.
  static void sleep(Clock::duration waited) {
    using std::chrono::microseconds;
    // Else the system adds 50 us to each sleep, to wake less often.
    thread_local const int isExact = prctl(PR_SET_TIMERSLACK, 1000UL);
    (void)isExact;
    std::this_thread::sleep_for(std::clamp<Clock::duration>(
        waited / 16, microseconds(20), microseconds(500)));
  }

  double limit;
  Patience patience;
  int64_t turn = 0;
  Clock::time_point start;
};

} // namespace cleave::rt

#endif
