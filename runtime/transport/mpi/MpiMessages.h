//===- MpiMessages.h - MPI calls with deadlines ---------------------------===//
//
// Non-blocking MPI operations that are tested in a loop, so that each wait ends
// at its deadline and can tell which rank it was waiting for.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_MPI_MPIMESSAGES_H
#define CLEAVE_RUNTIME_TRANSPORT_MPI_MPIMESSAGES_H

#include "runtime/transport/MessageGroup.h"
#include "runtime/transport/Waiting.h"

#include <deque>
#include <mpi.h>
#include <vector>

namespace cleave::rt {

/// Throws Failure (ExitPeer) with MPI's own words when `code` is an error.
void checkMpi(int code, const char *what);

/// Messages on one communicator of all ranks.
class MpiMessages {
public:
  /// How this object's own waits behave.
  Waiting waiting;

  /// Takes a private copy of `parent`.
  void open(MPI_Comm parent);
  void close();

  /// See ExchangeFn; `ranks` are the members, `self` this rank's place.
  void exchange(const std::vector<int> &ranks, int self, int tag,
                std::span<const Exchanged> parts, const Call &call);
  /// Copies the message and returns; it leaves while later calls are made.
  void send(int to, const void *data, size_t bytes, int tag, const Call &call);
  void recv(int from, void *data, size_t bytes, int tag, const Call &call);
  /// Waits until all sent messages have left.
  void drain(const Call &call);
  /// Moves sent messages on, and frees those that have left.
  void progress(const Call &call);

private:
  struct Pending {
    MPI_Request request;
    int rank;
    size_t bytes; ///< expected; 0 for a send
  };
  struct Outgoing {
    std::vector<std::byte> data;
    std::vector<Pending> requests;
  };

  void startSend(int to, const std::byte *data, size_t bytes, int tag,
                 std::vector<Pending> &requests);
  void startRecv(int from, std::byte *data, size_t bytes, int tag,
                 std::vector<Pending> &requests);
  void wait(std::vector<Pending> &requests, const Call &call);
  bool test(Pending &pending, const Call &call);

  MPI_Comm comm = MPI_COMM_NULL;
  std::deque<Outgoing> outgoing;
  size_t outgoingBytes = 0;
};

} // namespace cleave::rt

#endif
