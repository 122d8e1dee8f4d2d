//===- Slices.cpp - a rank's part of a whole tensor -----------------------===//
//
// Both directions are one walk over the runs of the valid part. Example: 7
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

void forEachRun(std::span<const int64_t> wholeShape,
                std::span<const int64_t> localShape, const Slice &slice,
                const RunFn &fn) {
  if (std::find(slice.valid.begin(), slice.valid.end(), 0) != slice.valid.end())
    return;
  // Dims from `inner` on are one run: all but the first of them are complete.
  size_t inner = wholeShape.size();
  int64_t count = 1;
  while (inner > 0) {
    --inner;
    count *= slice.valid[inner];
    if (slice.valid[inner] != wholeShape[inner] ||
        slice.valid[inner] != localShape[inner])
      break;
  }
  std::vector<int64_t> index(inner, 0);
  for (;;) {
    int64_t whole = 0, local = 0;
    for (size_t d = 0; d < wholeShape.size(); ++d) {
      int64_t at = d < inner ? index[d] : 0;
      whole = whole * wholeShape[d] + slice.start[d] + at;
      local = local * localShape[d] + at;
    }
    fn(whole, local, count);
    size_t d = inner;
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
