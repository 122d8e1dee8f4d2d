//===- SharedOutbox.cpp - messages through shared memory ------------------===//
//
// The data area is a ring in the order of sends: its front is free when the
// receiver of the oldest message has taken it. A message is contiguous; when it
// does not fit before the end of the area it starts again at the beginning.
//
// An entry's slot is used again for message n + 64 of its lane only after n has
// been taken, so a receiver never finds a slot rewritten under its eyes.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/SharedOutbox.h"

#include <algorithm>
#include <cstring>

namespace cleave::rt {

size_t SharedOutbox::bytesFor(int ranks) {
  return controlBytesFor(ranks) + DataBytes;
}

size_t SharedOutbox::controlBytesFor(int ranks) { return ranks * sizeof(Lane); }

SharedOutbox::SharedOutbox(std::vector<std::byte *> bases,
                           std::vector<int> names, int self)
    : bases(std::move(bases)), names(std::move(names)), self(self),
      firstOpen(this->bases.size(), 0) {}

bool SharedOutbox::isTaken(const Sent &message) const {
  const Entry &entry = lane(self, message.to).entries[message.number % Slots];
  return entry.taken.load(std::memory_order_acquire) > message.number;
}

void SharedOutbox::reclaim() {
  while (!sent.empty() && isTaken(sent.front()))
    sent.pop_front();
  if (sent.empty())
    end = 0;
}

bool SharedOutbox::findRoom(size_t bytes, size_t &begin) const {
  size_t oldest = sent.empty() ? DataBytes : sent.front().begin;
  bool wrapped = !sent.empty() && end <= oldest;
  size_t limit = wrapped ? oldest : DataBytes;
  begin = end;
  // One byte stays free, so that a full ring differs from an empty one.
  if (begin + bytes < limit || (sent.empty() && bytes <= DataBytes))
    return true;
  begin = 0;
  return !wrapped && bytes < oldest;
}

bool SharedOutbox::trySend(int to, const void *from, size_t bytes, int tag) {
  reclaim();
  Lane &target = lane(self, to);
  uint64_t number = target.published.load(std::memory_order_relaxed);
  Entry &entry = target.entries[number % Slots];
  bool slotFree = number < Slots ||
                  entry.taken.load(std::memory_order_acquire) > number - Slots;
  // Whole cache lines, so that messages of two receivers share none.
  size_t rounded = (bytes + 63) / 64 * 64, begin = 0;
  if (!slotFree || !findRoom(rounded, begin))
    return false;
  if (bytes)
    std::memcpy(data(self) + begin, from, bytes);
  entry.tag = tag;
  entry.offset = begin;
  entry.bytes = bytes;
  sent.push_back({to, number, begin});
  end = begin + rounded;
  target.published.store(number + 1, std::memory_order_release);
  return true;
}

void SharedOutbox::send(int to, const void *from, size_t bytes, int tag) {
  progress();
  if (stashed.empty() && trySend(to, from, bytes, tag))
    return;
  const auto *begin = static_cast<const std::byte *>(from);
  stashed.push_back({to, tag, std::vector<std::byte>(begin, begin + bytes)});
}

void SharedOutbox::progress() {
  while (!stashed.empty()) {
    const Stashed &next = stashed.front();
    if (!trySend(next.to, next.data.data(), next.data.size(), next.tag))
      return;
    stashed.pop_front();
  }
}

SharedOutbox::Entry *SharedOutbox::findMessage(int from, int tag,
                                               uint64_t &number) {
  Lane &source = lane(from, self);
  uint64_t published = source.published.load(std::memory_order_acquire);
  for (number = firstOpen[from]; number < published; ++number) {
    Entry &entry = source.entries[number % Slots];
    bool open = entry.taken.load(std::memory_order_relaxed) <= number;
    if (open && entry.tag == tag)
      return &entry;
  }
  return nullptr;
}

void SharedOutbox::recv(int from, void *to, size_t bytes, int tag,
                        const Waiting &waiting, const Call &call) {
  Entry *entry = nullptr;
  uint64_t number = 0;
  waiting.until([&] { return (entry = findMessage(from, tag, number)); },
                names[from], call);
  if (entry->bytes != bytes)
    failDisagree(names[from], call);
  if (bytes)
    std::memcpy(to, data(from) + entry->offset, bytes);
  entry->taken.store(number + 1, std::memory_order_release);
  Lane &source = lane(from, self);
  uint64_t published = source.published.load(std::memory_order_relaxed);
  uint64_t &open = firstOpen[from];
  while (open < published && source.entries[open % Slots].taken.load(
                                 std::memory_order_relaxed) > open)
    ++open;
}

void SharedOutbox::drain(const Waiting &waiting, const Call &call) {
  auto gone = [&] {
    progress();
    reclaim();
    return stashed.empty() && sent.empty();
  };
  int late = stashed.empty() ? (sent.empty() ? self : sent.front().to)
                             : stashed.front().to;
  waiting.until(gone, names[late], call);
}

} // namespace cleave::rt
