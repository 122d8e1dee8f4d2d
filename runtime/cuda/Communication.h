//===- Communication.h - collectives and messages by NCCL -----------------===//
//
// One communicator for each group that the rank is in and for each channel of
// messages: sender, receiver and tag, so that messages match as they do on
// other transports. Each has a stream, which waits for the step's before and is
// waited for after.
//
// A message is copied first: its sender goes on, whether or not somebody waits
// for it, as the order of pipeline schedules needs.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_COMMUNICATION_H
#define CLEAVE_RUNTIME_CUDA_COMMUNICATION_H

#include "runtime/Device.h"
#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Nccl.h"
#include "runtime/cuda/Streams.h"

#include <map>
#include <memory>
#include <optional>

namespace cleave::rt::cuda {

class NcclGroup;

class Communication {
public:
  /// `stream`: the step's.
  Communication(Memory &memory, Stream &stream, Transport &transport,
                Deadlines deadlines);
  ~Communication();

  void connect(const GroupTable &groups, const ChannelTable &channels);
  Collectives &group(int index);
  void send(int to, const void *data, size_t bytes, int tag);
  void recv(int from, void *data, size_t bytes, int tag);

  /// Makes the step's stream wait for all that was sent.
  void join();
  /// Waits for the step's stream. Throws Failure (ExitPeer) when NCCL has
  /// found an error, or a collective is late; the communicators are ended then.
  void wait();

private:
  struct Channel;
  NcclComm makeComm(const std::vector<int> &members, int tag);
  Channel &channel(const std::array<int, 3> &key);
  void abort();

  Memory &memory;
  Stream &stream;
  Transport &transport;
  Deadlines deadlines;
  std::vector<NcclComm> comms;
  std::vector<std::unique_ptr<NcclGroup>> groups;
  std::map<std::array<int, 3>, std::unique_ptr<Channel>> channels;
};

} // namespace cleave::rt::cuda

#endif
