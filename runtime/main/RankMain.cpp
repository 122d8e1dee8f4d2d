//===- RankMain.cpp - entry points of executables -------------------------===//
//
// Finds out where this process stands among the ranks, chooses the transport,
// and turns failures into one line and an exit code. What is wrong before ranks
// meet is kept until they have met, so that it is told once.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RankMain.h"

#include "runtime/main/Agree.h"
#include "runtime/main/Join.h"
#include "runtime/main/Outcome.h"
#include "runtime/main/Rank.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Log.h"
#include "runtime/support/Stop.h"
#include "runtime/transport/Loopback.h"

#include <thread>

using namespace cleave::rt;

static void verifyWorld(const Manifest &manifest, int started) {
  if (manifest.world != started)
    fail(
        ExitMismatch, "plan needs {} but {} {} started: mpirun -n {} {}/launch",
        counted(manifest.world, "rank"), started, started == 1 ? "was" : "were",
        manifest.world, manifest.directory.string());
}

namespace {
/// What a rank knows before it meets the others.
struct Prepared {
  /// None when only help was wanted.
  std::optional<RunOptions> options = RunOptions{};
  Buckets buckets;
};
} // namespace

static void prepare(Prepared &prepared, const Launched &launched, int argc,
                    char **argv) {
  prepared.options = parseRunOptions(
      argc, argv,
      std::filesystem::read_symlink("/proc/self/exe").parent_path());
  if (!prepared.options)
    return;
  prepared.buckets = readManifest(prepared.options->directory);
  verifyWorld(prepared.buckets.front(), launched.size);
}

/// Says why a rank has failed, and ends the others where they don't know yet.
static int endFailed(const Failure &failure, Transport &transport) {
  bool agreed = dynamic_cast<const AgreedFailure *>(&failure) != nullptr;
  if (!agreed || transport.rank() == 0)
    logLine(LogLevel::Error, failure.what());
  if (!agreed)
    transport.abort(failure.code, failure.what());
  return failure.code;
}

int cleaveRankMain(const CleaveProgram *linked, int argc, char **argv) {
  watchStopSignals();
  Launched launched =
      findLaunched().value_or(Launched{"no launcher", 0, 1, 0, 1});
  Prepared prepared;
  std::optional<Failure> unfit =
      catchFailure([&] { prepare(prepared, launched, argc, argv); });
  if (!prepared.options)
    return ExitDone;

  std::unique_ptr<Transport> transport;
  if (auto failure = catchFailure([&] {
        transport = joinRanks(launched, {prepared.options->deadlines},
                              linked->device != nullptr);
      })) {
    // Ranks that cannot meet cannot agree: the first of each host tells.
    if (launched.localRank == 0)
      logLine(LogLevel::Error, (unfit ? *unfit : *failure).what());
    return (unfit ? *unfit : *failure).code;
  }
  try {
    agree(*transport, unfit, "start");
    runRank(*prepared.options, prepared.buckets, linked, *transport);
    return ExitDone;
  } catch (const Failure &failure) {
    return endFailed(failure, *transport);
  } catch (const std::exception &exception) {
    return endFailed(Failure(ExitDevice, exception.what()), *transport);
  }
}

/// The thread of one loopback rank.
static void runLoopbackRank(const RunOptions &options, const Buckets &buckets,
                            std::shared_ptr<LoopbackHub> hub, int rank,
                            Outcome &outcome) {
  std::unique_ptr<Transport> transport =
      makeLoopbackTransport(std::move(hub), rank, options.deadlines);
  if (auto failure = catchFailure(
          [&] { runRank(options, buckets, nullptr, *transport); })) {
    outcome.add(*failure);
    transport->abort(failure->code, failure->what());
  }
}

/// Runs all ranks of a folder as threads; the exit code.
static int runLoopback(const RunOptions &options) {
  Buckets buckets = readManifest(options.directory);
  int world = buckets.front().world;
  std::shared_ptr<LoopbackHub> hub = makeLoopbackHub(world);
  Outcome outcome;
  std::vector<std::thread> ranks;
  ranks.reserve(world);
  for (int rank = 0; rank < world; ++rank)
    ranks.emplace_back(
        [&, rank] { runLoopbackRank(options, buckets, hub, rank, outcome); });
  for (std::thread &thread : ranks)
    thread.join();
  if (!outcome.failure())
    return ExitDone;
  logLine(LogLevel::Error, outcome.failure()->what());
  return outcome.failure()->code;
}

int cleaveLoopbackMain(const char *outDir, int argc, char **argv) {
  watchStopSignals();
  int code = ExitDone;
  std::optional<Failure> failure = catchFailure([&] {
    if (std::optional<RunOptions> options = parseRunOptions(argc, argv, outDir))
      code = runLoopback(*options);
  });
  if (!failure)
    return code;
  logLine(LogLevel::Error, failure->what());
  return failure->code;
}
