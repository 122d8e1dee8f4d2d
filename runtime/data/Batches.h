//===- Batches.h - the global batch of each step --------------------------===//
//
// Steps take samples in the order of their epoch (Order.h). Where the program
// can leave samples out of its loss, the last batch of an epoch holds what is
// left, then those samples again, which do not count; else what is left is
// dropped.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_DATA_BATCHES_H
#define CLEAVE_RUNTIME_DATA_BATCHES_H

#include "runtime/data/DataSet.h"
#include "runtime/data/Order.h"
#include "runtime/data/Position.h"

namespace cleave::rt {

class Batches {
public:
  /// Throws Failure (ExitMismatch) where an epoch would have no step.
  Batches(const DataSet &data, uint64_t seed, bool canLeaveOut);

  /// Goes on where another run has stopped. Throws Failure: ExitMismatch for
  /// another number of samples, ExitUsage for a `seed` that is another one.
  void goOn(const DataPosition &position, std::optional<uint64_t> seed);

  /// Steps from here until this many epochs are done, since the first one.
  int64_t countSteps(int64_t epochs) const;
  /// Samples that no step of an epoch takes.
  int64_t countDropped() const;

  /// Goes to the next batch. Returns how many of its samples, the first ones,
  /// count.
  int64_t next();
  /// The samples of the batch, and those of the batch after it.
  std::span<const int64_t> ids() const { return current; }
  std::vector<int64_t> peek() const;

  /// Behind the batch.
  const DataPosition &position() const { return place; }

private:
  void start(const DataPosition &position);
  /// Steps that take this many samples of an epoch.
  int64_t countStepsOf(int64_t samples) const;

  int64_t batch;
  bool canLeaveOut;
  DataPosition place;
  Order order; ///< of the epoch of `place`
  std::vector<int64_t> current;
};

} // namespace cleave::rt

#endif
