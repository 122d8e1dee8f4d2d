//===- Checkpoints.cpp - when a run writes and reads checkpoints ----------===//

#include "runtime/main/Checkpoints.h"

#include "runtime/Arrays.h"
#include "runtime/main/Agree.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Log.h"

#include <algorithm>

namespace cleave::rt {

bool hasMutableState(const Manifest &manifest) {
  return std::any_of(manifest.programs.begin(), manifest.programs.end(),
                     [](const ProgramInfo &program) {
                       return std::any_of(
                           program.state.begin(), program.state.end(),
                           [](const StateInfo &s) { return s.isMutable; });
                     });
}

Checkpoints::Checkpoints(const RunOptions &options, const Manifest &manifest,
                         RankRun &run, Transport &transport)
    : options(options), manifest(manifest), run(run), transport(transport) {
  if (!options.checkpoint.empty() && !hasMutableState(manifest))
    throw AgreedFailure(ExitUsage, "--checkpoint: the steps of this program "
                                   "change nothing that could be kept; it was "
                                   "compiled without --train");
}

/// Finds out before the first step whether there is a place for checkpoints.
static void prepareFolder(const std::filesystem::path &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ExitUsage, "--checkpoint: cannot make '{}': {}", folder.string(),
         error.message());
  verifyWritablePlace(folder / "step");
}

Progress Checkpoints::start() {
  bool isFirst = transport.rank() == 0;
  Progress progress;
  if (!options.resume) {
    phase(transport, "preparing checkpoints", [&] {
      if (isFirst && !options.checkpoint.empty())
        prepareFolder(options.checkpoint);
    });
    return progress;
  }
  phase(transport, "reading a checkpoint", [&] {
    last = findCheckpoint(options.checkpoint);
    if (last.empty())
      fail(ExitMismatch, "--resume: there is no checkpoint in '{}'",
           options.checkpoint.string());
    if (isFirst)
      prepareFolder(options.checkpoint);
    progress = readCheckpoint(last, manifest, transport.rank(), run.state());
    run.pushState();
  });
  if (isFirst)
    logf(LogLevel::Info, "resumed after step {} from '{}'", progress.step,
         last.string());
  written = progress.step;
  return progress;
}

void Checkpoints::verifyLeft(int64_t wantedSteps) const {
  if (written >= wantedSteps)
    fail(ExitUsage, "--resume: '{}' has {} already, {} {} wanted in all",
         last.string(), counted(written, "step"), wantedSteps,
         wantedSteps == 1 ? "is" : "are");
}

void Checkpoints::write(const Progress &done) {
  run.fetchState();
  last = writeCheckpoint(options.checkpoint, done, manifest, run.state(),
                         transport);
  written = done.step;
  if (transport.rank() == 0)
    logf(LogLevel::Info, "wrote '{}'", last.string());
}

void Checkpoints::afterStep(const Progress &done) {
  if (options.checkpointEvery && done.step % options.checkpointEvery == 0)
    write(done);
}

std::string Checkpoints::finish(const Progress &done) {
  if (options.checkpoint.empty())
    return "";
  if (done.step != written)
    write(done);
  return fmt::format("; the checkpoint is '{}'", last.string());
}

} // namespace cleave::rt
