//===- SharedGroup.h - collectives through shared memory ------------------===//
//
// For members that can map one another's memory: threads of one process, or
// ranks of one host. Each member owns a region: a counter of the rounds it has
// arrived in, and two windows. A round is: write the own window, arrive, wait
// for all others, read their windows. Rounds alternate between the windows: who
// writes window w in round n + 2 knows that all have arrived in n + 1, so all
// have done reading w in round n. One barrier a round is enough.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_SHAREDGROUP_H
#define CLEAVE_RUNTIME_TRANSPORT_SHAREDGROUP_H

#include "runtime/transport/Transport.h"
#include "runtime/transport/Waiting.h"

#include <atomic>
#include <cstdint>
#include <functional>

namespace cleave::rt {

/// What one member shares; zero-initialised memory is its start state.
struct SharedRegion {
  static constexpr int64_t WindowBytes = 512 * 1024;

  alignas(64) std::atomic<uint64_t> arrived;
  /// What the member is doing in round n, at n % 2: see Call.
  std::atomic<uint64_t> signature[2];
  alignas(64) std::byte windows[2][WindowBytes];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

class SharedGroup final : public Collectives {
public:
  /// `regions[i]` belongs to member i.
  SharedGroup(std::vector<int> ranks, int self,
              std::vector<SharedRegion *> regions, Waiting waiting);

  void barrier(const char *op) override;
  void allReduce(const void *in, void *out, int64_t count, int32_t dtype,
                 int32_t reduction, const char *op) override;
  void allGather(const void *in, void *out, int64_t outer, int64_t chunk,
                 int32_t dtype, const char *op) override;
  void reduceScatter(const void *in, void *out, int64_t outer, int64_t chunk,
                     int32_t dtype, int32_t reduction, const char *op) override;
  void allToAll(const void *in, void *out, int64_t chunk, int32_t dtype,
                const char *op) override;
  void broadcast(void *buffer, int64_t count, int32_t dtype, int32_t root,
                 const char *op) override;
  void defer() override { isDeferred = true; }
  void finish() override;

private:
  /// The own window of the next round, to be written before `meet`.
  std::byte *ownWindow() { return window(self, round + 1); }
  std::byte *window(int member, uint64_t inRound) {
    return regions[member]->windows[inRound & 1];
  }
  /// Arrives in the next round and waits until all members have.
  void meet(const Call &call) {
    arrive(call);
    awaitAll(call);
  }
  void arrive(const Call &call);
  void awaitAll(const Call &call);
  void await(int member, const Call &call);
  /// Does `total` bytes in pieces of at most `step`: `fill(begin, length)` puts
  /// one into the own window, `read(begin, length)` takes it from all. When
  /// deferred, all but the first `fill` is left to `finish`.
  template <typename Fill, typename Read>
  void exchange(const Call &call, int64_t total, int64_t step, Fill fill,
                Read read);

  void reduceDirectly(const std::byte *in, std::byte *out, int64_t count,
                      int32_t dtype, int32_t reduction, const Call &call);
  void reduceByParts(const std::byte *in, std::byte *out, int64_t count,
                     int32_t dtype, int32_t reduction, const Call &call);

  std::vector<SharedRegion *> regions;
  Waiting waiting;
  uint64_t round = 0;
  bool isDeferred = false;
  std::function<void()> pending; ///< the rest of a deferred collective
};

} // namespace cleave::rt

#endif
