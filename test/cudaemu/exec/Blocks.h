//===- Blocks.h - the basic blocks of a program ---------------------------===//
#pragma once

#include "exec/Program.h"

namespace cudaemu {

/// Instructions [begin, end) that run one after another; the blocks that may
/// follow. The last block is the exit of the function.
struct BasicBlock {
  uint32_t begin, end;
  std::vector<uint32_t> next;
};

std::vector<BasicBlock> basicBlocks(const Program &program);

} // namespace cudaemu
