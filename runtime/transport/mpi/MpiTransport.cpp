//===- MpiTransport.cpp - ranks are MPI processes -------------------------===//
//
// Ranks of one host use memory that MPI shares between them (SharedGroup and
// SharedOutbox): a transfer needs neither MPI nor the attention of its sender.
// Others use messages (MessageGroup, MpiMessages). Built as a shared
// object of its own, the only one that is linked to an MPI.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Log.h"
#include "runtime/transport/LoadMpi.h"
#include "runtime/transport/SharedGroup.h"
#include "runtime/transport/SharedOutbox.h"
#include "runtime/transport/mpi/MpiMessages.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace cleave::rt {

namespace {
/// Ends the process when MPI's own start, which has no deadline, hangs.
class StartWatch {
public:
  explicit StartWatch(double seconds)
      : thread([this, seconds] {
          std::unique_lock<std::mutex> lock(mutex);
          if (done.wait_for(lock, std::chrono::duration<double>(seconds),
                            [this] { return started; }))
            return;
          logf(LogLevel::Error, "the other ranks did not start within {} s",
               seconds);
          _exit(ExitPeer);
        }) {}
  ~StartWatch() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      started = true;
    }
    done.notify_all();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable done;
  bool started = false;
  std::thread thread;
};

class MpiTransport final : public Transport {
public:
  explicit MpiTransport(const MpiOptions &options);
  ~MpiTransport() override;

  int rank() const override { return self; }
  int size() const override { return count; }
  int localRank() const override { return nodeRank; }
  int localSize() const override { return static_cast<int>(node.size()); }
  Collectives &world() override { return *everyone; }
  void connect(const GroupTable &table) override;
  Collectives &group(int index) override;
  void send(int to, const void *data, size_t bytes, int tag,
            const char *op) override;
  void recv(int from, void *data, size_t bytes, int tag,
            const char *op) override;
  void finish() override;
  void abort(int exitCode, const std::string &) override {
    MPI_Abort(MPI_COMM_WORLD, exitCode);
  }

private:
  void startMpi();
  std::unique_ptr<Collectives> makeGroup(int index,
                                         const std::vector<int> &ranks);
  /// Makes the shared memory of this host: for each rank an outbox and its
  /// regions for the world and `groupCount` groups.
  void shareMemory(size_t groupCount);
  /// True when messages of this size to or from `rank` use the outbox.
  bool usesOutbox(int rank, size_t bytes) const {
    return outbox && nodeIndex[rank] >= 0 && bytes <= SharedOutbox::MaxMessage;
  }
  void progress();

  MpiOptions options;
  int self = 0, count = 1, nodeRank = 0;
  MPI_Comm nodeComm = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  /// Ranks of this host; and for each rank its place there, or -1.
  std::vector<int> node, nodeIndex;
  /// First region of each rank of this host; empty when nothing is shared.
  std::vector<SharedRegion *> regions;
  std::unique_ptr<SharedOutbox> outbox;
  Waiting waiting;
  MpiMessages messages, exchanges;
  std::unique_ptr<Collectives> everyone;
  std::vector<std::unique_ptr<Collectives>> groups;
};
} // namespace

/// Transports that are open, on an MPI that one of them has started: the last
/// to close ends it.
static std::atomic<int> openTransports{0};
static std::atomic<bool> ownsMpi{false};

/// Starts MPI unless the process has.
static void ensureMpi(bool isResident) {
  int started = 0, ended = 0, level = 0;
  MPI_Finalized(&ended);
  if (ended)
    fail(ExitUsage, "MPI has ended in this process and cannot start again");
  MPI_Initialized(&started);
  if (!started) {
    int wanted = isResident ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    checkMpi(MPI_Init_thread(nullptr, nullptr, wanted, &level),
             "MPI_Init_thread");
    ownsMpi = true;
  }
  MPI_Query_thread(&level);
  if (isResident && level < MPI_THREAD_MULTIPLE)
    fail(ExitUsage, "MPI was started without MPI_THREAD_MULTIPLE: the ranks of "
                    "an open model have threads of their own");
}

void MpiTransport::startMpi() {
  StartWatch watch(options.deadlines.start);
  ensureMpi(options.isResident);
  int nodeSize = 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  messages.open(MPI_COMM_WORLD);
  exchanges.open(MPI_COMM_WORLD);
  checkMpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, self,
                               MPI_INFO_NULL, &nodeComm),
           "MPI_Comm_split_type");
  MPI_Comm_set_errhandler(nodeComm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(nodeComm, &nodeRank);
  MPI_Comm_size(nodeComm, &nodeSize);
  node.resize(nodeSize);
  checkMpi(MPI_Allgather(&self, 1, MPI_INT, node.data(), 1, MPI_INT, nodeComm),
           "MPI_Allgather");
}

MpiTransport::MpiTransport(const MpiOptions &options) : options(options) {
  startMpi();
  ++openTransports;
  nodeIndex.assign(count, -1);
  for (int i = 0; i < localSize(); ++i)
    nodeIndex[node[i]] = i;
  waiting.timeout = options.deadlines.operation;
  waiting.patience = Waiting::patienceFor(localSize());
  waiting.progress = [this] { progress(); };
  messages.waiting = exchanges.waiting = waiting;
  exchanges.waiting.timeout = options.deadlines.start;
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  everyone = makeGroup(-1, all);
}

MpiTransport::~MpiTransport() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized)
    return;
  if (window != MPI_WIN_NULL) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  messages.close();
  exchanges.close();
  MPI_Comm_free(&nodeComm);
  if (--openTransports == 0 && ownsMpi)
    MPI_Finalize();
}

void MpiTransport::progress() {
  messages.progress(Call("send", "a message under way"));
  if (outbox)
    outbox->progress();
}

void MpiTransport::shareMemory(size_t groupCount) {
  std::byte *own = nullptr;
  size_t regionBytes = (groupCount + 1) * sizeof(SharedRegion);
  size_t bytes = regionBytes + SharedOutbox::bytesFor(localSize());
  checkMpi(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1,
                                   MPI_INFO_NULL, nodeComm, &own, &window),
           "MPI_Win_allocate_shared");
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  // Zeros are the start state; windows and data areas stay untouched.
  for (size_t i = 0; i <= groupCount; ++i)
    std::memset(own + i * sizeof(SharedRegion), 0,
                offsetof(SharedRegion, windows));
  std::memset(own + regionBytes, 0, SharedOutbox::controlBytesFor(localSize()));
  std::vector<std::byte *> outboxes;
  for (int i = 0; i < localSize(); ++i) {
    MPI_Aint size;
    int unit;
    std::byte *theirs = nullptr;
    checkMpi(MPI_Win_shared_query(window, i, &size, &unit, &theirs),
             "MPI_Win_shared_query");
    regions.push_back(reinterpret_cast<SharedRegion *>(theirs));
    outboxes.push_back(theirs + regionBytes);
  }
  outbox = std::make_unique<SharedOutbox>(std::move(outboxes), node, nodeRank);
}

std::unique_ptr<Collectives>
MpiTransport::makeGroup(int index, const std::vector<int> &ranks) {
  int place = static_cast<int>(std::find(ranks.begin(), ranks.end(), self) -
                               ranks.begin());
  bool onThisHost = std::all_of(ranks.begin(), ranks.end(),
                                [&](int rank) { return nodeIndex[rank] >= 0; });
  if (regions.empty() || !onThisHost) {
    auto exchange = [this, ranks, place, tag = index + 1](
                        std::span<const Exchanged> parts, const Call &call) {
      exchanges.exchange(ranks, place, tag, parts, call);
    };
    return std::make_unique<MessageGroup>(ranks, place, exchange);
  }
  std::vector<SharedRegion *> own;
  own.reserve(ranks.size());
  for (int rank : ranks)
    own.push_back(regions[nodeIndex[rank]] + index + 1);
  return std::make_unique<SharedGroup>(ranks, place, std::move(own), waiting);
}

void MpiTransport::connect(const GroupTable &table) {
  if (options.shareMemory && localSize() > 1)
    shareMemory(table.size());
  everyone->barrier("connect");
  exchanges.waiting.timeout = options.deadlines.operation;
  std::vector<std::vector<int>> own = groupsOfRank(table, self);
  for (size_t i = 0; i < own.size(); ++i)
    groups.push_back(own[i].empty() ? nullptr
                                    : makeGroup(static_cast<int>(i), own[i]));
  everyone = makeGroup(-1, everyone->members());
}

Collectives &MpiTransport::group(int index) {
  if (index < 0 || index >= static_cast<int>(groups.size()) || !groups[index])
    fail(ExitPlan, "rank {} is in no group {}", self, index);
  return *groups[index];
}

void MpiTransport::send(int to, const void *data, size_t bytes, int tag,
                        const char *op) {
  if (usesOutbox(to, bytes))
    outbox->send(nodeIndex[to], data, bytes, tag);
  else
    messages.send(to, data, bytes, tag, Call("send", op));
}

void MpiTransport::recv(int from, void *data, size_t bytes, int tag,
                        const char *op) {
  Call call("recv", op);
  if (usesOutbox(from, bytes))
    outbox->recv(nodeIndex[from], data, bytes, tag, waiting, call);
  else
    messages.recv(from, data, bytes, tag, call);
}

void MpiTransport::finish() {
  Call call("send", "end of run");
  messages.drain(call);
  if (outbox)
    outbox->drain(waiting, call);
  everyone->barrier("end of run");
}

} // namespace cleave::rt

extern "C" cleave::rt::MakeMpiTransportFn cleaveMakeMpiTransport;

extern "C" cleave::rt::Transport *
cleaveMakeMpiTransport(const cleave::rt::MpiOptions &options) {
  return new cleave::rt::MpiTransport(options);
}
