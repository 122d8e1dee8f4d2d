//===- ArenaTests.cpp - placement of intervals, apart from the IR ---------===//

#include "passes/memory/Arena.h"

#include <gtest/gtest.h>

#include <random>

using namespace cleave;

// Tests that values that follow one another share bytes: 64 + 128 live at once
// at most, though four values have 384 bytes.
TEST(Arena, SharesBytesOverTime) {
  ArenaBlock blocks[] = {
      {64, 0, 1, 0}, {128, 1, 2, 0}, {64, 2, 3, 0}, {128, 3, 4, 0}};
  EXPECT_EQ(getLivenessBound(blocks), 192);
  EXPECT_EQ(placeBlocks(blocks), 192);
  EXPECT_FALSE(findOverlap(blocks));
}

// Tests that two values that live at one step and share a byte are found.
TEST(Arena, FindsAnOverlap) {
  ArenaBlock blocks[] = {{64, 0, 1, 0}, {64, 1, 2, 63}, {64, 2, 3, 0}};
  auto overlap = findOverlap(blocks);
  ASSERT_TRUE(overlap);
  EXPECT_EQ(*overlap, (std::pair<size_t, size_t>(0, 1)));
}

// Tests on 200 drawn problems that the placement has no overlap, is aligned,
// lies within the arena, and takes no less than the bound.
TEST(Arena, PlacesDrawnProblems) {
  std::mt19937 random(0);
  auto draw = [&](int64_t limit) {
    return static_cast<int64_t>(random() % limit);
  };
  for (int problem = 0; problem < 200; ++problem) {
    std::vector<ArenaBlock> blocks(1 + draw(30));
    for (ArenaBlock &block : blocks) {
      block.first = draw(20);
      block.last = block.first + draw(6);
      block.bytes = 1 + draw(1000);
    }
    int64_t bytes = placeBlocks(blocks);
    EXPECT_FALSE(findOverlap(blocks));
    EXPECT_GE(bytes, getLivenessBound(blocks));
    for (const ArenaBlock &block : blocks) {
      EXPECT_EQ(block.offset % ArenaAlignment, 0);
      EXPECT_LE(block.offset + block.bytes, bytes);
    }
  }
}
