//===- Rank.cpp - the life of one rank, from start-up check to outputs ----===//
//
// Latency is that of the slowest rank: ranks meet before each step.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Rank.h"

#include "runtime/Threads.h"
#include "runtime/main/Agree.h"
#include "runtime/main/Checkpoints.h"
#include "runtime/main/Inputs.h"
#include "runtime/main/RankRun.h"
#include "runtime/main/Report.h"
#include "runtime/main/Settings.h"
#include "runtime/main/StepLog.h"
#include "runtime/program/Program.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/Log.h"
#include "runtime/support/Stop.h"

#include <algorithm>
#include <thread>

namespace cleave::rt {

int threadCount(int wanted, const Transport &transport) {
  int allowed = allowedCores();
  if (wanted > allowed)
    logf(LogLevel::Warn,
         "rank {} runs {} but is bound to {}: start it with mpirun --bind-to "
         "none",
         transport.rank(), counted(wanted, "thread"), counted(allowed, "core"));
  if (wanted)
    return wanted;
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores / transport.localSize(), 1, allowed);
}

/// Meets the others before a step; ends the run on all ranks when one of them
/// was asked to stop.
static void startStep(const RunOptions &options, int64_t done,
                      Checkpoints &checkpoints, Transport &transport) {
  auto stops = static_cast<int32_t>(isStopRequested());
  transport.world().allReduce(&stops, &stops, 1, CLEAVE_I32, CLEAVE_MAX,
                              "start of step");
  if (!stops)
    return;
  std::string kept = checkpoints.finish(done);
  transport.finish();
  int64_t steps = int64_t{options.warmup} + options.repeat;
  throw AgreedFailure(ExitStopped,
                      fmt::format("stopped on request after {} of {} steps; "
                                  "outputs are not written{}",
                                  done, steps, kept));
}

/// Runs the steps that are not done yet; returns the times of those behind the
/// warm-up, in milliseconds.
static std::vector<double> runSteps(const RunOptions &options,
                                    const Manifest &manifest, RankRun &run,
                                    Settings &settings, StepLog &log,
                                    Transport &transport) {
  Checkpoints checkpoints(options, manifest, run, transport);
  int64_t steps = int64_t{options.warmup} + options.repeat;
  int64_t done = checkpoints.start(steps);
  std::vector<double> milliseconds;
  for (; done < steps; checkpoints.afterStep(++done)) {
    bool isTimed = done >= options.warmup;
    if (isTimed && !options.trace.empty() && !run.context().trace) {
      transport.world().barrier("start of trace");
      run.context().trace = std::make_unique<Trace>();
    }
    startStep(options, done, checkpoints, transport);
    settings.start(done + 1);
    run.pushSettings();
    auto start = std::chrono::steady_clock::now();
    run.step();
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    if (isTimed)
      milliseconds.push_back(time.count());
    log.write(done + 1, settings.rate(), run);
  }
  checkpoints.finish(done);
  return milliseconds;
}

static std::vector<Array> makeArrays(std::span<const TensorInfo> tensors) {
  std::vector<Array> arrays;
  for (const TensorInfo &tensor : tensors)
    arrays.push_back(Array{tensor.name, tensor.dtype, tensor.shape,
                           std::vector<std::byte>(elementCount(tensor.shape) *
                                                  dtypeBytes(tensor.dtype))});
  return arrays;
}

static std::vector<void *> addresses(std::vector<Array> &arrays) {
  std::vector<void *> list;
  for (Array &array : arrays)
    list.push_back(array.data.data());
  return list;
}

namespace {
/// What rank 0 checks and reads before the run, for after it.
struct Results {
  std::vector<std::optional<Array>> expected;

  void prepare(const RunOptions &options, const Manifest &manifest) {
    if (!options.output.empty())
      verifyWritablePlace(options.output);
    if (!options.trace.empty())
      Trace::makeFolder(options.trace);
    if (!options.compare.empty())
      expected = readExpected(options.compare, manifest.outputs);
  }
};
} // namespace

/// A run that leaves no trace is hardly what its user wants.
static bool saysNothing(const RunOptions &options) {
  return !options.report && options.output.empty() && options.compare.empty() &&
         options.trace.empty() && options.checkpoint.empty();
}

/// The inputs of all ranks come from the same files, so they choose the same
/// bucket.
static const Manifest &readInputsOf(const RunOptions &options,
                                    const Buckets &buckets,
                                    std::vector<Array> &inputs,
                                    Transport &transport) {
  size_t bucket = 0;
  phase(transport, "reading inputs", [&] {
    BoundInputs bound = readInputs(options.inputs, buckets);
    bucket = bound.bucket;
    inputs = std::move(bound.arrays);
  });
  return buckets[bucket];
}

void runRank(const RunOptions &options, const Buckets &buckets,
             const CleaveProgram *linked, Transport &transport) {
  bool isFirst = transport.rank() == 0;
  verifySameBuild(buckets.front(), transport);
  std::vector<Array> inputs;
  const Manifest &manifest = readInputsOf(options, buckets, inputs, transport);
  std::unique_ptr<RankRun> run;
  std::unique_ptr<Settings> settings;
  StepLog log;
  Results results;
  phase(transport, "loading", [&] {
    if (isFirst)
      results.prepare(options, manifest);
    bool isLinked = &manifest == &buckets.front();
    const CleaveProgram &program =
        findProgram(manifest, transport.rank(), isLinked ? linked : nullptr);
    DeviceOptions device;
    device.deadlines = options.deadlines;
    // A step that is replayed makes no calls that a trace could note.
    device.graph = options.graph && options.trace.empty();
    device.tf32 = options.tf32;
    run = std::make_unique<RankRun>(manifest, program, transport,
                                    threadCount(options.threads, transport),
                                    device);
    run->setInputs(addresses(inputs));
    inputs.clear();
    settings = std::make_unique<Settings>(
        options.train, manifest, manifest.programOf(transport.rank()),
        run->state().addresses(), int64_t{options.warmup} + options.repeat);
    if (!options.log.empty())
      log.open(options.log, manifest, isFirst);
  });
  transport.connect(manifest.groups);
  run->connect();

  std::vector<double> times =
      runSteps(options, manifest, *run, *settings, log, transport);
  std::vector<Array> outputs;
  if (isFirst)
    outputs = makeArrays(manifest.outputs);
  run->gatherOutputs(addresses(outputs));
  phase(transport, "writing outputs", [&] {
    if (isFirst && !options.output.empty())
      writeArrays(options.output, outputs);
    else if (isFirst && saysNothing(options))
      logf(LogLevel::Warn,
           "the outputs are not kept: --output FILE keeps them");
  });
  phase(transport, "writing the trace", [&] {
    if (run->context().trace)
      run->context().trace->write(options.trace, transport);
  });
  Report report =
      gatherReport(std::move(times), run->context().threads, transport);
  phase(transport, "comparing outputs", [&] {
    if (!isFirst)
      return;
    if (!options.compare.empty())
      report.differences =
          compareOutputs(manifest.outputs, outputs, results.expected);
    printReport(options, report);
    verifyEqual(report.differences, options.tolerance);
  });
  transport.finish();
}

} // namespace cleave::rt
