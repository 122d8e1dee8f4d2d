//===- MpiTransport.cpp - ranks are MPI processes -------------------------===//
//
// Groups whose members are all on this host use shared memory (SharedGroup on
// an MPI shared window), which takes half the time of MPI's own collectives and
// has a fixed order; the others use messages (MessageGroup). Built as a shared
// object of its own, the only one that is linked to an MPI.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Log.h"
#include "runtime/transport/LoadMpi.h"
#include "runtime/transport/SharedGroup.h"
#include "runtime/transport/mpi/MpiMessages.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
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
  int localSize() const override { return nodeSize; }
  Collectives &world() override { return *everyone; }
  void connect(const GroupTable &table) override;
  Collectives &group(int index) override;
  void send(int to, const void *data, size_t bytes, int tag,
            const char *op) override {
    messages.send(to, data, bytes, tag, Call("send", op));
  }
  void recv(int from, void *data, size_t bytes, int tag,
            const char *op) override {
    messages.recv(from, data, bytes, tag, Call("recv", op));
  }
  void finish() override;
  void abort(int exitCode, const std::string &) override {
    MPI_Abort(MPI_COMM_WORLD, exitCode);
  }

private:
  std::unique_ptr<Collectives> makeGroup(int index,
                                         const std::vector<int> &ranks);
  /// Regions of all ranks of this host, for `count` groups and the world.
  void shareRegions(size_t count);
  bool onThisNode(const std::vector<int> &ranks) const;

  MpiOptions options;
  int self = 0, count = 1, nodeRank = 0, nodeSize = 1, spins = 0;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  /// Index on this node of each rank; -1 where it is on another.
  std::vector<int> nodeIndex;
  /// First region of each rank of this node; empty when nothing is shared.
  std::vector<SharedRegion *> regions;
  MpiMessages messages, exchanges;
  std::unique_ptr<Collectives> everyone;
  std::vector<std::unique_ptr<Collectives>> groups;
};
} // namespace

/// Turns of a wait before yielding: few when ranks must share cores.
static int spinsFor(int ranksOfNode) {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  return ranksOfNode <= cores ? 20000 : 50;
}

MpiTransport::MpiTransport(const MpiOptions &options)
    : options(options), messages(options.deadlines.operation, 1000),
      exchanges(options.deadlines.start, 1000) {
  {
    StartWatch watch(options.deadlines.start);
    int provided = 0;
    checkMpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided),
             "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    messages.open(MPI_COMM_WORLD);
    exchanges.open(MPI_COMM_WORLD);
    checkMpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, self,
                                 MPI_INFO_NULL, &node),
             "MPI_Comm_split_type");
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    MPI_Comm_rank(node, &nodeRank);
    MPI_Comm_size(node, &nodeSize);
  }
  spins = spinsFor(nodeSize);

  std::vector<int> nodeMembers(nodeSize), all(count);
  checkMpi(
      MPI_Allgather(&self, 1, MPI_INT, nodeMembers.data(), 1, MPI_INT, node),
      "MPI_Allgather");
  nodeIndex.assign(count, -1);
  for (int i = 0; i < nodeSize; ++i)
    nodeIndex[nodeMembers[i]] = i;
  for (int i = 0; i < count; ++i)
    all[i] = i;
  everyone = makeGroup(-1, all);
}

MpiTransport::~MpiTransport() {
  groups.clear();
  everyone.reset();
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
  MPI_Comm_free(&node);
  MPI_Finalize();
}

bool MpiTransport::onThisNode(const std::vector<int> &ranks) const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](int rank) { return nodeIndex[rank] >= 0; });
}

void MpiTransport::shareRegions(size_t groupCount) {
  SharedRegion *own = nullptr;
  size_t bytes = (groupCount + 1) * sizeof(SharedRegion);
  int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 64,
                                     MPI_INFO_NULL, node, &own, &window);
  checkMpi(code, "MPI_Win_allocate_shared");
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (size_t i = 0; i <= groupCount; ++i) {
    new (&own[i].arrived) std::atomic<uint64_t>(0);
    for (auto &signature : own[i].signature)
      new (&signature) std::atomic<uint64_t>(0);
  }
  for (int i = 0; i < nodeSize; ++i) {
    MPI_Aint size;
    int unit;
    SharedRegion *theirs = nullptr;
    checkMpi(MPI_Win_shared_query(window, i, &size, &unit, &theirs),
             "MPI_Win_shared_query");
    regions.push_back(theirs);
  }
}

std::unique_ptr<Collectives>
MpiTransport::makeGroup(int index, const std::vector<int> &ranks) {
  int place = static_cast<int>(std::find(ranks.begin(), ranks.end(), self) -
                               ranks.begin());
  if (regions.empty() || !onThisNode(ranks)) {
    auto exchange = [this, ranks, place, tag = index + 1](
                        std::span<const Exchanged> parts, const Call &call) {
      exchanges.exchange(ranks, place, tag, parts, call);
    };
    return std::make_unique<MessageGroup>(ranks, place, exchange);
  }
  std::vector<SharedRegion *> own;
  for (int rank : ranks)
    own.push_back(regions[nodeIndex[rank]] + index + 1);
  return std::make_unique<SharedGroup>(ranks, place, std::move(own),
                                       options.deadlines.operation, spins,
                                       nullptr);
}

void MpiTransport::connect(const GroupTable &table) {
  if (options.shareMemory && nodeSize > 1)
    shareRegions(table.size());
  everyone->barrier("connect");
  exchanges.setTimeout(options.deadlines.operation);
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

void MpiTransport::finish() {
  messages.drain(Call("send", "end of run"));
  everyone->barrier("end of run");
}

} // namespace cleave::rt

extern "C" cleave::rt::MakeMpiTransportFn cleaveMakeMpiTransport;

extern "C" cleave::rt::Transport *
cleaveMakeMpiTransport(const cleave::rt::MpiOptions &options) {
  return new cleave::rt::MpiTransport(options);
}
