//===- Reduce.cpp - combine buffers in a fixed order ----------------------===//
//
// Works block by block in an accumulator that fits the first-level cache: each
// element sees the ranks in order whatever the block, so that the result
// depends neither on sizes nor on who reduces which part. A block is read
// completely before it is written, hence `out` may be one of the parts.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Reduce.h"

#include "runtime/support/Dtype.h"

#include <algorithm>
#include <type_traits>

namespace cleave::rt {

static constexpr int64_t BlockElements = 1024;

/// The type that sums of T are kept in.
template <typename T>
using Accumulator = std::conditional_t<
    std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

template <typename T> static T rounded(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Accumulator<T>>)
    return value;
  else
    return T::from(value);
}

/// Two parts, the usual case, need no accumulator. `out` may be one of them, so
/// the compiler is told that items at the same place may be the same.
template <typename T, typename Combine>
static void reduceTwo(const T *a, const T *b, T *out, int64_t count,
                      Combine combine) {
#pragma clang loop vectorize(assume_safety) interleave(enable)
  for (int64_t i = 0; i < count; ++i)
    out[i] = rounded<T>(combine(static_cast<Accumulator<T>>(a[i]),
                                static_cast<Accumulator<T>>(b[i])));
}

template <typename T, typename Combine>
static void reduceTyped(std::span<const void *const> parts, T *out,
                        int64_t count, Combine combine) {
  if (parts.size() == 2)
    return reduceTwo(static_cast<const T *>(parts[0]),
                     static_cast<const T *>(parts[1]), out, count, combine);
  alignas(64) Accumulator<T> block[BlockElements];
  for (int64_t begin = 0; begin < count; begin += BlockElements) {
    int64_t length = std::min(BlockElements, count - begin);
    const T *first = static_cast<const T *>(parts[0]) + begin;
    for (int64_t i = 0; i < length; ++i)
      block[i] = static_cast<Accumulator<T>>(first[i]);
    for (const void *part : parts.subspan(1)) {
      const T *values = static_cast<const T *>(part) + begin;
      for (int64_t i = 0; i < length; ++i)
        block[i] = combine(block[i], static_cast<Accumulator<T>>(values[i]));
    }
    for (int64_t i = 0; i < length; ++i)
      out[begin + i] = rounded<T>(block[i]);
  }
}

/// max and min hand on a NaN from either side, as ONNX's do.
template <typename A> static A larger(A a, A b) {
  return (a > b || a != a) ? a : b;
}
template <typename A> static A smaller(A a, A b) {
  return (a < b || a != a) ? a : b;
}

template <typename T>
static void reduceAs(std::span<const void *const> parts, T *out, int64_t count,
                     int32_t reduction) {
  using A = Accumulator<T>;
  switch (reduction) {
  case CLEAVE_SUM:
    return reduceTyped<T>(parts, out, count,
                          [](A a, A b) { return static_cast<A>(a + b); });
  case CLEAVE_MAX:
    return reduceTyped<T>(parts, out, count, larger<A>);
  case CLEAVE_MIN:
    return reduceTyped<T>(parts, out, count, smaller<A>);
  case CLEAVE_PROD:
    return reduceTyped<T>(parts, out, count,
                          [](A a, A b) { return static_cast<A>(a * b); });
  }
  fail(ExitPlan, "unknown reduction {}", reduction);
}

void reduceInOrder(std::span<const void *const> parts, void *out, int64_t count,
                   int32_t dtype, int32_t reduction) {
  dispatchDtype(dtype, [&](auto example) {
    using T = decltype(example);
    reduceAs<T>(parts, static_cast<T *>(out), count, reduction);
  });
}

} // namespace cleave::rt
