//===- Loopback.cpp - ranks as threads of one process ---------------------===//
//
// Collectives are SharedGroup's, on regions of the hub. Messages go through one
// mailbox per receiving rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Loopback.h"

#include "runtime/support/Error.h"
#include "runtime/transport/SharedGroup.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <thread>

namespace cleave::rt {

namespace {
/// A region of zeroed pages, touched only where it is used.
class MappedRegion {
public:
  MappedRegion()
      : memory(mmap(nullptr, sizeof(SharedRegion), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory == MAP_FAILED)
      fail(ExitDevice, "no memory for a shared window of {} bytes",
           sizeof(SharedRegion));
  }
  MappedRegion(const MappedRegion &) = delete;
  MappedRegion &operator=(const MappedRegion &) = delete;
  ~MappedRegion() { munmap(memory, sizeof(SharedRegion)); }
  SharedRegion *get() const { return static_cast<SharedRegion *>(memory); }

private:
  void *memory;
};

/// Messages that wait for one rank, by sender and tag.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;
};
} // namespace

class LoopbackHub {
public:
  explicit LoopbackHub(int size) : size(size), mailboxes(size) {}

  /// The region of `rank` in group `index` of the table (-1: the world,
  /// -2: the world during start-up).
  SharedRegion *region(int index, int rank) {
    std::lock_guard<std::mutex> lock(mutex);
    auto &entry = regions[{index, rank}];
    if (!entry)
      entry = std::make_unique<MappedRegion>();
    return entry->get();
  }

  void stopAll() {
    stop = true;
    for (Mailbox &mailbox : mailboxes) {
      std::lock_guard<std::mutex> lock(mailbox.mutex);
      mailbox.arrived.notify_all();
    }
  }

  const int size;
  std::atomic<bool> stop{false};
  std::vector<Mailbox> mailboxes;

private:
  std::mutex mutex;
  std::map<std::pair<int, int>, std::unique_ptr<MappedRegion>> regions;
};

namespace {
class LoopbackTransport final : public Transport {
public:
  LoopbackTransport(std::shared_ptr<LoopbackHub> hub, int rank,
                    Deadlines deadlines)
      : hub(std::move(hub)), self(rank), deadlines(deadlines) {
    std::vector<int> all(size());
    for (int i = 0; i < size(); ++i)
      all[i] = i;
    everyone = makeGroup(-2, all, deadlines.start);
  }

  int rank() const override { return self; }
  int size() const override { return hub->size; }
  int localRank() const override { return self; }
  int localSize() const override { return hub->size; }
  Collectives &world() override { return *everyone; }

  void connect(const GroupTable &table) override {
    std::vector<std::vector<int>> own = groupsOfRank(table, self);
    for (size_t i = 0; i < own.size(); ++i)
      groups.push_back(own[i].empty() ? nullptr
                                      : makeGroup(static_cast<int>(i), own[i],
                                                  deadlines.operation));
    everyone->barrier("connect");
    everyone = makeGroup(-1, everyone->members(), deadlines.operation);
  }

  Collectives &group(int index) override {
    if (index < 0 || index >= static_cast<int>(groups.size()) || !groups[index])
      fail(ExitPlan, "rank {} is in no group {}", self, index);
    return *groups[index];
  }

  void send(int to, const void *data, size_t bytes, int tag,
            const char *op) override {
    const auto *begin = static_cast<const std::byte *>(data);
    Mailbox &mailbox = hub->mailboxes.at(to);
    std::lock_guard<std::mutex> lock(mailbox.mutex);
    mailbox.messages[{self, tag}].emplace_back(begin, begin + bytes);
    mailbox.arrived.notify_all();
  }

  void recv(int from, void *data, size_t bytes, int tag,
            const char *op) override {
    Call call("recv", op);
    Mailbox &mailbox = hub->mailboxes[self];
    std::unique_lock<std::mutex> lock(mailbox.mutex);
    auto &queue = mailbox.messages[{from, tag}];
    bool came = mailbox.arrived.wait_for(
        lock, std::chrono::duration<double>(deadlines.operation),
        [&] { return !queue.empty() || hub->stop; });
    if (!came)
      failLate(from, call, deadlines.operation);
    if (queue.empty())
      failStopped(call);
    std::vector<std::byte> message = std::move(queue.front());
    queue.pop_front();
    if (message.size() != bytes)
      failDisagree(from, call);
    if (bytes)
      std::memcpy(data, message.data(), bytes);
  }

  void finish() override {}
  void abort(int, const std::string &) override { hub->stopAll(); }
  bool isStopped() const override { return hub->stop; }

private:
  std::unique_ptr<Collectives>
  makeGroup(int index, const std::vector<int> &ranks, double timeout) {
    std::vector<SharedRegion *> regions;
    int place = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
      regions.push_back(hub->region(index, ranks[i]));
      if (ranks[i] == self)
        place = static_cast<int>(i);
    }
    Waiting waiting{timeout, Waiting::patienceFor(hub->size), &hub->stop, {}};
    return std::make_unique<SharedGroup>(ranks, place, std::move(regions),
                                         std::move(waiting));
  }

  std::shared_ptr<LoopbackHub> hub;
  int self;
  Deadlines deadlines;
  std::unique_ptr<Collectives> everyone;
  std::vector<std::unique_ptr<Collectives>> groups;
};
} // namespace

std::shared_ptr<LoopbackHub> makeLoopbackHub(int size) {
  return std::make_shared<LoopbackHub>(size);
}

std::unique_ptr<Transport>
makeLoopbackTransport(std::shared_ptr<LoopbackHub> hub, int rank,
                      Deadlines deadlines) {
  return std::make_unique<LoopbackTransport>(std::move(hub), rank, deadlines);
}

} // namespace cleave::rt
