//===- Barrier.h - barriers of a block ------------------------------------===//
#pragma once

namespace cudaemu {

struct Block;

/// Lets warps go on whose barrier is complete; whether there were any.
bool releaseBarriers(Block &block);
/// No warp can go on: throws Fault.
[[noreturn]] void faultAtBarrier(const Block &block);
/// Orders everything that the warps did before what they will do.
void synchroniseWarps(Block &block);

} // namespace cudaemu
