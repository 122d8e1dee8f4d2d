//===- Communication.h - ranks as automata that wait for each other -------===//
//
// Each rank has a list of events and stands at the first it has not passed. A
// meeting (a collective) is passed when all its members stand at it, a send at
// once, a receive when the message was sent and not yet received. `run` moves
// ranks on until none can move. Moving is confluent: an event that can be
// passed stays so until it is, whatever else moves, so a run that gets stuck
// does so in every order.
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

enum class CommunicationKind { Meeting, Send, Receive };

/// What a rank does next.
struct CommunicationEvent {
  CommunicationKind kind = CommunicationKind::Meeting;
  /// What is met or sent: equal for all that take part.
  std::string subject;
  /// Ranks that take part, this one too, ascending.
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
  /// Places of the sends that nobody has received.
  llvm::SmallVector<int64_t> getUnreceived() const;

private:
  const CommunicationEvent *peek(int64_t rank) const;
  bool canPass(const CommunicationEvent &event) const;
  void pass(const CommunicationEvent &event);

  std::map<int64_t, std::vector<CommunicationEvent>> events;
  std::map<int64_t, size_t> next;
  /// Places of the sends under way, by subject.
  std::map<std::string, std::vector<int64_t>> underWay;
};

} // namespace cleave

#endif
