//===- Collective.cpp - collectives of all ranks --------------------------===//
//
// Each rank posts its data, waits until all have, compares what the others do
// and computes its own result, in the order of the ranks.
//
//===----------------------------------------------------------------------===//

#include "abi/Nccl.h"
#include "device/Environment.h"
#include "nccl/Communicator.h"

#include <algorithm>
#include <cstring>

using namespace cudaemu;
using std::chrono::steady_clock;

namespace {
class Collective : public Step {
public:
  explicit Collective(const Call &call)
      : call(call), comm(*call.comm), segment(*comm.segment),
        element(bytesOfType(call.operation.type)) {}
  bool poll(Work &work) override;

private:
  size_t sendBytes() const;
  void post(Work &work);
  bool allPosted() const;
  void compare() const;
  void finish(Work &work);
  /// Reduces `bytes` bytes at `offset` of all ranks' data into the result.
  void reduceAll(Work &work, size_t offset, size_t bytes);
  /// Copies a rank's data to `offset` of the result.
  void take(Work &work, int rank, size_t bytes, size_t offset);
  [[noreturn]] void fail(const std::string &what) const {
    comm.asyncError = nccl::InvalidUsage;
    throw Fault{cuda::LaunchFailed,
                "nccl: rank " + std::to_string(comm.rank) + ": " + what};
  }

  Call call;
  Communicator &comm;
  Segment &segment;
  size_t element;
  uint64_t piece = 0; ///< 0: not posted yet.
  steady_clock::time_point posted;
};
} // namespace

size_t Collective::sendBytes() const {
  size_t bytes = call.operation.count * element;
  if (call.operation.kind == Operation::ReduceScatter)
    return bytes * segment.ranks();
  if (call.operation.kind == Operation::Broadcast)
    return comm.rank == call.operation.root ? bytes : 0;
  return bytes;
}

void Collective::post(Work &work) {
  piece = ++comm.collectives;
  posted = steady_clock::now();
  size_t bytes = sendBytes();
  if (bytes * 2 > Segment::payloadBytes)
    fail(call.operation.text() + " is larger than the emulator takes");
  char *payload = segment.payload(comm.rank, piece);
  Segment::Rank &own = segment.rank(comm.rank);
  own.data.pieces[piece % 2] = {
      call.operation, comm.device->context.copyOut(work, call.send, bytes,
                                                   payload, payload + bytes)};
  own.data.posted.store(piece, std::memory_order_release);
}

bool Collective::allPosted() const {
  for (int k = 0; k < segment.ranks(); ++k) {
    if (segment.rank(k).data.posted.load(std::memory_order_acquire) >= piece)
      continue;
    std::chrono::duration<double> waited = steady_clock::now() - posted;
    if (waited.count() > patience())
      fail("rank " + std::to_string(k) + " does not come to " +
           call.operation.text());
    return false;
  }
  return true;
}

void Collective::compare() const {
  for (int k = 0; k < segment.ranks(); ++k) {
    const Operation &other = segment.rank(k).data.pieces[piece % 2].operation;
    if (other != call.operation)
      fail("operation " + std::to_string(piece) + " of the communicator is " +
           call.operation.text() + ", but on rank " + std::to_string(k) +
           " it is " + other.text());
  }
}

void Collective::reduceAll(Work &work, size_t offset, size_t bytes) {
  std::vector<char> sum(bytes);
  std::vector<uint8_t> marks(bytes, 1);
  int op = call.operation.op, type = call.operation.type;
  size_t all = sendBytes(), count = bytes / element;
  for (int k = 0; k < segment.ranks(); ++k) {
    const char *from = segment.payload(k, piece);
    if (k == 0)
      std::memcpy(sum.data(), from + offset, bytes);
    else
      reduce(type, op, sum.data(), from + offset, count);
    if (segment.rank(k).data.pieces[piece % 2].hasMarks)
      for (size_t b = 0; b < bytes; ++b)
        marks[b] &= from[all + offset + b];
  }
  if (op == nccl::Avg)
    divide(type, sum.data(), count, segment.ranks());
  comm.device->context.copyIn(work, call.receive, bytes, sum.data(),
                              marks.data());
}

void Collective::take(Work &work, int rank, size_t bytes, size_t offset) {
  const char *from = segment.payload(rank, piece);
  bool hasMarks = segment.rank(rank).data.pieces[piece % 2].hasMarks;
  comm.device->context.copyIn(
      work, call.receive + offset, bytes, from,
      hasMarks ? reinterpret_cast<const uint8_t *>(from + bytes) : nullptr);
}

void Collective::finish(Work &work) {
  const Operation &operation = call.operation;
  size_t bytes = operation.count * element;
  switch (operation.kind) {
  case Operation::AllReduce:
    return reduceAll(work, 0, bytes);
  case Operation::Reduce:
    if (comm.rank == operation.root)
      reduceAll(work, 0, bytes);
    return;
  case Operation::ReduceScatter:
    return reduceAll(work, comm.rank * bytes, bytes);
  case Operation::Broadcast:
    return take(work, operation.root, bytes, 0);
  default:
    for (int k = 0; k < segment.ranks(); ++k)
      take(work, k, bytes, k * bytes);
  }
}

bool Collective::poll(Work &work) {
  if (comm.isAborted)
    return true;
  if (!piece)
    post(work);
  if (!allPosted())
    return false;
  compare();
  finish(work);
  return true;
}

std::unique_ptr<Step> cudaemu::makeCollective(const Call &call) {
  return std::make_unique<Collective>(call);
}
