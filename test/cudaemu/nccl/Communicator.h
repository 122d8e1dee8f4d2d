//===- Communicator.h - a rank of a communicator --------------------------===//
#pragma once

#include "driver/Driver.h"
#include "nccl/Segment.h"

namespace cudaemu {

struct Communicator {
  std::unique_ptr<Segment> segment;
  int rank = 0;
  CudaContext *device = nullptr;
  uint64_t controls = 0;    ///< Control pieces posted.
  uint64_t collectives = 0; ///< Data pieces posted.
  Chain chain;              ///< Its operations run in the order of the calls.
  std::atomic<int> asyncError = 0;
  std::atomic<bool> isAborted = false;

  /// Gives `mine` to all ranks and gets theirs, by rank; blocks. Throws
  /// std::runtime_error when a rank does not come.
  std::vector<std::string> exchange(const std::string &mine);
};

/// A call of a collective or of a message, before it is on its stream.
struct Call {
  Operation operation;
  uint64_t send, receive;
  Communicator *comm;
  Stream *stream;
};
size_t bytesOfType(int type);

/// What one rank does for a call, asked until it says that it is done.
class Step {
public:
  virtual ~Step() = default;
  virtual bool poll(Work &work) = 0;
};
std::unique_ptr<Step> makeCollective(const Call &call);
std::unique_ptr<Step> makeMessage(const Call &call);

/// Seconds that an operation waits for the other ranks.
double patience();

/// into = into OP from, `count` elements of `type` at each. Of what is marked,
/// the marks too.
void reduce(int type, int op, char *into, const char *from, size_t count);
/// into = into / by
void divide(int type, char *into, size_t count, int by);

} // namespace cudaemu
