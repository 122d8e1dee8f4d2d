//===- Order.h - which work item comes before which -----------------------===//
//
// Each piece of work on a stream is an item with a number. It runs on a lane (a
// stream, or a branch of a graph); a vector clock says which items of each
// lane are known to be done when it starts: by the order of its lane, by
// events, and by what the host waited for before it put the item there. Two
// items that use the same memory, one of them writing, must be ordered so.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "device/Memory.h"

#include <deque>
#include <vector>

namespace cudaemu {

using Clock = std::vector<uint32_t>; ///< By lane, the last item known done.
void join(Clock &into, const Clock &from);

class Order {
public:
  /// Makes the next item of a lane, after everything in `after`.
  uint32_t add(uint32_t lane, const Clock &after, std::string name);
  /// What is known done once the item is.
  Clock clockOf(uint32_t item) const;
  bool isBefore(uint32_t first, uint32_t second) const;
  std::string name(uint32_t item) const;

private:
  struct Item {
    uint32_t lane, number;
    Clock clock;
    std::string name;
  };
  mutable std::mutex mutex;
  std::deque<Item> items{1};
  std::vector<uint32_t> lastOfLane;
};

/// Checks the uses of memory by one item, on one thread.
class OrderCheck {
public:
  OrderCheck(const Order &order, uint32_t item) : order(order), item(item) {}
  /// Notes the use; returns the item that it collides with, or 0.
  uint32_t read(Uses *first, uint64_t address, uint64_t bytes) {
    for (Uses *u = first, *end = first + cells(address, bytes); u != end; ++u) {
      if (!isKnown(u->writer) && !isBefore(u->writer))
        return u->writer;
      if (u->readers[0] == item)
        continue;
      // Of more than two readers that nothing orders, two are kept.
      bool isFirst = isKnown(u->readers[0]) || isBefore(u->readers[0]);
      u->readers[isFirst ? 0 : 1] = item;
    }
    return 0;
  }
  uint32_t write(Uses *first, uint64_t address, uint64_t bytes) {
    for (Uses *u = first, *end = first + cells(address, bytes); u != end; ++u) {
      for (uint32_t other : {u->writer, u->readers[0], u->readers[1]})
        if (!isKnown(other) && !isBefore(other))
          return other;
      *u = {item, {0, 0}};
    }
    return 0;
  }
  std::string message(uint32_t other, const char *use) const;

private:
  /// The number of 4-byte cells that [address, address + bytes) touches.
  static uint64_t cells(uint64_t address, uint64_t bytes) {
    return bytes ? (address + bytes - 1) / 4 - address / 4 + 1 : 0;
  }
  bool isKnown(uint32_t other) const {
    return other == 0 || other == item || other == known[0] ||
           other == known[1];
  }
  bool isBefore(uint32_t other);

  const Order &order;
  uint32_t item;
  uint32_t known[2] = {}; ///< Items that come before.
};

} // namespace cudaemu
