//===- Checkpoints.h - when a run writes and reads checkpoints ------------===//
#ifndef CLEAVE_RUNTIME_MAIN_CHECKPOINTS_H
#define CLEAVE_RUNTIME_MAIN_CHECKPOINTS_H

#include "runtime/main/RankRun.h"
#include "runtime/main/RunOptions.h"
#include "runtime/program/Checkpoint.h"

namespace cleave::rt {

/// The checkpoints of one run, as its options want them. All ranks make the
/// same calls.
class Checkpoints {
public:
  /// Throws AgreedFailure (ExitUsage) where there is no state to keep.
  Checkpoints(const RunOptions &options, const Manifest &manifest, RankRun &run,
              Transport &transport);

  /// Reads the last checkpoint if the run is to go on from there. Returns the
  /// steps that are done.
  int64_t start(int64_t wantedSteps);
  /// Writes a checkpoint if one is due after `done` steps.
  void afterStep(int64_t done);
  /// Writes a checkpoint of the end, unless that is written already. Returns
  /// what a message may add, "; checkpoint ..." or "".
  std::string finish(int64_t done);

private:
  void write(int64_t done);

  const RunOptions &options;
  const Manifest &manifest;
  RankRun &run;
  Transport &transport;
  int64_t written = -1; ///< steps of the last checkpoint
  std::filesystem::path last;
};

} // namespace cleave::rt

#endif
