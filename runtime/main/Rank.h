//===- Rank.h - the life of one rank, from start-up check to outputs ------===//
//
// What can go wrong on one rank alone is a phase, on whose outcome all agree.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_RANK_H
#define CLEAVE_RUNTIME_MAIN_RANK_H

#include "runtime/main/RunOptions.h"
#include "runtime/program/Manifest.h"

namespace cleave::rt {

/// Threads of this rank: `wanted`, or for 0 its share of the cores, within
/// those that it may use.
int threadCount(int wanted, const Transport &transport);

/// Runs one rank on a transport of the manifest's world size. `linked`, if
/// anything, is the rank's program of the first bucket.
void runRank(const RunOptions &options, const Buckets &buckets,
             const CleaveProgram *linked, Transport &transport);

} // namespace cleave::rt

#endif
