//===- Arena.h - offsets for values that live at different times ----------===//
//
// A plain problem: intervals with sizes; give each an offset so that intervals
// which overlap in time do not overlap in space. Greedy by size: the largest
// first, each at the lowest gap that fits (the method of TensorFlow Lite's
// memory planner, arXiv 2001.03288, "greedy by size").
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_MEMORY_ARENA_H
#define CLEAVE_PASSES_MEMORY_ARENA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace cleave {

/// Alignment of every offset, in bytes.
inline constexpr int64_t ArenaAlignment = 64;

struct ArenaBlock {
  int64_t bytes = 0;
  int64_t first = 0, last = 0; ///< steps at which it lives, inclusive
  int64_t offset = 0;          ///< the answer, in bytes

  bool livesWith(const ArenaBlock &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Fills `offset` of every block; returns the bytes of the arena.
int64_t placeBlocks(llvm::MutableArrayRef<ArenaBlock> blocks);

/// Indices of two blocks that live together and share bytes, if there are such.
std::optional<std::pair<size_t, size_t>>
findOverlap(llvm::ArrayRef<ArenaBlock> blocks);

/// The most bytes that live at one step: no placement can do with less.
int64_t getLivenessBound(llvm::ArrayRef<ArenaBlock> blocks);

} // namespace cleave

#endif
