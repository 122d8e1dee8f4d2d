//===- Slices.cpp - a rank's part of a whole tensor -----------------------===//
//
// Both directions are one walk over the rows of the valid part. Example: 7
// items over 4 ranks in chunks of 2: starts 0, 2, 4, 6 and valid sizes 2, 2,
// 2, 1.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/Slices.h"

#include <algorithm>
#include <cstring>

namespace cleave::rt {

bool isSplit(const PortInfo &port) {
  return std::any_of(port.split.begin(), port.split.end(),
                     [](const DimSplit &split) { return !split.axes.empty(); });
}

Slice sliceOf(const PortInfo &port, std::span<const int64_t> wholeShape,
              std::span<const int64_t> coords,
              std::span<const int64_t> axisSizes) {
  Slice slice;
  for (size_t d = 0; d < port.shape.size(); ++d) {
    const DimSplit &split = port.split[d];
    int64_t index = 0;
    for (int axis : split.axes)
      index = index * axisSizes[axis] + coords[axis];
    int64_t chunk = split.axes.empty() ? wholeShape[d] : split.chunk;
    int64_t start = std::min(index * chunk, wholeShape[d]);
    slice.start.push_back(start);
    slice.valid.push_back(std::min(wholeShape[d] - start, chunk));
    if (slice.valid[d] > port.shape[d])
      fail(ExitMismatch, "a part of {} items does not fit local shape {}",
           slice.valid[d], listed(port.shape));
  }
  return slice;
}

/// Calls fn(wholeOffset, localOffset, count) for each run of consecutive items.
template <typename Fn>
static void forEachRun(std::span<const int64_t> wholeShape,
                       std::span<const int64_t> localShape, const Slice &slice,
                       Fn &&fn) {
  size_t rank = wholeShape.size();
  if (rank == 0)
    return fn(0, 0, 1);
  if (std::find(slice.valid.begin(), slice.valid.end(), 0) != slice.valid.end())
    return;
  std::vector<int64_t> index(rank, 0);
  for (;;) {
    int64_t whole = 0, local = 0;
    for (size_t d = 0; d < rank; ++d) {
      whole = whole * wholeShape[d] + slice.start[d] + index[d];
      local = local * localShape[d] + index[d];
    }
    fn(whole, local, slice.valid[rank - 1]);
    size_t d = rank - 1;
    while (d-- > 0 && ++index[d] == slice.valid[d])
      index[d] = 0;
    if (d == static_cast<size_t>(-1))
      return;
  }
}

void takeSlice(const std::byte *whole, std::span<const int64_t> wholeShape,
               std::byte *local, std::span<const int64_t> localShape,
               const Slice &slice, int64_t elementBytes) {
  int64_t localCount = 1;
  for (int64_t size : localShape)
    localCount *= size;
  std::memset(local, 0, localCount * elementBytes);
  forEachRun(wholeShape, localShape, slice,
             [&](int64_t from, int64_t to, int64_t count) {
               std::memcpy(local + to * elementBytes,
                           whole + from * elementBytes, count * elementBytes);
             });
}

void putSlice(const std::byte *local, std::span<const int64_t> localShape,
              std::byte *whole, std::span<const int64_t> wholeShape,
              const Slice &slice, int64_t elementBytes) {
  forEachRun(wholeShape, localShape, slice,
             [&](int64_t to, int64_t from, int64_t count) {
               std::memcpy(whole + to * elementBytes,
                           local + from * elementBytes, count * elementBytes);
             });
}

} // namespace cleave::rt
