//===- Stop.cpp - stop on request, after the running step -----------------===//
//
// A handler may only set a flag.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Stop.h"

#include <atomic>
#include <csignal>

namespace cleave::rt {

static std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

static void request(int) {
  requested = true;
  for (int number : {SIGTERM, SIGUSR1})
    signal(number, SIG_DFL);
}

void watchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  for (int number : {SIGTERM, SIGUSR1})
    sigaction(number, &action, nullptr);
}

bool isStopRequested() { return requested; }

} // namespace cleave::rt
