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

bool Communication::canPass(const CommunicationEvent &event) const {
  if (event.kind == CommunicationKind::Send)
    return true;
  if (event.kind == CommunicationKind::Receive) {
    auto messages = underWay.find(event.subject);
    return messages != underWay.end() && !messages->second.empty();
  }
  return llvm::all_of(event.members, [&](int64_t member) {
    const CommunicationEvent *other = peek(member);
    return other && other->kind == CommunicationKind::Meeting &&
           other->subject == event.subject && other->members == event.members;
  });
}

void Communication::pass(const CommunicationEvent &event) {
  if (event.kind == CommunicationKind::Meeting)
    return;
  std::vector<int64_t> &messages = underWay[event.subject];
  if (event.kind == CommunicationKind::Send)
    messages.push_back(event.place);
  else
    messages.erase(messages.begin());
}

bool Communication::run() {
  // Ranks that may be able to move; who moves may set free whom it meets next,
  // and a message the other end of it.
  llvm::SmallVector<int64_t> ready;
  for (const auto &[rank, list] : events)
    ready.push_back(rank);
  while (!ready.empty()) {
    int64_t rank = ready.pop_back_val();
    const CommunicationEvent *event = peek(rank);
    if (!event || !canPass(*event))
      continue;
    pass(*event);
    bool isMeeting = event->kind == CommunicationKind::Meeting;
    for (int64_t member : event->members)
      if (isMeeting || member == rank)
        ++next[member];
    ready.append(event->members);
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

llvm::SmallVector<int64_t> Communication::getUnreceived() const {
  llvm::SmallVector<int64_t> places;
  for (const auto &[subject, messages] : underWay)
    places.append(messages.begin(), messages.end());
  llvm::sort(places);
  return places;
}
