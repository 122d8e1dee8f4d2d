//===- Slices.h - a rank's part of a whole tensor -------------------------===//
//
// Part i of a dim cut in chunks c holds items [i c, min(n, i c + c)); what the
// local shape has beyond them is zero.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_PROGRAM_SLICES_H
#define CLEAVE_RUNTIME_PROGRAM_SLICES_H

#include "runtime/program/Manifest.h"

#include <functional>
#include <span>

namespace cleave::rt {

/// Where a rank's part lies: per dim its start in the whole and its valid size.
struct Slice {
  std::vector<int64_t> start, valid;
};

/// The part of a rank with coordinates `coords`.
Slice sliceOf(const PortInfo &port, std::span<const int64_t> wholeShape,
              std::span<const int64_t> coords,
              std::span<const int64_t> axisSizes);

/// Given the offsets of a run in the whole and in the local tensor, and its
/// length; all in elements.
using RunFn = std::function<void(int64_t whole, int64_t local, int64_t count)>;

/// Calls `fn` for each run of elements that lie together in both.
void forEachRun(std::span<const int64_t> wholeShape,
                std::span<const int64_t> localShape, const Slice &slice,
                const RunFn &fn);

/// local <- the part of whole, zeros beyond it.
void takeSlice(const std::byte *whole, std::span<const int64_t> wholeShape,
               std::byte *local, std::span<const int64_t> localShape,
               const Slice &slice, int64_t elementBytes);

/// The part of whole <- local.
void putSlice(const std::byte *local, std::span<const int64_t> localShape,
              std::byte *whole, std::span<const int64_t> wholeShape,
              const Slice &slice, int64_t elementBytes);

/// True when some dim is cut over an axis.
bool isSplit(const PortInfo &port);

} // namespace cleave::rt

#endif
