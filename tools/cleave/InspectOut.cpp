//===- InspectOut.cpp - facts about a compiled model ----------------------===//
//
// From the manifest, and the plan's stages. A reduction is an all-reduce, or a
// reduce-scatter, which counts as one together with the all-gather that
// completes it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Format.h"
#include "tools/cleave/Inspect.h"
#include "tools/cleave/Manifest.h"
#include "tools/cleave/Verbs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace cleave;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

static const Array &getArray(const Object &object, llvm::StringRef key) {
  static const Array empty;
  const Array *array = object.getArray(key);
  return array ? *array : empty;
}

static Object getObject(const Object &object, llvm::StringRef key) {
  const Object *found = object.getObject(key);
  return found ? *found : Object();
}

static int64_t getCount(const Object &counts, llvm::StringRef name) {
  return counts.getInteger(name).value_or(0);
}

static int64_t getElementBytes(llvm::StringRef dtype) {
  if (dtype == "bool")
    return 1;
  int64_t bits = 0;
  dtype.drop_while([](char c) { return !llvm::isDigit(c); })
      .getAsInteger(10, bits);
  return bits / 8;
}

/// Bytes of the tensors that a rank of the program keeps.
static int64_t getStateBytes(const Object &program) {
  int64_t total = 0;
  for (const Value &entry : getArray(program, "state")) {
    const Object &tensor = *entry.getAsObject();
    int64_t bytes = getElementBytes(tensor.getString("dtype").value_or(""));
    for (const Value &size : getArray(tensor, "shape"))
      bytes *= size.getAsInteger().value_or(0);
    total += bytes;
  }
  return total;
}

/// Facts of program `number`.
static Object describeProgram(const Object &manifest, int64_t number) {
  const Object &program = *getArray(manifest, "programs")[number].getAsObject();
  Array ranks;
  for (auto [i, rank] : llvm::enumerate(getArray(manifest, "ranks")))
    if (rank.getAsObject()->getInteger("program") == number)
      ranks.push_back(static_cast<int64_t>(i));
  Object counts = getObject(program, "counts");
  int64_t reductions =
      getCount(counts, "all_reduce") + getCount(counts, "reduce_scatter");
  // The text is copied: the manifest does not live as long as the facts.
  return Object{{"name", program.getString("name").value_or("").str()},
                {"ranks", std::move(ranks)},
                {"arenaBytes", getArray(manifest, "arenaBytes")[number]},
                {"liveBytes", getArray(manifest, "liveBytes")[number]},
                {"weightBytes", getStateBytes(program)},
                {"reductions", reductions},
                {"flops", program.getNumber("flops").value_or(0)},
                {"schedule", Array(getArray(program, "schedule"))},
                {"counts", std::move(counts)},
                {"device", getObject(program, "device")}};
}

/// {"nodes": how many, "ranks"} of each stage of a plan.
static Array describeStages(const Object &plan) {
  Array stages;
  for (const Value &entry : getArray(plan, "stages")) {
    const Object &stage = *entry.getAsObject();
    stages.push_back(
        Object{{"nodes", static_cast<int64_t>(getArray(stage, "nodes").size())},
               {"ranks", Array(getArray(stage, "ranks"))}});
  }
  return stages;
}

/// Facts of one bucket.
static Object describeBucket(const Object &manifest) {
  Array programs;
  int64_t reductions = 0;
  for (size_t i = 0; i < getArray(manifest, "programs").size(); ++i) {
    programs.push_back(describeProgram(manifest, i));
    reductions +=
        programs.back().getAsObject()->getInteger("reductions").value_or(0);
  }
  return Object{{"inputs", Array(getArray(manifest, "inputs"))},
                {"outputs", Array(getArray(manifest, "outputs"))},
                {"reductions", reductions},
                {"programs", std::move(programs)}};
}

/// What the first bucket's facts are among, and those of the others.
static Object describe(Object manifest, const Object &plan) {
  Object facts = describeBucket(manifest), axes;
  for (auto [name, size] :
       llvm::zip(getArray(manifest, "axes"), getArray(manifest, "axisSizes")))
    axes[*name.getAsString()] = size;
  facts["model"] = manifest.getString("model").value_or("").str();
  facts["world"] = manifest.getInteger("world").value_or(1);
  facts["axes"] = std::move(axes);
  facts["stages"] = describeStages(plan);
  facts["microbatches"] = plan.getInteger("microbatches").value_or(1);
  facts["requires"] = getObject(manifest, "requires");
  Array others, buckets = getArray(manifest, "buckets");
  for (const Value &bucket : buckets) {
    for (const auto &[key, value] : *bucket.getAsObject())
      manifest[key] = value;
    others.push_back(describeBucket(manifest));
  }
  if (!others.empty())
    facts["buckets"] = std::move(others);
  return facts;
}

//===-- Text --------------------------------------------------------------===//

static std::string joinNumbers(const Array &numbers, const char *separator) {
  std::string text;
  for (const Value &number : numbers)
    text += (text.empty() ? "" : separator) +
            std::to_string(number.getAsInteger().value_or(0));
  return text;
}

static void printTensors(const Object &facts, const char *key) {
  for (const Value &entry : getArray(facts, key)) {
    const Object &tensor = *entry.getAsObject();
    llvm::outs() << llvm::formatv(
        "{0}: {1} {2} [{3}]{4}\n", llvm::StringRef(key).drop_back(),
        *tensor.getString("name"), *tensor.getString("dtype"),
        joinNumbers(getArray(tensor, "shape"), ", "),
        tensor.getBoolean("kept").value_or(false) ? ", kept" : "");
  }
}

/// "12 row, 49 matmul" of those that `wanted` names.
static void printCounts(const Object &counts, const char *title,
                        llvm::ArrayRef<const char *> wanted) {
  std::string text;
  for (const char *name : wanted)
    if (int64_t count = getCount(counts, name))
      text +=
          llvm::formatv("{0}{1} {2}", text.empty() ? "" : ", ", count, name);
  if (!text.empty())
    llvm::outs() << "  " << title << ": " << text << "\n";
}

/// "narrow loads in 1 kernel, since a thread has a window: loop_6", a line
/// for each reason.
static void printNarrowLoads(const Array &kernels) {
  std::map<std::string, std::vector<std::string>> byReason;
  for (const Value &entry : kernels) {
    const Object &kernel = *entry.getAsObject();
    std::string reason = kernel.getString("narrowLoads").value_or("").str();
    if (!reason.empty())
      byReason[reason].push_back(kernel.getString("name").value_or("?").str());
  }
  for (const auto &[reason, names] : byReason)
    llvm::outs() << llvm::formatv("  narrow loads in {0}, since {1}: {2}\n",
                                  formatCount(names.size(), "kernel"), reason,
                                  llvm::join(names, ", "));
}

/// "sm_90: 13 kernels, at most 66 registers and 4 KiB of shared memory, no
/// spills".
static void printDevice(const Object &device) {
  if (device.empty())
    return;
  llvm::outs() << "  launches: " << getCount(device, "launches") << "\n";
  std::map<std::string, const Array *> binaries;
  for (const auto &[arch, kernels] : *device.getObject("binaries"))
    binaries[arch.str()] = kernels.getAsArray();
  for (const auto &[arch, kernels] : binaries) {
    int64_t registers = 0, shared = 0, spills = 0;
    for (const Value &entry : *kernels) {
      const Object &kernel = *entry.getAsObject();
      registers = std::max(registers, getCount(kernel, "registers"));
      shared = std::max(shared, getCount(kernel, "sharedBytes"));
      spills += getCount(kernel, "spillBytes");
    }
    llvm::outs() << llvm::formatv(
        "  {0}: {1}, at most {2} registers and {3} of shared memory, {4}\n",
        arch, formatCount(kernels->size(), "kernel"), registers,
        formatBytes(shared),
        spills ? formatBytes(spills) + " of spills" : "no spills");
  }
  if (!binaries.empty())
    printNarrowLoads(*binaries.begin()->second);
}

/// "1 x forward, 3 x (forward, backward), 1 x backward" of micro-batches.
static void printSchedule(const Array &loops) {
  std::string text;
  for (const Value &entry : loops) {
    const Object &loop = *entry.getAsObject();
    std::string chunks;
    for (const Value &chunk : getArray(loop, "chunks"))
      chunks += (chunks.empty() ? "" : ", ") +
                chunk.getAsString().value_or("?").str();
    bool isOne = getArray(loop, "chunks").size() == 1;
    text += llvm::formatv("{0}{1} x {2}", text.empty() ? "" : ", ",
                          getCount(loop, "count"),
                          isOne ? chunks : "(" + chunks + ")");
  }
  if (!text.empty())
    llvm::outs() << "  schedule: " << text << "\n";
}

static void printProgram(const Object &program) {
  const Array &ranks = getArray(program, "ranks");
  llvm::outs() << llvm::formatv(
      "program {0}: {1} {2}\n  memory of a rank: "
      "{3} of weights, {4} of arena ({5} live)\n",
      *program.getString("name"), ranks.size() == 1 ? "rank" : "ranks",
      joinNumbers(ranks, ", "), formatBytes(getCount(program, "weightBytes")),
      formatBytes(getCount(program, "arenaBytes")),
      formatBytes(getCount(program, "liveBytes")));
  printSchedule(getArray(program, "schedule"));
  const Object &counts = *program.getObject("counts");
  printCounts(counts, "kernels", {"loop", "row", "attention", "reduce"});
  printCounts(counts, "library calls", {"matmul", "conv", "conv_weight_grad"});
  printCounts(counts, "collectives",
              {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
               "send", "recv"});
  llvm::outs() << "  reductions: " << getCount(program, "reductions") << "\n";
  llvm::outs() << llvm::formatv("  products: {0:F3} GFLOP a step of a rank\n",
                                1e-9 * *program.getNumber("flops"));
  printDevice(*program.getObject("device"));
}

static void printBucket(const Object &facts) {
  printTensors(facts, "inputs");
  printTensors(facts, "outputs");
  for (const Value &program : getArray(facts, "programs"))
    printProgram(*program.getAsObject());
}

/// What a pipeline is made of; one stage with whole batches needs no words.
static void printStages(const Object &facts) {
  const Array &stages = getArray(facts, "stages");
  for (size_t i = 0; stages.size() > 1 && i < stages.size(); ++i) {
    const Object &stage = *stages[i].getAsObject();
    const Array &ranks = getArray(stage, "ranks");
    llvm::outs() << llvm::formatv("stage {0}: {1} on {2} {3}\n", i,
                                  formatCount(getCount(stage, "nodes"), "node"),
                                  ranks.size() == 1 ? "rank" : "ranks",
                                  joinNumbers(ranks, ", "));
  }
  int64_t microBatches = getCount(facts, "microbatches");
  if (microBatches > 1)
    llvm::outs() << "micro-batches: " << microBatches << "\n";
}

static void print(const Object &facts) {
  llvm::outs() << llvm::formatv("model: {0}\nranks: {1}\n",
                                *facts.getString("model"),
                                *facts.getInteger("world"));
  const Object &needs = *facts.getObject("requires");
  llvm::outs() << "needs: glibc " << needs.getString("glibc").value_or("?");
  if (auto mpi = needs.getString("mpi"))
    llvm::outs() << ", " << *mpi;
  if (const Array *archs = needs.getArray("cuda")) {
    llvm::outs() << ", CUDA with a device of";
    for (const Value &arch : *archs)
      llvm::outs() << " " << arch.getAsString().value_or("?");
    llvm::outs() << " or later";
  }
  llvm::outs() << "\n";
  std::map<std::string, int64_t> axes;
  for (const auto &[name, size] : *facts.getObject("axes"))
    axes[name.str()] = size.getAsInteger().value_or(0);
  for (const auto &[name, size] : axes)
    llvm::outs() << "axis: " << name << " = " << size << "\n";
  printStages(facts);
  printBucket(facts);
  for (auto [i, bucket] : llvm::enumerate(getArray(facts, "buckets"))) {
    llvm::outs() << "bucket " << i + 1 << ":\n";
    printBucket(*bucket.getAsObject());
  }
}

int cleave::inspectOut(const InspectFlags &flags) {
  std::optional<Object> manifest = readManifest(flags.path);
  if (!manifest)
    return ExitMismatch;
  if (flags.check &&
      failed(verifyFiles(flags.path, *manifest, Check::Contents)))
    return ExitMismatch;
  std::optional<Object> plan = readJson(flags.path + "/" + format::PlanFile);
  if (!plan)
    return ExitMismatch;
  Object facts = describe(*manifest, *plan);
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", Value(std::move(facts)));
  else
    print(facts);
  return ExitDone;
}
