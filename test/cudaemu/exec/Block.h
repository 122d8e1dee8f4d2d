//===- Block.h - a block of threads and the launch it belongs to ----------===//
#pragma once

#include "device/Order.h"
#include "exec/Shared.h"
#include "exec/Warp.h"

#include <array>
#include <chrono>

namespace cudaemu {

/// What the threads of a kernel have in common.
struct Launch {
  const Program *program = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned dynamicShared = 0;
  std::vector<char> params;
  Memory *memory = nullptr;
  const Order *order = nullptr;
  uint32_t item = 0; ///< Its number in `order`.
  std::chrono::steady_clock::time_point started;
};

struct Block {
  /// What bar.arrive brought before the others come.
  struct Arrivals {
    unsigned threads = 0;
    std::array<uint32_t, lanesOfWarp> clocks{};
  };

  const Launch &launch;
  unsigned index[3] = {};
  unsigned threads = 0;
  size_t sharedBytes = 0;
  std::vector<char> shared;
  std::vector<uint8_t> sharedMarks; ///< Of each byte, whether it is written.
  SharedShadow shadow;
  std::vector<Warp> warps;
  std::array<Arrivals, 16> barriers;

  explicit Block(const Launch &launch);
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  /// Runs the block of that number; throws Fault.
  void run(uint64_t number);

private:
  void start(uint64_t number);
  void checkTime(const Warp &warp) const;
};

/// Where the dynamic shared memory begins, after the static one.
size_t dynamicSharedOffset(const Program &program);

/// Runs all blocks, on up to `threads` threads; throws Fault, the first one.
void runLaunch(const Launch &launch, unsigned threads);

} // namespace cudaemu
