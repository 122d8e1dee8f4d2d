//===- Communication.h - ranks as automata that wait for each other -------===//
//
// Each rank has a list of events; it leaves an event when all ranks that the
// event binds stand at it. `run` moves ranks on until none can move. Moving is
// confluent: an event that can be passed stays so until it is, whatever else
// moves, so a run that gets stuck does so in every order.
//
// A collective binds the ranks of its group, a message its sender and receiver
// (as when nothing is buffered).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_VERIFY_COMMUNICATION_H
#define CLEAVE_PASSES_VERIFY_COMMUNICATION_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave {

/// What a rank does next. Events of different ranks meet when `meeting` agrees
/// and each is in the other's `members`.
struct CommunicationEvent {
  /// What is met: an op for a collective, sender, receiver and tag for a
  /// message.
  std::string meeting;
  /// Ranks that must meet, this one too, ascending.
  llvm::SmallVector<int64_t> members;
  /// The caller's number of the place in the program, for messages.
  int64_t place = 0;
};

class Communication {
public:
  /// Appends an event to what `rank` does.
  void add(int64_t rank, CommunicationEvent event) {
    events[rank].push_back(std::move(event));
  }
  /// A rank that does nothing ends at once, so that others cannot wait for it.
  void addRank(int64_t rank) { events[rank]; }

  /// Runs all ranks; true when all come to their end.
  bool run();

  /// Ranks that have not come to their end, ascending.
  llvm::SmallVector<int64_t> getStuck() const;
  /// The event at which a stuck rank stands.
  const CommunicationEvent &getCurrent(int64_t rank) const;

private:
  const CommunicationEvent *peek(int64_t rank) const;
  bool canPass(const CommunicationEvent &event) const;

  std::map<int64_t, std::vector<CommunicationEvent>> events;
  std::map<int64_t, size_t> next;
};

} // namespace cleave

#endif
