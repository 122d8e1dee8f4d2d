//===- Rank.h - the life of one rank, from start-up check to outputs ------===//
//
// Between the phases of start-up all ranks exchange how they fared, so that an
// error of one ends all at once and is told once.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_RANK_H
#define CLEAVE_RUNTIME_MAIN_RANK_H

#include "runtime/main/RunOptions.h"
#include "runtime/program/Manifest.h"

namespace cleave::rt {

/// A failure that all ranks know of: rank 0 tells it, nobody needs to be ended.
class AgreedFailure : public Failure {
  using Failure::Failure;
};

/// Runs one rank on a transport of the manifest's world size.
void runRank(const RunOptions &options, const Manifest &manifest,
             const CleaveProgram *linked, Transport &transport);

} // namespace cleave::rt

#endif
