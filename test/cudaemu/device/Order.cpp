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

bool OrderCheck::isBefore(uint32_t other) {
  if (!order.isBefore(other, item))
    return false;
  known[1] = known[0];
  known[0] = other;
  return true;
}

std::string OrderCheck::message(uint32_t other, const char *use) const {
  return order.name(item) + " " + use + " memory that " + order.name(other) +
         " uses, and nothing orders them";
}
