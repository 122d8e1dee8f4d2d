//===- Message.cpp - send and receive -------------------------------------===//
//
// A send is done when its message is received, as for large messages of NCCL:
// two ranks that send first and receive then, outside of a group, hang.
//
//===----------------------------------------------------------------------===//

#include "abi/Nccl.h"
#include "nccl/Communicator.h"

#include <cstring>

using namespace cudaemu;
using std::chrono::steady_clock;

namespace {
class Message : public Step {
public:
  explicit Message(const Call &call)
      : call(call), comm(*call.comm),
        pair(call.operation.kind == Operation::Send
                 ? comm.segment->pair(comm.rank, call.operation.root)
                 : comm.segment->pair(call.operation.root, comm.rank)),
        bytes(call.operation.count * bytesOfType(call.operation.type)) {}
  bool poll(Work &work) override;

private:
  bool send(Work &work);
  bool receive(Work &work);
  [[noreturn]] void fail(const std::string &what) const {
    comm.asyncError = nccl::InvalidUsage;
    throw Fault{cuda::LaunchFailed,
                "nccl: rank " + std::to_string(comm.rank) + ": " + what};
  }

  Call call;
  Communicator &comm;
  Segment::Pair &pair;
  size_t bytes;
  uint64_t number = 0; ///< Of the message, once it is sent.
  steady_clock::time_point started = steady_clock::now();
};
} // namespace

bool Message::send(Work &work) {
  if (!number) {
    if (pair.received.load(std::memory_order_acquire) != pair.sent)
      return false; // the one before
    if (bytes * 2 > Segment::payloadBytes)
      fail(call.operation.text() + " is larger than the emulator takes");
    char *to = comm.segment->message(comm.rank, call.operation.root);
    pair.piece = {call.operation, comm.device->context.copyOut(
                                      work, call.send, bytes, to, to + bytes)};
    number = pair.sent + 1;
    pair.sent.store(number, std::memory_order_release);
  }
  return pair.received.load(std::memory_order_acquire) >= number;
}

bool Message::receive(Work &work) {
  if (pair.sent.load(std::memory_order_acquire) == pair.received)
    return false;
  const Operation &sent = pair.piece.operation;
  if (sent.count != call.operation.count || sent.type != call.operation.type)
    fail(call.operation.text() + ", but that rank sends " +
         std::to_string(sent.count) + ": " + sent.text());
  const char *from = comm.segment->message(call.operation.root, comm.rank);
  comm.device->context.copyIn(
      work, call.receive, bytes, from,
      pair.piece.hasMarks ? reinterpret_cast<const uint8_t *>(from + bytes)
                          : nullptr);
  pair.received.fetch_add(1, std::memory_order_release);
  return true;
}

bool Message::poll(Work &work) {
  if (comm.isAborted)
    return true;
  if (call.operation.kind == Operation::Send ? send(work) : receive(work))
    return true;
  std::chrono::duration<double> waited = steady_clock::now() - started;
  if (waited.count() > patience())
    fail(call.operation.text() + " finds no counterpart");
  return false;
}

std::unique_ptr<Step> cudaemu::makeMessage(const Call &call) {
  return std::make_unique<Message>(call);
}
