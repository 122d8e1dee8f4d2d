//===- MessageGroup.h - collectives from messages -------------------------===//
//
// For members that share no memory. All collectives are built on one step, the
// exchange: a message to and from each other member. All-reduce is an exchange
// of parts, an ordered reduction of the own part, and an exchange of results:
// the bytes of a ring, 2(k-1)/k, and the fixed order that a ring lacks.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_MESSAGEGROUP_H
#define CLEAVE_RUNTIME_TRANSPORT_MESSAGEGROUP_H

#include "runtime/transport/Call.h"
#include "runtime/transport/Transport.h"

#include <functional>
#include <span>

namespace cleave::rt {

/// What an exchange sends to, and takes from, one member; may be empty.
struct Exchanged {
  const std::byte *send = nullptr;
  size_t sendBytes = 0;
  std::byte *receive = nullptr;
  size_t receiveBytes = 0;
};

/// Moves `parts[i]` to and from member i (the own entry is ignored); returns
/// when all has come and all buffers may be used again.
using ExchangeFn =
    std::function<void(std::span<const Exchanged> parts, const Call &call)>;

class MessageGroup final : public Collectives {
public:
  MessageGroup(std::vector<int> ranks, int self, ExchangeFn exchange);

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

private:
  /// `bytes` of working memory, kept between calls.
  std::byte *staging(size_t bytes);

  ExchangeFn exchange;
  std::vector<std::byte> memory;
};

} // namespace cleave::rt

#endif
