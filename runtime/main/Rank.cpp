//===- Rank.cpp - the life of one rank, from start-up check to outputs ----===//
//
// Latency is that of the slowest rank: each timed step begins with a barrier.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Rank.h"

#include "runtime/Messages.h"
#include "runtime/Threads.h"
#include "runtime/main/Inputs.h"
#include "runtime/main/RankRun.h"
#include "runtime/main/Report.h"
#include "runtime/program/Program.h"
#include "runtime/support/Log.h"

#include <algorithm>
#include <thread>

namespace cleave::rt {

/// Exchanges the outcome of a phase; throws on all ranks when one has failed.
static void agree(Transport &transport, const std::optional<Failure> &own,
                  const char *phase) {
  std::string text =
      own ? fmt::format("{}:{}", static_cast<int>(own->code), own->what()) : "";
  for (const std::string &outcome : gatherTexts(transport, text, phase)) {
    if (outcome.empty())
      continue;
    size_t colon = outcome.find(':');
    throw AgreedFailure(
        static_cast<ExitCode>(std::stoi(outcome.substr(0, colon))),
        outcome.substr(colon + 1));
  }
}

/// Runs a phase of this rank alone, then agrees on its outcome.
template <typename Body>
static void phase(Transport &transport, const char *name, Body &&body) {
  std::optional<Failure> failure;
  try {
    body();
  } catch (const Failure &thrown) {
    failure = thrown;
  } catch (const std::exception &thrown) {
    failure = Failure(ExitDevice, thrown.what());
  }
  agree(transport, failure, name);
}

/// All ranks must run the same plan of the same build.
static void verifySameBuild(const Manifest &manifest, Transport &transport) {
  std::string identity =
      fmt::format("build {} plan {} world {}", manifest.build, manifest.plan,
                  manifest.world);
  std::vector<std::string> all = gatherTexts(transport, identity, "start-up");
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw AgreedFailure(ExitMismatch,
                          fmt::format("rank {} runs {}, rank 0 runs {}", rank,
                                      all[rank], all[0]));
}

/// This rank's share of the cores, within those that it may use.
static int threadCount(const RunOptions &options, const Transport &transport) {
  int allowed = allowedCores();
  if (options.threads > allowed)
    logf(LogLevel::Warn,
         "rank {} runs {} threads but is bound to {} cores: start it with "
         "mpirun --bind-to none",
         transport.rank(), options.threads, allowed);
  if (options.threads)
    return options.threads;
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores / transport.localSize(), 1, allowed);
}

static std::vector<double> runSteps(const RunOptions &options, RankRun &run,
                                    Transport &transport) {
  for (int i = 0; i < options.warmup; ++i)
    run.step();
  if (!options.trace.empty()) {
    transport.world().barrier("start of trace");
    run.context().trace = std::make_unique<Trace>();
  }
  std::vector<double> milliseconds;
  for (int i = 0; i < options.repeat; ++i) {
    transport.world().barrier("start of step");
    auto start = std::chrono::steady_clock::now();
    run.step();
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    milliseconds.push_back(time.count());
  }
  return milliseconds;
}

void runRank(const RunOptions &options, const Manifest &manifest,
             const CleaveProgram *linked, Transport &transport) {
  verifySameBuild(manifest, transport);
  std::unique_ptr<RankRun> run;
  phase(transport, "loading", [&] {
    const CleaveProgram &program =
        findProgram(manifest, transport.rank(), linked);
    std::vector<Array> inputs = readInputs(options.inputs, manifest.inputs);
    run = std::make_unique<RankRun>(manifest, program, transport,
                                    threadCount(options, transport));
    run->setInputs(inputs);
  });
  transport.connect(manifest.groups);

  std::vector<double> times = runSteps(options, *run, transport);
  std::vector<Array> outputs = run->gatherOutputs();
  phase(transport, "writing outputs", [&] {
    if (transport.rank() == 0 && !options.output.empty())
      writeArrays(options.output, outputs);
  });
  if (run->context().trace)
    run->context().trace->write(options.trace, transport);
  if (options.report)
    printReport(times, run->context().threads, options.json, transport);
  transport.finish();
}

} // namespace cleave::rt
