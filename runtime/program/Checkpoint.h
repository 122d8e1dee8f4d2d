//===- Checkpoint.h - the state of a training run in a folder -------------===//
//
// DIRECTORY/step-00000010/ has whole tensors by the names and shapes that the
// user knows, so that any plan of the model reads what another one wrote:
//
//   model/   model-00001-of-0000N.safetensors, model.safetensors.index.json
//   optim/   the same for the states of the optimizer, if there are any
//   trainer_state.json   {"step", "model", "data": {"seed", "samples",
//                        "epoch", "next"}}; "data" where the run has --data
//
// Every rank writes its parts in place; a part that several ranks hold is
// written by the first. The folder is made beside its place, under a name that
// starts with '.', and takes its name when all is on disk, in one exchange with
// a checkpoint of that name: what has its name is whole.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_PROGRAM_CHECKPOINT_H
#define CLEAVE_RUNTIME_PROGRAM_CHECKPOINT_H

#include "runtime/data/Position.h"
#include "runtime/program/State.h"

namespace cleave::rt {

/// Where a run stands.
struct Progress {
  int64_t step = 0; ///< steps done
  std::optional<DataPosition> data;
};

/// Writes the checkpoint of `progress`. All ranks call it; a failure of one is
/// that of all. Returns the folder.
std::filesystem::path writeCheckpoint(const std::filesystem::path &directory,
                                      const Progress &progress,
                                      const Manifest &manifest,
                                      const RankState &state,
                                      Transport &transport);

/// The last complete checkpoint in `directory`; empty if there is none.
std::filesystem::path findCheckpoint(const std::filesystem::path &directory);

/// Reads this rank's parts of what steps write. Throws Failure (ExitMismatch)
/// when a tensor is missing or is of another type or shape.
Progress readCheckpoint(const std::filesystem::path &checkpoint,
                        const Manifest &manifest, int rank, RankState &state);

} // namespace cleave::rt

#endif
