//===- Order.h - the order of samples in an epoch -------------------------===//
#ifndef CLEAVE_RUNTIME_DATA_ORDER_H
#define CLEAVE_RUNTIME_DATA_ORDER_H

#include <cstdint>
#include <vector>

namespace cleave::rt {

/// A permutation of [0, count) for each seed and epoch, the same everywhere. It
/// needs no memory for the samples: each place is computed on its own.
///
/// The swap-or-not shuffle (Hoang, Morris, Rogaway: An Enciphering Scheme Based
/// on a Card Shuffle, CRYPTO 2012, arXiv 1208.1176): round i pairs x with
/// k_i - x mod count, and swaps both if a bit of a hash of the pair says so.
/// The hash is the output function of SplitMix64 (Steele, Lea, Flood: Fast
/// Splittable Pseudorandom Number Generators, OOPSLA 2014).
class Order {
public:
  Order(int64_t count, uint64_t seed, int64_t epoch);

  /// The sample at a place of the order, both from 0.
  int64_t at(int64_t place) const;

private:
  struct Round {
    uint64_t key;   ///< of the hash
    uint64_t pivot; ///< k_i
  };
  uint64_t count;
  std::vector<Round> rounds;
};

} // namespace cleave::rt

#endif
