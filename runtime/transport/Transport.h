//===- Transport.h - how ranks reach each other ---------------------------===//
//
// One interface for all transports: groups of ranks with the collectives of
// Abi.h, and point-to-point messages. One conformance suite (test/dist) holds
// for each of them. What every implementation guarantees:
//
//  * reductions combine in the order of the ranks in the group, so equal inputs
//    give equal bits;
//  * nothing blocks for longer than the deadline: a Failure (ExitPeer) then
//    names the rank that did not arrive, the operation and the time;
//  * members that call different operations are told so, not mixed up.
//
// Calls on one transport come from one thread.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_TRANSPORT_H
#define CLEAVE_RUNTIME_TRANSPORT_TRANSPORT_H

#include "runtime/Abi.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cleave::rt {

/// The collectives of one group, for one of its members. Sizes and layouts are
/// those of Abi.h; `in` and `out` may be the same buffer where sizes are equal.
class Collectives {
public:
  virtual ~Collectives() = default;

  virtual void barrier(const char *op) = 0;
  virtual void allReduce(const void *in, void *out, int64_t count,
                         int32_t dtype, int32_t reduction, const char *op) = 0;
  virtual void allGather(const void *in, void *out, int64_t outer,
                         int64_t chunk, int32_t dtype, const char *op) = 0;
  virtual void reduceScatter(const void *in, void *out, int64_t outer,
                             int64_t chunk, int32_t dtype, int32_t reduction,
                             const char *op) = 0;
  virtual void allToAll(const void *in, void *out, int64_t chunk, int32_t dtype,
                        const char *op) = 0;
  /// The next collective (not a broadcast or barrier) may return before it has
  /// its result: `in` and `out` belong to it until `finish`. A transport that
  /// cannot do so completes it at once.
  virtual void defer() {}
  /// Completes what was deferred, if anything; the next collective does so too.
  virtual void finish() {}
  /// `root` is an index into the group.
  virtual void broadcast(void *buffer, int64_t count, int32_t dtype,
                         int32_t root, const char *op) = 0;

  /// Ranks of the members, in group order, and this rank's place among them.
  const std::vector<int> &members() const { return ranks; }
  int size() const { return static_cast<int>(ranks.size()); }
  int index() const { return self; }

protected:
  Collectives(std::vector<int> ranks, int self)
      : ranks(std::move(ranks)), self(self) {}

  std::vector<int> ranks;
  int self;
};

/// Groups as in manifest.json: for each, disjoint lists of member ranks.
using GroupTable = std::vector<std::vector<std::vector<int>>>;

/// Deadlines in seconds.
struct Deadlines {
  double operation = 300;
  double start = 300;
};

/// One rank's end of a transport.
class Transport {
public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Place and number among the ranks of this host.
  virtual int localRank() const = 0;
  virtual int localSize() const = 0;

  /// All ranks as one group; usable at once.
  virtual Collectives &world() = 0;
  /// Makes the groups of a program; all ranks call it with the same table.
  virtual void connect(const GroupTable &groups) = 0;
  /// Group `index` of the table; a failure when this rank isn't in it.
  virtual Collectives &group(int index) = 0;

  /// Messages between a pair of ranks with equal tags arrive in order. `send`
  /// copies and returns; `recv` waits.
  virtual void send(int to, const void *data, size_t bytes, int tag,
                    const char *op) = 0;
  virtual void recv(int from, void *data, size_t bytes, int tag,
                    const char *op) = 0;

  /// Waits until every message has left; the last call before the end.
  virtual void finish() = 0;
  /// Ends all ranks because this one has failed. May return (loopback).
  virtual void abort(int exitCode, const std::string &message) = 0;
  /// Whether another rank did, for who waits for something else than a call.
  virtual bool isStopped() const { return false; }
};

/// The group of `me` in each row of `groups`; empty where it is in none.
std::vector<std::vector<int>> groupsOfRank(const GroupTable &groups, int me);

} // namespace cleave::rt

#endif
