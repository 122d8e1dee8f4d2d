//===- Checkpoints.h - when a run writes and reads checkpoints ------------===//
#ifndef CLEAVE_RUNTIME_MAIN_CHECKPOINTS_H
#define CLEAVE_RUNTIME_MAIN_CHECKPOINTS_H

#include "runtime/main/RankRun.h"
#include "runtime/main/RunOptions.h"
#include "runtime/program/Checkpoint.h"

namespace cleave::rt {

/// Whether steps change anything that could be kept.
bool hasMutableState(const Manifest &manifest);

/// The checkpoints of one run, as its options want them. All ranks make the
/// same calls.
class Checkpoints {
public:
  /// Throws AgreedFailure (ExitUsage) where there is no state to keep.
  Checkpoints(const RunOptions &options, const Manifest &manifest, RankRun &run,
              Transport &transport);

  /// Reads the last checkpoint if the run is to go on from there. Returns where
  /// the run stands.
  Progress start();
  /// Throws Failure (ExitUsage) where what was read leaves nothing to do.
  void verifyLeft(int64_t wantedSteps) const;
  /// Writes a checkpoint if one is due after the steps done.
  void afterStep(const Progress &done);
  /// Writes a checkpoint of the end, unless that is written already. Returns
  /// what a message may add, "; checkpoint ..." or "".
  std::string finish(const Progress &done);

private:
  void write(const Progress &done);

  const RunOptions &options;
  const Manifest &manifest;
  RankRun &run;
  Transport &transport;
  int64_t written = -1; ///< steps of the last checkpoint
  std::filesystem::path last;
};

} // namespace cleave::rt

#endif
