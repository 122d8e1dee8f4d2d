//===- Calls.cpp - put collectives and messages on their streams ----------===//
//
// The calls of a group that are on one stream become one piece of work, whose
// parts make progress side by side.
//
//===----------------------------------------------------------------------===//

#include "abi/Nccl.h"
#include "device/Environment.h"
#include "nccl/Communicator.h"

#include <algorithm>
#include <utility>

using namespace cudaemu;

namespace {
struct Group {
  int depth = 0;
  std::vector<Call> calls;
};

/// The calls of one stream, while they run.
struct Running {
  std::vector<std::unique_ptr<Step>> steps;
};
} // namespace

static thread_local Group group;

static bool isMessage(const Call &call) {
  return call.operation.kind >= Operation::Send;
}

static std::shared_ptr<Running> start(const std::vector<Call> &calls) {
  auto made = std::make_shared<Running>();
  for (const Call &call : calls)
    made->steps.push_back(isMessage(call) ? makeMessage(call)
                                          : makeCollective(call));
  return made;
}

/// Collectives of a group run one after the other, as they were called;
/// messages together with them.
static bool poll(const std::vector<Call> &calls, Work &work) {
  if (!work.state)
    work.state = start(calls);
  auto &running = *static_cast<Running *>(work.state.get());
  bool isDone = true, isBehindCollective = false;
  for (size_t k = 0; k < calls.size(); ++k) {
    std::unique_ptr<Step> &step = running.steps[k];
    if (!step || (isBehindCollective && !isMessage(calls[k])))
      continue;
    if (step->poll(work)) {
      step = nullptr;
      continue;
    }
    isDone = false;
    isBehindCollective |= !isMessage(calls[k]);
  }
  for (const std::unique_ptr<Step> &step : running.steps)
    isDone &= !step;
  return isDone;
}

static int put(const std::vector<Call> &calls) {
  CudaContext &device = *calls[0].comm->device;
  if (device.context.error())
    return nccl::UnhandledCudaError;
  std::string name = calls[0].operation.text();
  if (calls.size() > 1)
    name = "group of " + std::to_string(calls.size()) + ": " + name;
  std::vector<Chain *> chains;
  for (const Call &call : calls)
    if (std::find(chains.begin(), chains.end(), &call.comm->chain) ==
        chains.end())
      chains.push_back(&call.comm->chain);
  std::lock_guard<std::mutex> lock(device.context.api);
  device.streams.putChained(
      *calls[0].stream, "nccl " + name,
      [calls](Work &work) { return poll(calls, work); }, chains);
  return nccl::Success;
}

static int putGroup(std::vector<Call> calls) {
  while (!calls.empty()) {
    Stream *stream = calls[0].stream;
    std::vector<Call> same;
    std::erase_if(calls, [&](const Call &call) {
      if (call.stream != stream)
        return false;
      same.push_back(call);
      return true;
    });
    if (int error = put(same))
      return error;
  }
  return nccl::Success;
}

static int add(Operation operation, const void *send, void *receive,
               Communicator *comm, Stream *stream) {
  if (!comm)
    return nccl::InvalidArgument;
  if (!isAlive(comm->device))
    return nccl::UnhandledCudaError;
  bool wrongRoot = operation.root >= comm->segment->ranks() ||
                   (operation.root < 0 && operation.root != -1);
  if (operation.type < 0 || operation.type > nccl::Bfloat16 || wrongRoot ||
      operation.op > nccl::Avg) {
    report("nccl: wrong argument of a call");
    return nccl::InvalidArgument;
  }
  if (operation.count == 0)
    return nccl::Success;
  Call call{operation, reinterpret_cast<uint64_t>(send),
            reinterpret_cast<uint64_t>(receive), comm,
            &streamOf(*comm->device, stream)};
  if (group.depth == 0)
    return put({call});
  group.calls.push_back(call);
  return nccl::Success;
}

extern "C" {

int ncclGroupStart() {
  ++group.depth;
  return nccl::Success;
}

int ncclGroupEnd() {
  if (group.depth == 0)
    return nccl::InvalidUsage;
  if (--group.depth > 0)
    return nccl::Success;
  return putGroup(std::exchange(group.calls, {}));
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type,
                  int op, nccl::CommHandle comm, cuda::StreamHandle stream) {
  return add({Operation::AllReduce, type, op, -1, count}, send, receive, comm,
             stream);
}
int ncclReduce(const void *send, void *receive, size_t count, int type, int op,
               int root, nccl::CommHandle comm, cuda::StreamHandle stream) {
  return add({Operation::Reduce, type, op, root, count}, send, receive, comm,
             stream);
}
int ncclBroadcast(const void *send, void *receive, size_t count, int type,
                  int root, nccl::CommHandle comm, cuda::StreamHandle stream) {
  return add({Operation::Broadcast, type, -1, root, count}, send, receive, comm,
             stream);
}
int ncclAllGather(const void *send, void *receive, size_t sendCount, int type,
                  nccl::CommHandle comm, cuda::StreamHandle stream) {
  return add({Operation::AllGather, type, -1, -1, sendCount}, send, receive,
             comm, stream);
}
int ncclReduceScatter(const void *send, void *receive, size_t receiveCount,
                      int type, int op, nccl::CommHandle comm,
                      cuda::StreamHandle stream) {
  return add({Operation::ReduceScatter, type, op, -1, receiveCount}, send,
             receive, comm, stream);
}
int ncclSend(const void *send, size_t count, int type, int peer,
             nccl::CommHandle comm, cuda::StreamHandle stream) {
  return add({Operation::Send, type, -1, peer, count}, send, nullptr, comm,
             stream);
}
int ncclRecv(void *receive, size_t count, int type, int peer,
             nccl::CommHandle comm, cuda::StreamHandle stream) {
  return add({Operation::Receive, type, -1, peer, count}, nullptr, receive,
             comm, stream);
}
}
