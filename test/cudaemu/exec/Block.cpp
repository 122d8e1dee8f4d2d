//===- Block.cpp - run the blocks of a launch -----------------------------===//
//
// The warps of a block run one after another, each until a barrier, its end or
// the end of its time slice (so that a warp may wait for what another one
// writes). Blocks are taken in order by a few threads.
//
//===----------------------------------------------------------------------===//

#include "exec/Block.h"
#include "device/Environment.h"
#include "exec/Barrier.h"

#include <algorithm>
#include <bit>
#include <thread>

using namespace cudaemu;

static constexpr int64_t timeSlice = 1 << 18; ///< Instructions of a warp.

size_t cudaemu::dynamicSharedOffset(const Program &program) {
  return (program.sharedBytes + 127) / 128 * 128;
}

Block::Block(const Launch &launch) : launch(launch) {
  const Checks &checks = environment().checks;
  threads = launch.block[0] * launch.block[1] * launch.block[2];
  warps.resize((threads + lanesOfWarp - 1) / lanesOfWarp);
  sharedBytes = launch.program->sharedBytes;
  if (launch.dynamicShared)
    sharedBytes = dynamicSharedOffset(*launch.program) + launch.dynamicShared;
  // Vectors are read whole: a little more than the checks let through.
  shared.resize(sharedBytes + 16);
  if (checks.races && warps.size() > 1)
    shadow.resize(sharedBytes);
  for (size_t k = 0; k < warps.size(); ++k) {
    warps[k].block = this;
    warps[k].index = static_cast<unsigned>(k);
    warps[k].checksMarks = checks.uninitialised;
    warps[k].order.emplace(*launch.order, launch.item);
  }
}

void Block::start(uint64_t number) {
  index[0] = static_cast<unsigned>(number % launch.grid[0]);
  index[1] = static_cast<unsigned>(number / launch.grid[0] % launch.grid[1]);
  index[2] = static_cast<unsigned>(number / launch.grid[0] / launch.grid[1]);
  std::fill(shared.begin(), shared.end(), '\xff');
  if (environment().checks.uninitialised)
    sharedMarks.assign(sharedBytes, 0);
  synchroniseWarps(*this);
  barriers = {};
  for (Warp &warp : warps) {
    unsigned left = threads - warp.index * lanesOfWarp;
    warp.start(*launch.program, left >= lanesOfWarp ? ~0u : (1u << left) - 1);
  }
}

void Block::checkTime(const Warp &warp) const {
  std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - launch.started;
  if (time.count() > environment().kernelSeconds)
    warp.fault(std::countr_zero(warp.active), 702,
               "still runs here after " +
                   std::to_string(static_cast<int>(time.count())) + " s");
}

void Block::run(uint64_t number) {
  start(number);
  for (bool isDone = false; !isDone;) {
    isDone = true;
    bool ran = false;
    for (Warp &warp : warps) {
      if (warp.state == Warp::Running) {
        warp.run(timeSlice);
        ran = true;
        if (warp.state == Warp::Running)
          checkTime(warp);
      }
      isDone &= warp.state == Warp::Done;
    }
    bool released = releaseBarriers(*this);
    if (!isDone && !ran && !released)
      faultAtBarrier(*this);
  }
}

void cudaemu::runLaunch(const Launch &launch, unsigned threads) {
  uint64_t blocks = 1ull * launch.grid[0] * launch.grid[1] * launch.grid[2];
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  std::optional<Fault> first;
  auto work = [&] {
    try {
      Block block(launch);
      for (uint64_t k; (k = next++) < blocks;)
        block.run(k);
    } catch (Fault &fault) {
      next = blocks;
      std::lock_guard<std::mutex> lock(mutex);
      if (!first)
        first = std::move(fault);
    }
  };
  std::vector<std::thread> others;
  for (unsigned k = 1; k < std::min<uint64_t>(threads, blocks); ++k)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
  if (first)
    throw *std::move(first);
}
