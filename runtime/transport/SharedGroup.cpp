//===- SharedGroup.cpp - collectives through shared memory ----------------===//
//
// All collectives go piece by piece through the windows. Two members, or little
// data: everyone reads all windows and reduces all of it, one round a piece.
// Else each member reduces its part of the piece and a second round spreads the
// parts, so that the work does not grow with the number of members. Elements
// are combined in the same order either way.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/SharedGroup.h"

#include "runtime/support/Dtype.h"
#include "runtime/transport/Layout.h"
#include "runtime/transport/Reduce.h"

#include <algorithm>
#include <cstring>

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

void SharedGroup::meet(const Call &call) {
  ++round;
  SharedRegion &own = *regions[self];
  own.signature[round & 1].store(call.signature, std::memory_order_relaxed);
  own.arrived.store(round, std::memory_order_release);
  for (int member = 0; member < size(); ++member)
    if (member != self)
      await(member, call);
}

void SharedGroup::barrier(const char *op) { meet(Call("barrier", op)); }

void SharedGroup::reduceDirectly(const std::byte *in, std::byte *out,
                                 int64_t count, int32_t dtype,
                                 int32_t reduction, const Call &call) {
  int64_t bytes = dtypeBytes(dtype), step = WindowBytes / bytes;
  std::vector<const void *> parts(size());
  for (int64_t begin = 0; begin < count; begin += step) {
    int64_t length = std::min(step, count - begin);
    std::memcpy(ownWindow(), in + begin * bytes, length * bytes);
    meet(call);
    for (int member = 0; member < size(); ++member)
      parts[member] =
          member == self ? in + begin * bytes : window(member, round);
    reduceInOrder(parts, out + begin * bytes, length, dtype, reduction);
  }
}

void SharedGroup::reduceByParts(const std::byte *in, std::byte *out,
                                int64_t count, int32_t dtype, int32_t reduction,
                                const Call &call) {
  int64_t bytes = dtypeBytes(dtype), step = WindowBytes / bytes;
  std::vector<const void *> parts(size());
  for (int64_t begin = 0; begin < count; begin += step) {
    int64_t length = std::min(step, count - begin);
    auto partBegin = [&](int64_t member) { return length * member / size(); };
    std::memcpy(ownWindow(), in + begin * bytes, length * bytes);
    meet(call);
    int64_t first = partBegin(self), mine = partBegin(self + 1) - first;
    for (int member = 0; member < size(); ++member)
      parts[member] = window(member, round) + first * bytes;
    reduceInOrder(parts, ownWindow() + first * bytes, mine, dtype, reduction);
    meet(call);
    for (int member = 0; member < size(); ++member) {
      int64_t from = partBegin(member) * bytes;
      std::memcpy(out + begin * bytes + from, window(member, round) + from,
                  partBegin(member + 1) * bytes - from);
    }
  }
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
  int64_t bytes = dtypeBytes(dtype), total = outer * chunk * bytes;
  WideLayout wide{size(), chunk * bytes};
  for (int64_t begin = 0; begin < total; begin += WindowBytes) {
    int64_t length = std::min(WindowBytes, total - begin);
    std::memcpy(ownWindow(), from + begin, length);
    meet(call);
    for (int member = 0; member < size(); ++member)
      unpackPiece(wide, member, begin, length, window(member, round), to);
  }
}

void SharedGroup::reduceScatter(const void *in, void *out, int64_t outer,
                                int64_t chunk, int32_t dtype, int32_t reduction,
                                const char *op) {
  Call call("reduce_scatter", op, {outer, chunk, dtype, reduction});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  int64_t bytes = dtypeBytes(dtype), total = outer * chunk * bytes;
  int64_t step = WindowBytes / size() / bytes * bytes;
  WideLayout wide{size(), chunk * bytes};
  std::vector<const void *> parts(size());
  for (int64_t begin = 0; begin < total; begin += step) {
    int64_t length = std::min(step, total - begin);
    for (int member = 0; member < size(); ++member)
      packPiece(wide, member, begin, length, from,
                ownWindow() + member * length);
    meet(call);
    for (int member = 0; member < size(); ++member)
      parts[member] = window(member, round) + self * length;
    reduceInOrder(parts, to + begin, length / bytes, dtype, reduction);
  }
}

void SharedGroup::allToAll(const void *in, void *out, int64_t chunk,
                           int32_t dtype, const char *op) {
  Call call("all_to_all", op, {chunk, dtype});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  int64_t total = chunk * dtypeBytes(dtype);
  int64_t step = WindowBytes / size();
  for (int64_t begin = 0; begin < total; begin += step) {
    int64_t length = std::min(step, total - begin);
    for (int member = 0; member < size(); ++member)
      std::memcpy(ownWindow() + member * length, from + member * total + begin,
                  length);
    meet(call);
    for (int member = 0; member < size(); ++member)
      std::memcpy(to + member * total + begin,
                  window(member, round) + self * length, length);
  }
}

void SharedGroup::broadcast(void *buffer, int64_t count, int32_t dtype,
                            int32_t root, const char *op) {
  Call call("broadcast", op, {count, dtype, root});
  auto *data = static_cast<std::byte *>(buffer);
  int64_t total = count * dtypeBytes(dtype);
  for (int64_t begin = 0; begin < total; begin += WindowBytes) {
    int64_t length = std::min(WindowBytes, total - begin);
    if (self == root)
      std::memcpy(ownWindow(), data + begin, length);
    meet(call);
    if (self != root)
      std::memcpy(data + begin, window(root, round), length);
  }
}

} // namespace cleave::rt
