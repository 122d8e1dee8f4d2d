//===- Communication.cpp - collectives and messages by NCCL ---------------===//
//
// The first member of a communicator makes its name, and sends it to the others
// on the host. All ranks go through the tables in the same order, so that a
// rank never waits for one that waits for it.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Communication.h"

#include "runtime/cuda/NcclGroup.h"
#include "runtime/support/Deadline.h"
#include "runtime/transport/Call.h"

#include <algorithm>

namespace cleave::rt::cuda {

Nccl::Nccl() : library({"libnccl.so.2"}, "connects devices") {
  CLEAVE_NCCL_ENTRIES(CLEAVE_FIND_ENTRY)
}

void Nccl::check(Status status, const char *call) const {
  if (status == NcclDone || status == NcclInProgress)
    return;
  const char *words = ncclGetLastError(nullptr);
  fail(ExitPeer, "NCCL: {} failed: {}{}{}", call, ncclGetErrorString(status),
       words && *words ? ": " : "", words ? words : "");
}

const Nccl &nccl() {
  static const Nccl loaded;
  return loaded;
}

/// Messages between one sender and one receiver, with one tag.
struct Communication::Channel {
  NcclComm comm = nullptr;
  Stream stream;
  /// Copies of what was sent in a step, in order: each is on its way until the
  /// step's end.
  std::vector<std::pair<void *, size_t>> copies;
  size_t sent = 0;
};

Communication::Communication(Memory &memory, Stream &stream,
                             Transport &transport, Deadlines deadlines)
    : memory(memory), stream(stream), transport(transport),
      deadlines(deadlines) {}

Communication::~Communication() {
  for (NcclComm comm : comms)
    nccl().ncclCommDestroy(comm);
}

static constexpr int IdTag = 0x4e43;

NcclComm Communication::makeComm(const std::vector<int> &members, int tag) {
  int self = static_cast<int>(
      std::find(members.begin(), members.end(), transport.rank()) -
      members.begin());
  NcclId id;
  if (self == 0) {
    CLEAVE_NCCL(ncclGetUniqueId, &id);
    for (size_t i = 1; i < members.size(); ++i)
      transport.send(members[i], &id, sizeof(id), tag, "start of NCCL");
  } else {
    transport.recv(members[0], &id, sizeof(id), tag, "start of NCCL");
  }
  NcclComm comm = nullptr;
  CLEAVE_NCCL(ncclCommInitRank, &comm, static_cast<int>(members.size()), id,
              self);
  comms.push_back(comm);
  return comm;
}

void Communication::connect(const GroupTable &table,
                            const ChannelTable &routes) {
  int self = transport.rank();
  for (const std::vector<int> &members : groupsOfRank(table, self)) {
    std::unique_ptr<NcclGroup> &made = groups.emplace_back();
    if (members.empty())
      continue;
    auto index = static_cast<int>(
        std::find(members.begin(), members.end(), self) - members.begin());
    NcclComm comm = members.size() > 1 ? makeComm(members, IdTag) : nullptr;
    made = std::make_unique<NcclGroup>(members, index, comm, memory, stream);
  }
  for (const std::array<int, 3> &key : routes) {
    if (key[0] != self && key[1] != self)
      continue;
    auto made = std::make_unique<Channel>();
    made->comm = makeComm({key[0], key[1]}, IdTag);
    channels[key] = std::move(made);
  }
}

Collectives &Communication::group(int index) {
  if (index < 0 || index >= static_cast<int>(groups.size()) || !groups[index])
    fail(ExitPlan, "rank {} is not in group {}", transport.rank(), index);
  return *groups[index];
}

Communication::Channel &Communication::channel(const std::array<int, 3> &key) {
  auto found = channels.find(key);
  if (found == channels.end())
    fail(ExitPlan, "there is no channel from rank {} to rank {} with tag {}",
         key[0], key[1], key[2]);
  return *found->second;
}

void Communication::send(int to, const void *data, size_t bytes, int tag) {
  Channel &c = channel({transport.rank(), to, tag});
  if (c.sent == c.copies.size())
    c.copies.push_back({memory.allocate(bytes, "a message"), bytes});
  auto [copy, size] = c.copies[c.sent++];
  if (size < bytes)
    fail(ExitPlan, "a message to rank {} has {} bytes, the step before sent {}",
         to, bytes, size);
  if (bytes)
    CLEAVE_DRIVER(cuMemcpyDtoDAsync_v2, toDevice(copy), toDevice(data), bytes,
                  stream.handle);
  c.stream.follow(stream);
  CLEAVE_NCCL(ncclSend, copy, bytes, NcclI8, 1, c.comm, c.stream.handle);
}

void Communication::recv(int from, void *data, size_t bytes, int tag) {
  Channel &c = channel({from, transport.rank(), tag});
  c.stream.follow(stream);
  CLEAVE_NCCL(ncclRecv, data, bytes, NcclI8, 0, c.comm, c.stream.handle);
  stream.follow(c.stream);
}

void Communication::join() {
  for (auto &[key, c] : channels)
    if (c->sent) {
      stream.follow(c->stream);
      c->sent = 0;
    }
}

void Communication::abort() {
  for (NcclComm comm : comms)
    nccl().ncclCommAbort(comm);
  comms.clear();
}

void Communication::wait() {
  if (comms.empty()) {
    CLEAVE_DRIVER(cuStreamSynchronize, stream.handle);
    return;
  }
  Deadline deadline(deadlines.operation);
  for (;;) {
    Status status = driver().cuStreamQuery(stream.handle);
    if (status != StatusNotReady)
      return driver().check(status, "cuStreamQuery");
    for (NcclComm comm : comms) {
      Status found = NcclDone;
      CLEAVE_NCCL(ncclCommGetAsyncError, comm, &found);
      if (found == NcclDone || found == NcclInProgress)
        continue;
      std::string words = nccl().ncclGetErrorString(found);
      abort();
      fail(ExitPeer, "NCCL: a collective of rank {} failed: {}",
           transport.rank(), words);
    }
    if (transport.isStopped()) {
      abort();
      failStopped(Call("step", "a collective"));
    }
    if (!deadline.pause()) {
      abort();
      fail(ExitPeer,
           "rank {} waited {} s for the other ranks in a collective of the "
           "step",
           transport.rank(), deadline.seconds());
    }
  }
}

} // namespace cleave::rt::cuda
