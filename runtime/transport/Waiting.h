//===- Waiting.h - wait for another rank ----------------------------------===//
//
// The one way in which transports wait: spin, yield, then sleep, end at the
// deadline with the name of the rank and operation, end at once when another
// rank has failed, and meanwhile keep this rank's own messages moving.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_WAITING_H
#define CLEAVE_RUNTIME_TRANSPORT_WAITING_H

#include "runtime/support/Deadline.h"
#include "runtime/transport/Call.h"

#include <atomic>
#include <functional>
#include <thread>

namespace cleave::rt {

struct Waiting {
  double timeout = 300;
  Patience patience = {};
  /// Set by anyone to end all waits; may be null.
  const std::atomic<bool> *stop = nullptr;
  /// Moves this rank's messages on: without it two ranks could each wait for
  /// what the other has in hand. May be empty.
  std::function<void()> progress;

  /// Returns when `ready()` holds; `rank` is the one waited for.
  template <typename Ready>
  void until(Ready &&ready, int rank, const Call &call) const {
    if (ready())
      return;
    Deadline deadline(timeout, patience);
    for (int turn = 0; !ready(); ++turn) {
      if (stop && stop->load(std::memory_order_relaxed))
        failStopped(call);
      if (progress && (turn % 64 == 63 || deadline.sleeps()))
        progress();
      if (!deadline.pause())
        failLate(rank, call, timeout);
    }
  }

  /// What suits `ranks` on this host: little when they must share cores.
  static Patience patienceFor(int ranks) {
    int cores = static_cast<int>(std::thread::hardware_concurrency());
    return ranks <= cores ? Patience() : Patience{50, 64};
  }
};

} // namespace cleave::rt

#endif
