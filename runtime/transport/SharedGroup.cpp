//===- SharedGroup.cpp - collectives through shared memory ----------------===//
//
// All collectives go piece by piece through the windows. Two members, or little
// data: everyone reads all windows and reduces all of it, one round a piece.
// Else each member reduces its part of the piece and a second round spreads the
// parts, so that the work does not grow with the number of members. Elements
// are combined in the same order either way.
//
// A deferred collective has put its first piece into the window and arrived:
// the others need not wait for it, and who finishes late finds all in place.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/SharedGroup.h"

#include "runtime/support/Dtype.h"
#include "runtime/transport/Layout.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cleave::rt {

static constexpr int64_t WindowBytes = SharedRegion::WindowBytes;
/// Up to this many bytes one round with all the work beats two rounds.
static constexpr int64_t DirectBytes = 8 * 1024;

SharedGroup::SharedGroup(std::vector<int> ranks, int self,
                         std::vector<SharedRegion *> regions, Waiting waiting)
    : Collectives(std::move(ranks), self), regions(std::move(regions)),
      waiting(std::move(waiting)) {}

void SharedGroup::await(int member, const Call &call) {
  const SharedRegion &theirs = *regions[member];
  auto hasArrived = [&] {
    return theirs.arrived.load(std::memory_order_acquire) >= round;
  };
  waiting.until(hasArrived, ranks[member], call);
  if (theirs.signature[round & 1].load(std::memory_order_relaxed) !=
      call.signature)
    failDisagree(ranks[member], call);
}

void SharedGroup::arrive(const Call &call) {
  ++round;
  SharedRegion &own = *regions[self];
  own.signature[round & 1].store(call.signature, std::memory_order_relaxed);
  own.arrived.store(round, std::memory_order_release);
}

void SharedGroup::awaitAll(const Call &call) {
  for (int member = 0; member < size(); ++member)
    if (member != self)
      await(member, call);
}

void SharedGroup::finish() {
  if (std::function<void()> rest = std::exchange(pending, nullptr))
    rest();
}

template <typename Fill, typename Read>
void SharedGroup::exchange(const Call &call, int64_t total, int64_t step,
                           Fill fill, Read read) {
  finish();
  auto goOn = [=, this](int64_t begin) {
    for (; begin < total; begin += step) {
      int64_t length = std::min(step, total - begin);
      fill(begin, length);
      meet(call);
      read(begin, length);
    }
  };
  if (!std::exchange(isDeferred, false) || total == 0)
    return goOn(0);
  int64_t length = std::min(step, total);
  fill(0, length);
  arrive(call);
  pending = [=, this] {
    awaitAll(call);
    read(0, length);
    goOn(length);
  };
}

void SharedGroup::barrier(const char *op) {
  finish();
  meet(Call("barrier", op));
}

void SharedGroup::reduceDirectly(const std::byte *in, std::byte *out,
                                 int64_t count, int32_t dtype,
                                 int32_t reduction, const Call &call) {
  int64_t bytes = dtypeBytes(dtype);
  auto fill = [=, this](int64_t begin, int64_t length) {
    std::memcpy(ownWindow(), in + begin, length);
  };
  auto read = [=, this](int64_t begin, int64_t length) {
    std::vector<const void *> parts(size());
    for (int member = 0; member < size(); ++member)
      parts[member] = member == self ? in + begin : window(member, round);
    reduceInOrder(parts, out + begin, length / bytes, dtype, reduction);
  };
  exchange(call, count * bytes, WindowBytes / bytes * bytes, fill, read);
}

void SharedGroup::reduceByParts(const std::byte *in, std::byte *out,
                                int64_t count, int32_t dtype, int32_t reduction,
                                const Call &call) {
  int64_t bytes = dtypeBytes(dtype);
  auto fill = [=, this](int64_t begin, int64_t length) {
    std::memcpy(ownWindow(), in + begin, length);
  };
  auto read = [=, this](int64_t begin, int64_t length) {
    auto partBegin = [&](int64_t member) {
      return length / bytes * member / size() * bytes;
    };
    std::vector<const void *> parts(size());
    int64_t first = partBegin(self), mine = partBegin(self + 1) - first;
    for (int member = 0; member < size(); ++member)
      parts[member] = window(member, round) + first;
    reduceInOrder(parts, ownWindow() + first, mine / bytes, dtype, reduction);
    meet(call);
    for (int member = 0; member < size(); ++member) {
      int64_t from = partBegin(member);
      std::memcpy(out + begin + from, window(member, round) + from,
                  partBegin(member + 1) - from);
    }
  };
  exchange(call, count * bytes, WindowBytes / bytes * bytes, fill, read);
}

void SharedGroup::allReduce(const void *in, void *out, int64_t count,
                            int32_t dtype, int32_t reduction, const char *op) {
  Call call("all_reduce", op, {count, dtype, reduction});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  if (size() <= 2 || count * dtypeBytes(dtype) <= DirectBytes)
    reduceDirectly(from, to, count, dtype, reduction, call);
  else
    reduceByParts(from, to, count, dtype, reduction, call);
}

void SharedGroup::allGather(const void *in, void *out, int64_t outer,
                            int64_t chunk, int32_t dtype, const char *op) {
  Call call("all_gather", op, {outer, chunk, dtype});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  WideLayout wide{size(), chunk * dtypeBytes(dtype)};
  auto fill = [=, this](int64_t begin, int64_t length) {
    std::memcpy(ownWindow(), from + begin, length);
  };
  auto read = [=, this](int64_t begin, int64_t length) {
    for (int member = 0; member < size(); ++member)
      unpackPiece(wide, member, begin, length, window(member, round), to);
  };
  exchange(call, outer * wide.chunk, WindowBytes, fill, read);
}

void SharedGroup::reduceScatter(const void *in, void *out, int64_t outer,
                                int64_t chunk, int32_t dtype, int32_t reduction,
                                const char *op) {
  Call call("reduce_scatter", op, {outer, chunk, dtype, reduction});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  int64_t bytes = dtypeBytes(dtype);
  WideLayout wide{size(), chunk * bytes};
  auto fill = [=, this](int64_t begin, int64_t length) {
    for (int member = 0; member < size(); ++member)
      packPiece(wide, member, begin, length, from,
                ownWindow() + member * length);
  };
  auto read = [=, this](int64_t begin, int64_t length) {
    std::vector<const void *> parts(size());
    for (int member = 0; member < size(); ++member)
      parts[member] = window(member, round) + self * length;
    reduceInOrder(parts, to + begin, length / bytes, dtype, reduction);
  };
  exchange(call, outer * wide.chunk, WindowBytes / size() / bytes * bytes, fill,
           read);
}

void SharedGroup::allToAll(const void *in, void *out, int64_t chunk,
                           int32_t dtype, const char *op) {
  Call call("all_to_all", op, {chunk, dtype});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  int64_t total = chunk * dtypeBytes(dtype);
  auto fill = [=, this](int64_t begin, int64_t length) {
    for (int member = 0; member < size(); ++member)
      std::memcpy(ownWindow() + member * length, from + member * total + begin,
                  length);
  };
  auto read = [=, this](int64_t begin, int64_t length) {
    for (int member = 0; member < size(); ++member)
      std::memcpy(to + member * total + begin,
                  window(member, round) + self * length, length);
  };
  exchange(call, total, WindowBytes / size(), fill, read);
}

void SharedGroup::broadcast(void *buffer, int64_t count, int32_t dtype,
                            int32_t root, const char *op) {
  Call call("broadcast", op, {count, dtype, root});
  auto *data = static_cast<std::byte *>(buffer);
  isDeferred = false;
  auto fill = [=, this](int64_t begin, int64_t length) {
    if (self == root)
      std::memcpy(ownWindow(), data + begin, length);
  };
  auto read = [=, this](int64_t begin, int64_t length) {
    if (self != root)
      std::memcpy(data + begin, window(root, round), length);
  };
  exchange(call, count * dtypeBytes(dtype), WindowBytes, fill, read);
}

} // namespace cleave::rt
