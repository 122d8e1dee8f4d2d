//===- MessageGroup.cpp - collectives from messages -----------------------===//
//
// Wide tensors [outer, k, chunk] are packed member by member into the staging
// memory, so that each exchange is one message per member.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/MessageGroup.h"

#include "runtime/support/Dtype.h"
#include "runtime/transport/Layout.h"
#include "runtime/transport/Reduce.h"

namespace cleave::rt {

MessageGroup::MessageGroup(std::vector<int> ranks, int self,
                           ExchangeFn exchange)
    : Collectives(std::move(ranks), self), exchange(std::move(exchange)) {}

std::byte *MessageGroup::staging(size_t bytes) {
  if (memory.size() < bytes)
    memory.resize(bytes);
  return memory.data();
}

void MessageGroup::barrier(const char *op) {
  std::byte token{};
  std::vector<std::byte> tokens(size());
  std::vector<Exchanged> parts(size());
  for (int i = 0; i < size(); ++i)
    parts[i] = {&token, 1, &tokens[i], 1};
  exchange(parts, Call("barrier", op));
}

void MessageGroup::allReduce(const void *in, void *out, int64_t count,
                             int32_t dtype, int32_t reduction, const char *op) {
  Call call("all_reduce", op, {count, dtype, reduction});
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  int64_t bytes = dtypeBytes(dtype);
  auto partBegin = [&](int64_t i) { return count * i / size() * bytes; };
  size_t mine = partBegin(self + 1) - partBegin(self);
  std::byte *received = staging(mine * size());

  std::vector<Exchanged> parts(size());
  std::vector<const void *> operands(size());
  for (int i = 0; i < size(); ++i) {
    size_t theirs = partBegin(i + 1) - partBegin(i);
    parts[i] = {from + partBegin(i), theirs, received + i * mine, mine};
    operands[i] = i == self ? from + partBegin(self) : received + i * mine;
  }
  exchange(parts, call);
  reduceInOrder(operands, to + partBegin(self), mine / bytes, dtype, reduction);
  for (int i = 0; i < size(); ++i) {
    size_t theirs = partBegin(i + 1) - partBegin(i);
    parts[i] = {to + partBegin(self), mine, to + partBegin(i), theirs};
  }
  exchange(parts, call);
}

void MessageGroup::allGather(const void *in, void *out, int64_t outer,
                             int64_t chunk, int32_t dtype, const char *op) {
  const auto *from = static_cast<const std::byte *>(in);
  auto *to = static_cast<std::byte *>(out);
  int64_t bytes = dtypeBytes(dtype), total = outer * chunk * bytes;
  WideLayout wide{size(), chunk * bytes};
  std::byte *received = staging(total * size());
  std::vector<Exchanged> parts(size());
  for (int i = 0; i < size(); ++i) {
    size_t length = total;
    parts[i] = {from, length, received + i * total, length};
  }
  exchange(parts, Call("all_gather", op, {outer, chunk, dtype}));
  if (total == 0)
    return;
  for (int i = 0; i < size(); ++i)
    unpackPiece(wide, i, 0, total, i == self ? from : received + i * total, to);
}

void MessageGroup::reduceScatter(const void *in, void *out, int64_t outer,
                                 int64_t chunk, int32_t dtype,
                                 int32_t reduction, const char *op) {
  const auto *from = static_cast<const std::byte *>(in);
  int64_t bytes = dtypeBytes(dtype), total = outer * chunk * bytes;
  WideLayout wide{size(), chunk * bytes};
  std::byte *packed = staging(2 * total * size());
  std::byte *received = packed + total * size();
  std::vector<Exchanged> parts(size());
  std::vector<const void *> operands(size());
  for (int i = 0; i < size(); ++i) {
    size_t length = total;
    if (total)
      packPiece(wide, i, 0, total, from, packed + i * total);
    parts[i] = {packed + i * total, length, received + i * total, length};
    operands[i] = (i == self ? packed : received) + i * total;
  }
  exchange(parts, Call("reduce_scatter", op, {outer, chunk, dtype, reduction}));
  reduceInOrder(operands, out, outer * chunk, dtype, reduction);
}

void MessageGroup::allToAll(const void *in, void *out, int64_t chunk,
                            int32_t dtype, const char *op) {
  size_t bytes = chunk * dtypeBytes(dtype);
  std::byte *sent = staging(bytes * size());
  if (bytes)
    std::memcpy(sent, in, bytes * size());
  auto *to = static_cast<std::byte *>(out);
  std::vector<Exchanged> parts(size());
  for (int i = 0; i < size(); ++i)
    parts[i] = {sent + i * bytes, bytes, to + i * bytes, bytes};
  exchange(parts, Call("all_to_all", op, {chunk, dtype}));
  if (bytes)
    std::memcpy(to + self * bytes, sent + self * bytes, bytes);
}

void MessageGroup::broadcast(void *buffer, int64_t count, int32_t dtype,
                             int32_t root, const char *op) {
  size_t bytes = count * dtypeBytes(dtype);
  auto *data = static_cast<std::byte *>(buffer);
  std::vector<Exchanged> parts(size());
  if (self == root)
    for (Exchanged &part : parts)
      part = {data, bytes, nullptr, 0};
  else
    parts[root] = {nullptr, 0, data, bytes};
  exchange(parts, Call("broadcast", op, {count, dtype, root}));
}

} // namespace cleave::rt
