//===- Outcome.h - how the ranks of one process have ended ----------------===//
#ifndef CLEAVE_RUNTIME_MAIN_OUTCOME_H
#define CLEAVE_RUNTIME_MAIN_OUTCOME_H

#include "runtime/support/Error.h"

#include <mutex>
#include <optional>

namespace cleave::rt {

/// Keeps the first failure that is not only the echo of another: a rank that
/// fails leaves the others waiting. Ranks may add at the same time.
class Outcome {
public:
  void add(const Failure &failure) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!first || (first->code == ExitPeer && failure.code != ExitPeer))
      first = failure;
  }
  /// None when no rank has failed. Call it when all have ended.
  const std::optional<Failure> &failure() const { return first; }

private:
  std::mutex mutex;
  std::optional<Failure> first;
};

} // namespace cleave::rt

#endif
