//===- Order.cpp - which work item comes before which ---------------------===//

#include "device/Order.h"

#include <algorithm>

using namespace cudaemu;

void cudaemu::join(Clock &into, const Clock &from) {
  into.resize(std::max(into.size(), from.size()));
  for (size_t lane = 0; lane < from.size(); ++lane)
    into[lane] = std::max(into[lane], from[lane]);
}

uint32_t Order::add(uint32_t lane, const Clock &after, std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  lastOfLane.resize(std::max<size_t>(lastOfLane.size(), lane + 1));
  Item item{lane, ++lastOfLane[lane], after, std::move(name)};
  item.clock.resize(std::max<size_t>(item.clock.size(), lane + 1));
  item.clock[lane] = item.number;
  items.push_back(std::move(item));
  return static_cast<uint32_t>(items.size() - 1);
}

Clock Order::clockOf(uint32_t item) const {
  std::lock_guard<std::mutex> lock(mutex);
  return items[item].clock;
}

bool Order::isBefore(uint32_t first, uint32_t second) const {
  std::lock_guard<std::mutex> lock(mutex);
  const Item &a = items[first], &b = items[second];
  return a.lane < b.clock.size() && b.clock[a.lane] >= a.number;
}

std::string Order::name(uint32_t item) const {
  std::lock_guard<std::mutex> lock(mutex);
  return items[item].name;
}

/// The number of 4-byte cells that [address, address + bytes) touches.
static uint64_t cellsOf(uint64_t address, uint64_t bytes) {
  return bytes ? (address + bytes - 1) / 4 - address / 4 + 1 : 0;
}

uint32_t OrderCheck::read(Uses *first, uint64_t address, uint64_t bytes) {
  for (Uses *u = first, *end = first + cellsOf(address, bytes); u != end; ++u) {
    if (!isBefore(u->writer))
      return u->writer;
    if (u->readers[0] == item)
      continue;
    // Of more than two readers that nothing orders, two are kept.
    u->readers[isBefore(u->readers[0]) ? 0 : 1] = item;
  }
  return 0;
}

uint32_t OrderCheck::write(Uses *first, uint64_t address, uint64_t bytes) {
  for (Uses *u = first, *end = first + cellsOf(address, bytes); u != end; ++u) {
    for (uint32_t other : {u->writer, u->readers[0], u->readers[1]})
      if (!isBefore(other))
        return other;
    *u = {item, {0, 0}};
  }
  return 0;
}

std::string OrderCheck::message(uint32_t other, const char *use) const {
  return order.name(item) + " " + use + " memory that " + order.name(other) +
         " uses, and nothing orders them";
}
