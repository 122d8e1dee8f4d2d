//===- RankMain.cpp - entry points of executables -------------------------===//
//
// Finds out where this process stands among the ranks, chooses the transport,
// and turns failures into one line and an exit code.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RankMain.h"

#include "runtime/main/Launched.h"
#include "runtime/main/Rank.h"
#include "runtime/support/Log.h"
#include "runtime/transport/LoadMpi.h"
#include "runtime/transport/Loopback.h"

#include <mutex>
#include <thread>
#include <unistd.h>

using namespace cleave::rt;

static void verifyWorld(const Manifest &manifest, int started) {
  if (manifest.world != started)
    fail(ExitMismatch,
         "plan needs {} ranks but {} were started: mpirun -n {} "
         "{}/launch",
         manifest.world, started, manifest.world, manifest.directory.string());
}

/// MPI must see as many processes as the launcher started.
static void verifyLauncher(const Launched &launched, int mpiSize) {
  if (launched.size == mpiSize)
    return;
  if (std::string_view(launched.launcher) == "srun")
    fail(ExitMismatch,
         "MPI sees {} process while srun started {}: add --mpi=pmix", mpiSize,
         launched.size);
  fail(ExitMismatch,
       "MPI sees {} process while {} started {}: start CPU ranks with the "
       "mpirun of the MPI in use",
       mpiSize, launched.launcher, launched.size);
}

/// A world of one needs no MPI, whatever started it.
static std::unique_ptr<Transport> makeTransport(const RunOptions &options,
                                                const Manifest &manifest) {
  std::optional<Launched> launched = findLaunched();
  int started = launched ? launched->size : 1;
  verifyWorld(manifest, started);
  if (started == 1)
    return makeLoopbackTransport(makeLoopbackHub(1), 0, options.deadlines);
  std::unique_ptr<Transport> transport = loadMpiTransport({options.deadlines});
  verifyLauncher(*launched, transport->size());
  return transport;
}

/// Ends a rank that has failed: says why, and ends the others too.
static int endFailed(const Failure &failure, Transport *transport) {
  bool agreed = dynamic_cast<const AgreedFailure *>(&failure) != nullptr;
  if (!agreed || !transport || transport->rank() == 0)
    logLine(LogLevel::Error, failure.what());
  if (transport && !agreed)
    transport->abort(failure.code, failure.what());
  return failure.code;
}

/// The folder of this executable.
static std::filesystem::path executableFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// Parses the command line and hands it to `body`.
template <typename Body>
static int runMain(const std::filesystem::path &directory, int argc,
                   char **argv, Body &&body) {
  try {
    std::optional<RunOptions> options = parseRunOptions(argc, argv, directory);
    return options ? body(*options) : ExitDone;
  } catch (const Failure &failure) {
    return endFailed(failure, nullptr);
  } catch (const std::exception &exception) {
    return endFailed(Failure(ExitDevice, exception.what()), nullptr);
  }
}

int cleaveRankMain(const CleaveProgram *linked, int argc, char **argv) {
  return runMain(executableFolder(), argc, argv, [&](RunOptions &options) {
    Manifest manifest = readManifest(options.directory);
    std::unique_ptr<Transport> transport = makeTransport(options, manifest);
    try {
      runRank(options, manifest, linked, *transport);
      return ExitDone;
    } catch (const Failure &failure) {
      return static_cast<ExitCode>(endFailed(failure, transport.get()));
    } catch (const std::exception &exception) {
      Failure failure(ExitDevice, exception.what());
      return static_cast<ExitCode>(endFailed(failure, transport.get()));
    }
  });
}

namespace {
/// How the rank threads of one process ended: the first failure that is not
/// only the echo of another.
class Outcome {
public:
  void add(const Failure &failure) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!first || (first->code == ExitPeer && failure.code != ExitPeer))
      first = failure;
  }
  int code() {
    if (!first)
      return ExitDone;
    logLine(LogLevel::Error, first->what());
    return first->code;
  }

private:
  std::mutex mutex;
  std::optional<Failure> first;
};
} // namespace

/// The thread of one loopback rank.
static void runLoopbackRank(const RunOptions &options, const Manifest &manifest,
                            std::shared_ptr<LoopbackHub> hub, int rank,
                            Outcome &outcome) {
  std::unique_ptr<Transport> transport =
      makeLoopbackTransport(std::move(hub), rank, options.deadlines);
  try {
    runRank(options, manifest, nullptr, *transport);
  } catch (const Failure &failure) {
    outcome.add(failure);
    transport->abort(failure.code, failure.what());
  } catch (const std::exception &exception) {
    outcome.add(Failure(ExitDevice, exception.what()));
    transport->abort(ExitDevice, exception.what());
  }
}

int cleaveLoopbackMain(const char *outDir, int argc, char **argv) {
  return runMain(outDir, argc, argv, [&](RunOptions &options) {
    Manifest manifest = readManifest(options.directory);
    std::shared_ptr<LoopbackHub> hub = makeLoopbackHub(manifest.world);
    Outcome outcome;
    std::vector<std::thread> ranks;
    ranks.reserve(manifest.world);
    for (int rank = 0; rank < manifest.world; ++rank)
      ranks.emplace_back([&, rank] {
        runLoopbackRank(options, manifest, hub, rank, outcome);
      });
    for (std::thread &thread : ranks)
      thread.join();
    return static_cast<ExitCode>(outcome.code());
  });
}
