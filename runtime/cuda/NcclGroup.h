//===- NcclGroup.h - the collectives of one group by NCCL -----------------===//

#ifndef CLEAVE_RUNTIME_CUDA_NCCLGROUP_H
#define CLEAVE_RUNTIME_CUDA_NCCLGROUP_H

#include "runtime/cuda/Memory.h"
#include "runtime/cuda/Nccl.h"
#include "runtime/cuda/Streams.h"
#include "runtime/transport/Transport.h"

namespace cleave::rt::cuda {

/// Buffers are device memory; calls queue work. NCCL gathers whole buffers: a
/// gather along an inner dim goes through working memory, and copies of rows.
class NcclGroup final : public Collectives {
public:
  /// `step`: the stream of the step. `comm` is null for a group of one.
  NcclGroup(std::vector<int> ranks, int self, NcclComm comm, Memory &memory,
            Stream &step)
      : Collectives(std::move(ranks), self), comm(comm), step(step),
        scratch(memory, "the working memory of collectives") {}

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
  /// Queues `body` on the group's stream, after what the step's has so far. The
  /// step goes on behind it, at once when it was deferred.
  template <typename Body> void queue(Body &&body) {
    finish();
    own.follow(step);
    body();
    isUnderWay = true;
    if (!isDeferred)
      finish();
    isDeferred = false;
  }
  /// Moves [outer, k, chunk] to [k, outer, chunk], or back.
  void moveParts(const void *from, void *to, int64_t outer, size_t chunkBytes,
                 bool isBack);
  void copyWhole(const void *in, void *out, size_t bytes);

  NcclComm comm;
  bool isDeferred = false; ///< the next collective
  bool isUnderWay = false; ///< the step does not wait for it yet
  Stream &step;
  Stream own;
  Scratch scratch;
};

} // namespace cleave::rt::cuda

#endif
