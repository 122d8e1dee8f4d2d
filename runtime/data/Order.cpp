//===- Order.cpp - the order of samples in an epoch -----------------------===//

#include "runtime/data/Order.h"

#include <algorithm>
#include <bit>

namespace cleave::rt {

/// Rounds for each bit of the number of samples. The paper's bound is small
/// from 6 on; a sample costs well below a microsecond.
static constexpr int RoundsPerBit = 6;
static constexpr uint64_t Increment = 0x9e3779b97f4a7c15;

/// The output function of SplitMix64.
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Order::Order(int64_t count, uint64_t seed, int64_t epoch)
    : count(static_cast<uint64_t>(count)) {
  uint64_t state = mix(mix(seed + Increment) + static_cast<uint64_t>(epoch));
  auto next = [&] { return mix(state += Increment); };
  int bits = std::bit_width(this->count);
  for (int i = 0; i < RoundsPerBit * bits; ++i) {
    uint64_t key = next();
    rounds.push_back({key, next() % this->count});
  }
}

int64_t Order::at(int64_t place) const {
  auto x = static_cast<uint64_t>(place);
  for (const Round &round : rounds) {
    uint64_t other =
        round.pivot >= x ? round.pivot - x : round.pivot + count - x;
    if (mix(round.key + std::max(x, other)) & 1)
      x = other;
  }
  return static_cast<int64_t>(x);
}

} // namespace cleave::rt
