//===- Conformance.cpp - what every transport must do ---------------------===//
//
// One function per operation; each is run for every group of the table and for
// sizes that are empty, odd, uneven, and larger than a transport's windows.
//
//===----------------------------------------------------------------------===//

#include "test/dist/Conformance.h"

#include "runtime/support/Dtype.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

namespace cleave::rt::conformance {

namespace {
/// A value of rank `rank` at index `i`: -3 ... 3, never 0 for a product.
int valueAt(int rank, int64_t i) {
  int value = static_cast<int>((rank * 5 + i * 3) % 7) - 3;
  return value == 0 ? 1 : value;
}

template <typename T> T make(int value) {
  if constexpr (requires { T::from(1.f); })
    return T::from(static_cast<float>(value));
  else
    return static_cast<T>(value);
}
template <typename T> double number(T value) {
  if constexpr (requires { T::from(1.f); })
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

double combine(int32_t reduction, double a, double b) {
  switch (reduction) {
  case CLEAVE_SUM:
    return a + b;
  case CLEAVE_MAX:
    return std::max(a, b);
  case CLEAVE_MIN:
    return std::min(a, b);
  default:
    return a * b;
  }
}

class Suite {
public:
  Suite(Transport &transport, int rounds)
      : transport(transport), rounds(rounds), self(transport.rank()) {}

  std::vector<std::string> run();

private:
  void checkGroup(int index);
  template <typename T> void allReduce(int64_t count, int32_t reduction);
  void allGather(int64_t outer, int64_t chunk);
  void reduceScatter(int64_t outer, int64_t chunk);
  void allToAll(int64_t chunk);
  void broadcast(int64_t count, int root);
  void deferred(int64_t count);
  void manyRounds();
  void messages(size_t bytes);
  void messagesByTag();

  /// Compares element by element; reports the first that differs.
  template <typename T>
  void compare(const char *what, const std::vector<T> &found,
               const std::function<double(int64_t)> &expected);

  double reduced(int32_t reduction, int64_t i) const {
    double value = valueAt(group->members()[0], i);
    for (int m = 1; m < group->size(); ++m)
      value = combine(reduction, value, valueAt(group->members()[m], i));
    return value;
  }
  template <typename T> std::vector<T> own(int64_t count) const {
    std::vector<T> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = make<T>(valueAt(self, i));
    return values;
  }

  Transport &transport;
  int rounds, self;
  int groupIndex = 0;
  Collectives *group = nullptr;
  std::vector<std::string> problems;
};
} // namespace

/// std::vector<bool> has no data(): bytes stand for it.
template <typename T> static constexpr int32_t dtypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return CLEAVE_F32;
  else if constexpr (std::is_same_v<T, double>)
    return CLEAVE_F64;
  else if constexpr (std::is_same_v<T, int64_t>)
    return CLEAVE_I64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return CLEAVE_I8;
  else if constexpr (std::is_same_v<T, Float16>)
    return CLEAVE_F16;
  else
    return CLEAVE_BF16;
}

template <typename T>
void Suite::compare(const char *what, const std::vector<T> &found,
                    const std::function<double(int64_t)> &expected) {
  for (size_t i = 0; i < found.size(); ++i)
    if (number(found[i]) != expected(i))
      return problems.push_back(fmt::format(
          "{} on rank {} of {}, group {}: element {} of {} is {}, expected {}",
          what, self, transport.size(), groupIndex, i, found.size(),
          number(found[i]), expected(i)));
}

template <typename T> void Suite::allReduce(int64_t count, int32_t reduction) {
  std::vector<T> in = own<T>(count), out(count);
  auto expected = [&](int64_t i) { return reduced(reduction, i); };
  group->allReduce(in.data(), out.data(), count, dtypeOf<T>(), reduction,
                   "test");
  compare("all_reduce", out, expected);
  group->allReduce(in.data(), in.data(), count, dtypeOf<T>(), reduction,
                   "test");
  compare("all_reduce in place", in, expected);
}

void Suite::allGather(int64_t outer, int64_t chunk) {
  int k = group->size();
  std::vector<float> in = own<float>(outer * chunk), out(outer * chunk * k);
  group->allGather(in.data(), out.data(), outer, chunk, CLEAVE_F32, "test");
  compare("all_gather", out, [&](int64_t i) {
    int64_t row = i / (k * chunk), member = i / chunk % k, column = i % chunk;
    return valueAt(group->members()[member], row * chunk + column);
  });
}

void Suite::reduceScatter(int64_t outer, int64_t chunk) {
  int k = group->size();
  std::vector<float> in = own<float>(outer * chunk * k), out(outer * chunk);
  group->reduceScatter(in.data(), out.data(), outer, chunk, CLEAVE_F32,
                       CLEAVE_SUM, "test");
  compare("reduce_scatter", out, [&](int64_t i) {
    int64_t row = i / chunk, column = i % chunk;
    return reduced(CLEAVE_SUM, (row * k + group->index()) * chunk + column);
  });
}

void Suite::allToAll(int64_t chunk) {
  int k = group->size();
  std::vector<float> in = own<float>(chunk * k), out(chunk * k);
  auto expected = [&](int64_t i) {
    return valueAt(group->members()[i / chunk],
                   group->index() * chunk + i % chunk);
  };
  group->allToAll(in.data(), out.data(), chunk, CLEAVE_F32, "test");
  compare("all_to_all", out, expected);
  group->allToAll(in.data(), in.data(), chunk, CLEAVE_F32, "test");
  compare("all_to_all in place", in, expected);
}

void Suite::broadcast(int64_t count, int root) {
  std::vector<float> buffer = own<float>(count);
  group->broadcast(buffer.data(), count, CLEAVE_F32, root, "test");
  compare("broadcast", buffer,
          [&](int64_t i) { return valueAt(group->members()[root], i); });
}

/// Different operations in a row, as fast as they go: a window that is written
/// too early would show.
/// Collectives that are finished late, while messages and collectives of
/// another group go on; and two in a row, of which the second completes the
/// first.
void Suite::deferred(int64_t count) {
  int k = group->size();
  std::vector<float> in = own<float>(count), out(count), wide(count * k);
  auto expected = [&](int64_t i) { return reduced(CLEAVE_SUM, i); };
  auto gathered = [&](int64_t i) {
    return valueAt(group->members()[i / count], i % count);
  };
  group->defer();
  group->allReduce(in.data(), out.data(), count, CLEAVE_F32, CLEAVE_SUM,
                   "deferred");
  messages(100);
  transport.world().barrier("between");
  group->finish();
  compare("deferred all_reduce", out, expected);
  std::fill(out.begin(), out.end(), -1.f);
  group->defer();
  group->allReduce(in.data(), out.data(), count, CLEAVE_F32, CLEAVE_SUM,
                   "deferred");
  group->defer();
  group->allGather(in.data(), wide.data(), 1, count, CLEAVE_F32, "deferred");
  compare("completed all_reduce", out, expected);
  group->finish();
  compare("deferred all_gather", wide, gathered);
}

void Suite::manyRounds() {
  for (int i = 0; i < rounds; ++i) {
    allReduce<float>(1 + i % 5, CLEAVE_SUM);
    allGather(1, 1 + i % 3);
    broadcast(2, i % group->size());
    if (i % 16 == 0)
      reduceScatter(2, 3);
    if (i % 64 == 0)
      group->barrier("test");
  }
}

void Suite::checkGroup(int index) {
  groupIndex = index;
  group = &transport.group(index);
  for (int64_t count : {0, 1, 3, 1000, 4099, 300001}) {
    allReduce<float>(count, CLEAVE_SUM);
    broadcast(count, group->size() - 1);
    allToAll(count / group->size());
  }
  for (int32_t reduction : {CLEAVE_SUM, CLEAVE_MAX, CLEAVE_MIN, CLEAVE_PROD}) {
    allReduce<double>(333, reduction);
    allReduce<int64_t>(5000, reduction);
    allReduce<Float16>(33, reduction);
    allReduce<BFloat16>(9001, reduction);
  }
  allReduce<int8_t>(77, CLEAVE_SUM);
  for (int64_t count : {1, 5000, 300001})
    deferred(count);
  for (int64_t outer : {1, 2, 7})
    for (int64_t chunk : {1, 5, 384, 40001}) {
      allGather(outer, chunk);
      reduceScatter(outer, chunk);
    }
  manyRounds();
}

/// Each rank sends to the next and the one before, before it receives.
void Suite::messages(size_t bytes) {
  int n = transport.size(), next = (self + 1) % n, last = (self + n - 1) % n;
  std::vector<char> right(bytes, static_cast<char>('a' + self)),
      left(bytes, static_cast<char>('A' + self)), got(bytes);
  transport.send(next, right.data(), bytes, 1, "right");
  transport.send(last, left.data(), bytes, 2, "left");
  auto expect = [&](int from, int tag, char value, const char *what) {
    transport.recv(from, got.data(), bytes, tag, what);
    for (char c : got)
      if (c != value)
        return problems.push_back(fmt::format(
            "message {} of {} bytes is wrong on rank {}", what, bytes, self));
  };
  expect(last, 1, static_cast<char>('a' + last), "right");
  expect(next, 2, static_cast<char>('A' + next), "left");
}

/// Messages of one pair: by tag in any order, and in order within a tag.
void Suite::messagesByTag() {
  int n = transport.size(), next = (self + 1) % n, last = (self + n - 1) % n;
  for (int tag : {10, 11, 10})
    for (int i = 0; i < 3; ++i) {
      int value = tag * 100 + i;
      transport.send(next, &value, sizeof(value), tag, "tagged");
    }
  for (int tag : {11, 10, 10})
    for (int i = 0; i < 3; ++i) {
      int value = 0;
      transport.recv(last, &value, sizeof(value), tag, "tagged");
      if (value != tag * 100 + i)
        problems.push_back(
            fmt::format("message {} of tag {} came as {}", i, tag, value));
    }
}

std::vector<std::string> Suite::run() {
  GroupTable table = groupsFor(transport.size());
  transport.connect(table);
  for (size_t i = 0; i < table.size(); ++i)
    checkGroup(static_cast<int>(i));
  for (size_t bytes : {0, 1, 100, 70000, 3000000})
    messages(bytes);
  for (int i = 0; i < rounds / 10; ++i)
    messages(100 + i * 37);
  messagesByTag();
  transport.world().barrier("end of suite");
  return problems;
}

GroupTable groupsFor(int world) {
  std::vector<int> all, reversed;
  std::vector<std::vector<int>> pairs, parity(world > 1 ? 2 : 1);
  for (int rank = 0; rank < world; ++rank) {
    all.push_back(rank);
    reversed.insert(reversed.begin(), rank);
    parity[rank % 2].push_back(rank);
    if (rank % 2 == 0)
      pairs.emplace_back();
    pairs.back().push_back(rank);
  }
  return {{all}, pairs, parity, {reversed}};
}

std::vector<std::string> check(Transport &transport, int rounds) {
  return Suite(transport, rounds).run();
}

void missLastRank(Transport &transport, std::chrono::seconds seconds) {
  transport.connect(groupsFor(transport.size()));
  if (transport.rank() == transport.size() - 1) {
    std::this_thread::sleep_for(seconds);
    return;
  }
  float value = 1;
  transport.group(0).allReduce(&value, &value, 1, CLEAVE_F32, CLEAVE_SUM,
                               "late");
}

} // namespace cleave::rt::conformance
