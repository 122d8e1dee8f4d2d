//===- Communication.cpp - ranks as automata that wait for each other -----===//

#include "passes/verify/Communication.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;

const CommunicationEvent *Communication::peek(int64_t rank) const {
  auto list = events.find(rank);
  auto position = next.find(rank);
  size_t index = position == next.end() ? 0 : position->second;
  if (list == events.end() || index == list->second.size())
    return nullptr;
  return &list->second[index];
}

/// Whether all members of the event stand at it.
bool Communication::canPass(const CommunicationEvent &event) const {
  return llvm::all_of(event.members, [&](int64_t member) {
    const CommunicationEvent *other = peek(member);
    return other && other->meeting == event.meeting &&
           other->members == event.members;
  });
}

bool Communication::run() {
  // Ranks that may be able to move; who moves may set free whom it meets next.
  llvm::SmallVector<int64_t> ready;
  for (const auto &[rank, list] : events)
    ready.push_back(rank);
  while (!ready.empty()) {
    int64_t rank = ready.pop_back_val();
    const CommunicationEvent *event = peek(rank);
    if (!event || !canPass(*event))
      continue;
    llvm::SmallVector<int64_t> members = event->members;
    for (int64_t member : members)
      ++next[member];
    ready.append(members);
  }
  return getStuck().empty();
}

llvm::SmallVector<int64_t> Communication::getStuck() const {
  llvm::SmallVector<int64_t> stuck;
  for (const auto &[rank, list] : events)
    if (peek(rank))
      stuck.push_back(rank);
  return stuck;
}

const CommunicationEvent &Communication::getCurrent(int64_t rank) const {
  return *peek(rank);
}
