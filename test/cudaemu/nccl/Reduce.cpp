//===- Reduce.cpp - reductions of each type -------------------------------===//

#include "abi/Nccl.h"
#include "exec/Half.h"
#include "nccl/Communicator.h"

#include <algorithm>

using namespace cudaemu;

size_t cudaemu::bytesOfType(int type) {
  static constexpr size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

template <class T>
static void reduceAs(int op, char *into, const char *from, size_t count) {
  auto *a = reinterpret_cast<T *>(into);
  const auto *b = reinterpret_cast<const T *>(from);
  for (size_t k = 0; k < count; ++k)
    switch (op) {
    case nccl::Sum:
    case nccl::Avg:
      a[k] = static_cast<T>(a[k] + b[k]);
      break;
    case nccl::Prod:
      a[k] = static_cast<T>(a[k] * b[k]);
      break;
    case nccl::Max:
      a[k] = a[k] < b[k] ? b[k] : a[k];
      break;
    default:
      a[k] = b[k] < a[k] ? b[k] : a[k];
    }
}

template <class T> static void divideAs(char *into, size_t count, int by) {
  auto *a = reinterpret_cast<T *>(into);
  for (size_t k = 0; k < count; ++k)
    a[k] = static_cast<T>(a[k] / static_cast<T>(by));
}

/// Calls f.template operator()<T>() for the type.
template <class F> static void withType(int type, F f) {
  switch (type) {
  case nccl::Int8:
    return f.template operator()<int8_t>();
  case nccl::Uint8:
    return f.template operator()<uint8_t>();
  case nccl::Int32:
    return f.template operator()<int32_t>();
  case nccl::Uint32:
    return f.template operator()<uint32_t>();
  case nccl::Int64:
    return f.template operator()<int64_t>();
  case nccl::Uint64:
    return f.template operator()<uint64_t>();
  case nccl::Float16:
    return f.template operator()<Half>();
  case nccl::Float32:
    return f.template operator()<float>();
  case nccl::Float64:
    return f.template operator()<double>();
  default:
    return f.template operator()<BFloat>();
  }
}

void cudaemu::reduce(int type, int op, char *into, const char *from,
                     size_t count) {
  withType(type, [&]<class T>() { reduceAs<T>(op, into, from, count); });
}

void cudaemu::divide(int type, char *into, size_t count, int by) {
  withType(type, [&]<class T>() { divideAs<T>(into, count, by); });
}
