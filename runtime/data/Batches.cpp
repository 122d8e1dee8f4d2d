//===- Batches.cpp - the global batch of each step ------------------------===//

#include "runtime/data/Batches.h"

#include "runtime/support/Counted.h"
#include "runtime/support/Error.h"

#include <algorithm>

namespace cleave::rt {

Batches::Batches(const DataSet &data, uint64_t seed, bool canLeaveOut)
    : batch(data.batch()),
      canLeaveOut(canLeaveOut), place{seed, data.samples(), 0, 0},
      order(place.samples, seed, 0) {
  if (countStepsOf(place.samples) == 0)
    fail(ExitMismatch,
         "--data: there {} {}, fewer than the {} of a batch, and the "
         "loss of this program cannot leave samples out",
         place.samples == 1 ? "is" : "are", counted(place.samples, "sample"),
         batch);
}

void Batches::start(const DataPosition &position) {
  place = position;
  order = Order(place.samples, place.seed, place.epoch);
}

void Batches::goOn(const DataPosition &position, std::optional<uint64_t> seed) {
  if (position.samples != place.samples)
    fail(ExitMismatch,
         "--resume: the checkpoint is of data with {}, --data has {}",
         counted(position.samples, "sample"), place.samples);
  if (seed && *seed != position.seed)
    fail(ExitUsage,
         "--resume: the data of the checkpoint has the seed {}, "
         "--seed is {}",
         position.seed, *seed);
  start(position);
}

int64_t Batches::countStepsOf(int64_t samples) const {
  return canLeaveOut ? (samples + batch - 1) / batch : samples / batch;
}

int64_t Batches::countSteps(int64_t epochs) const {
  if (place.epoch >= epochs)
    return 0;
  return countStepsOf(place.samples - place.next) +
         (epochs - place.epoch - 1) * countStepsOf(place.samples);
}

int64_t Batches::countDropped() const {
  return canLeaveOut ? 0 : place.samples % batch;
}

int64_t Batches::next() {
  if (countStepsOf(place.samples - place.next) == 0)
    start({place.seed, place.samples, place.epoch + 1, 0});
  int64_t count = std::min(batch, place.samples - place.next);
  current.resize(batch);
  for (int64_t i = 0; i < batch; ++i)
    current[i] = i < count ? order.at(place.next + i) : current[i % count];
  place.next += count;
  return count;
}

std::vector<int64_t> Batches::peek() const {
  Batches ahead = *this;
  ahead.next();
  return std::move(ahead.current);
}

} // namespace cleave::rt
