//===- Arena.cpp - offsets for values that live at different times --------===//

#include "passes/memory/Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace cleave;

/// The lowest aligned offset where `block` fits between the placed blocks that
/// live with it.
static int64_t findGap(const ArenaBlock &block,
                       llvm::ArrayRef<ArenaBlock> blocks,
                       llvm::ArrayRef<size_t> placedByOffset) {
  int64_t offset = 0;
  for (size_t i : placedByOffset) {
    const ArenaBlock &other = blocks[i];
    if (!block.livesWith(other))
      continue;
    if (offset + block.bytes <= other.offset)
      break;
    offset = std::max<int64_t>(
        offset, llvm::alignTo(other.offset + other.bytes, ArenaAlignment));
  }
  return offset;
}

int64_t cleave::placeBlocks(llvm::MutableArrayRef<ArenaBlock> blocks) {
  llvm::SmallVector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(blocks[b].bytes, a) < std::pair(blocks[a].bytes, b);
  });
  llvm::SmallVector<size_t> placed;
  int64_t total = 0;
  for (size_t i : order) {
    blocks[i].offset = findGap(blocks[i], blocks, placed);
    total = std::max(total, blocks[i].offset + blocks[i].bytes);
    auto *position = llvm::upper_bound(placed, i, [&](size_t a, size_t b) {
      return blocks[a].offset < blocks[b].offset;
    });
    placed.insert(position, i);
  }
  return llvm::alignTo(total, ArenaAlignment);
}

std::optional<std::pair<size_t, size_t>>
cleave::findOverlap(llvm::ArrayRef<ArenaBlock> blocks) {
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      const ArenaBlock &a = blocks[i], &b = blocks[j];
      if (a.livesWith(b) && a.offset < b.offset + b.bytes &&
          b.offset < a.offset + a.bytes)
        return std::pair(i, j);
    }
  return std::nullopt;
}

int64_t cleave::getLivenessBound(llvm::ArrayRef<ArenaBlock> blocks) {
  int64_t bound = 0;
  for (const ArenaBlock &at : blocks) {
    int64_t live = 0;
    for (const ArenaBlock &block : blocks)
      if (block.first <= at.first && at.first <= block.last)
        live += block.bytes;
    bound = std::max(bound, live);
  }
  return bound;
}
