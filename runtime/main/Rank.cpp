//===- Rank.cpp - the life of one rank, from start-up check to outputs ----===//

#include "runtime/main/Rank.h"

#include "runtime/Threads.h"
#include "runtime/main/Agree.h"
#include "runtime/main/Inputs.h"
#include "runtime/main/RankRun.h"
#include "runtime/main/Report.h"
#include "runtime/main/Steps.h"
#include "runtime/program/Program.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/Log.h"

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

/// All that would be wrong with the file after the run.
static void verifyOutput(const std::filesystem::path &file,
                         const Manifest &manifest) {
  verifyWritablePlace(file);
  std::vector<std::pair<std::string, CleaveDtype>> heads;
  for (const TensorInfo &output : manifest.outputs)
    heads.emplace_back(output.name, output.dtype);
  verifyHolds(file, heads);
}

namespace {
/// What rank 0 checks and reads before the run, for after it.
struct Results {
  std::vector<std::optional<Array>> expected;

  void prepare(const RunOptions &options, const Manifest &manifest) {
    if (!options.output.empty())
      verifyOutput(options.output, manifest);
    if (!options.trace.empty())
      Trace::makeFolder(options.trace);
    if (!options.compare.empty())
      expected = readExpected(options.compare, manifest.outputs);
  }
};
} // namespace

static std::unique_ptr<TrainingData> openData(const RunOptions &options,
                                              InputData arrays,
                                              const Manifest &manifest,
                                              int rank) {
  DataSet samples(std::move(arrays), manifest, rank);
  Batches batches(samples, options.seed.value_or(0),
                  hasSetting(manifest, "samples"));
  return std::make_unique<TrainingData>(
      TrainingData{std::move(samples), std::move(batches)});
}

/// A run that leaves no trace is hardly what its user wants.
static bool saysNothing(const RunOptions &options) {
  return !options.report && options.output.empty() && options.compare.empty() &&
         options.trace.empty() && options.checkpoint.empty();
}

/// The inputs of all ranks come from the same files, so they choose the same
/// bucket.
static const Manifest &readInputsOf(const RunOptions &options,
                                    const Buckets &buckets, BoundInputs &inputs,
                                    Transport &transport) {
  phase(transport, "reading inputs",
        [&] { inputs = readInputs(options.inputs, options.data, buckets); });
  return buckets[inputs.bucket];
}

void runRank(const RunOptions &options, const Buckets &buckets,
             const CleaveProgram *linked, Transport &transport) {
  bool isFirst = transport.rank() == 0;
  verifySameBuild(buckets.front(), transport);
  BoundInputs inputs;
  const Manifest &manifest = readInputsOf(options, buckets, inputs, transport);
  std::unique_ptr<RankRun> run;
  std::unique_ptr<TrainingData> data;
  std::unique_ptr<Steps> steps;
  Results results;
  phase(transport, "loading", [&] {
    if (isFirst)
      results.prepare(options, manifest);
    bool isLinked = &manifest == &buckets.front();
    const CleaveProgram &program =
        findProgram(manifest, transport.rank(), isLinked ? linked : nullptr);
    if (!options.data.empty())
      data = openData(options, std::move(inputs.samples), manifest,
                      transport.rank());
    DeviceOptions device;
    device.deadlines = options.deadlines;
    // A step that is replayed makes no calls that a trace could note.
    device.graph = options.graph && options.trace.empty();
    device.tf32 = options.tf32;
    run = std::make_unique<RankRun>(manifest, program, transport,
                                    threadCount(options.threads, transport),
                                    device);
    run->setInputs(addresses(inputs.arrays));
    inputs.arrays.clear();
    steps =
        std::make_unique<Steps>(options, manifest, *run, data.get(), transport);
  });
  transport.connect(manifest.groups);
  run->connect();

  std::vector<double> times = steps->execute();
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
