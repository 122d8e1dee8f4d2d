//===- SharedOutbox.h - messages through shared memory --------------------===//
//
// Each rank of a host owns an outbox: a data area, and a lane for each other
// rank of the host with the table of the messages for it. A send copies into
// the data area and publishes an entry; the receiver copies out, on its own,
// even while the sender computes. What finds no room waits in the sender's
// private memory and moves up when `progress` is called: a send never blocks.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_SHAREDOUTBOX_H
#define CLEAVE_RUNTIME_TRANSPORT_SHAREDOUTBOX_H

#include "runtime/transport/Waiting.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace cleave::rt {

class SharedOutbox {
public:
  /// Messages of up to this many bytes fit; longer ones go another way.
  static constexpr size_t MaxMessage = size_t{8} << 20;

  /// Size of one rank's outbox on a host of `ranks`.
  static size_t bytesFor(int ranks);
  /// The part at its start that must be zero before use.
  static size_t controlBytesFor(int ranks);

  /// `bases[i]` is the outbox of local rank i, `names[i]` its world rank.
  /// Zeroed memory is the start state.
  SharedOutbox(std::vector<std::byte *> bases, std::vector<int> names,
               int self);

  void send(int to, const void *data, size_t bytes, int tag);
  void recv(int from, void *data, size_t bytes, int tag, const Waiting &waiting,
            const Call &call);
  /// Moves waiting messages into the outbox as far as there is room.
  void progress();
  /// Waits until all messages are in the outbox and have been taken.
  void drain(const Waiting &waiting, const Call &call);

private:
  static constexpr size_t DataBytes = 2 * MaxMessage;
  static constexpr uint64_t Slots = 64;

  struct Entry {
    int64_t tag;
    uint64_t offset, bytes;
    /// Number of this message in its lane, plus one, once it has been taken.
    std::atomic<uint64_t> taken;
  };
  struct Lane {
    alignas(64) std::atomic<uint64_t> published;
    Entry entries[Slots];
  };
  /// A message in the data area, in the order of sends.
  struct Sent {
    int to;
    uint64_t number;
    size_t begin;
  };
  struct Stashed {
    int to, tag;
    std::vector<std::byte> data;
  };

  Lane &lane(int owner, int to) const {
    return reinterpret_cast<Lane *>(bases[owner])[to];
  }
  std::byte *data(int owner) const {
    return bases[owner] + bases.size() * sizeof(Lane);
  }
  bool isTaken(const Sent &sent) const;
  void reclaim();
  /// Start of `bytes` free bytes of the data area; none: no room now.
  bool findRoom(size_t bytes, size_t &begin) const;
  bool trySend(int to, const void *from, size_t bytes, int tag);
  Entry *findMessage(int from, int tag, uint64_t &number);

  std::vector<std::byte *> bases;
  std::vector<int> names;
  int self;
  std::deque<Sent> sent;
  size_t end = 0; ///< where the next message goes
  std::deque<Stashed> stashed;
  /// First message of each lane to this rank that it has not taken.
  std::vector<uint64_t> firstOpen;
};

} // namespace cleave::rt

#endif
