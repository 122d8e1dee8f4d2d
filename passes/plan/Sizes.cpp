//===- Sizes.cpp - merges, checks and enumerates sizes --------------------===//

#include "passes/plan/Sizes.h"

#include "passes/plan/BatchPins.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

/// Sizes that were said, as flags; 0 is left out.
static std::string printFlags(int64_t dp, int64_t tp, int64_t pp,
                              int64_t microBatches) {
  std::string text;
  auto add = [&](const char *flag, int64_t size) {
    if (size)
      text += (text.empty() ? "" : " ") + std::string(flag) + " " +
              std::to_string(size);
  };
  add("--dp", dp);
  add("--tp", tp);
  add("--pp", pp);
  add("--microbatches", microBatches);
  return text;
}

std::string cleave::plan::printSizes(const PlanSizes &sizes) {
  auto leaveOut = [](int64_t size) { return size == 1 ? 0 : size; };
  std::string text =
      printFlags(leaveOut(sizes.dp), leaveOut(sizes.tp), leaveOut(sizes.pp),
                 leaveOut(sizes.microBatches));
  return text.empty() ? "one rank" : text;
}

//===-- Plan files --------------------------------------------------------===//

static LogicalResult mergeSize(ModuleOp module, StringRef name, int64_t &size,
                               int64_t planned, StringRef plan,
                               StringRef remedy) {
  if (size != 0 && size != planned)
    return module.emitError()
           << "--" << name << " " << size << " contradicts " << plan
           << ", which has " << name << "=" << planned << remedy;
  size = planned;
  return success();
}

static LogicalResult mergeSchedule(ModuleOp module, std::string &schedule,
                                   const std::string &planned, StringRef plan) {
  if (!schedule.empty() && !planned.empty() && schedule != planned)
    return module.emitError() << "--schedule " << schedule << " contradicts "
                              << plan << ", which has " << planned;
  if (!planned.empty())
    schedule = planned;
  return success();
}

LogicalResult cleave::plan::mergeSizes(ModuleOp module, PlanOptions &options,
                                       const PlanFile &file) {
  for (const auto &[name, size] : file.axes)
    if (name != "dp" && name != "tp")
      return module.emitError() << "plan '" << file.path << "' names axis '"
                                << name << "', expected one of dp, tp";
  auto getRanks = [&](const char *name) {
    auto it = file.axes.find(name);
    return it == file.axes.end() ? 1 : it->second;
  };
  int64_t pp = file.stages.size();
  std::string plan = file.isAnnotation ? "the model's " + file.path
                                       : "plan '" + file.path + "'";
  StringRef remedy =
      file.isAnnotation ? "; --ignore-annotations plans without it" : "";
  auto merge = [&](StringRef name, int64_t &size, int64_t planned) {
    return mergeSize(module, name, size, planned, plan, remedy);
  };
  if (failed(merge("dp", options.dp, getRanks("dp"))) ||
      failed(merge("tp", options.tp, getRanks("tp"))) ||
      failed(merge("pp", options.pp, pp)))
    return failure();
  // Another bucket's batch may want other parts.
  if (!file.isBase &&
      failed(merge("microbatches", options.microBatches, file.microBatches)))
    return failure();
  return mergeSchedule(module, options.schedule, file.schedule, plan);
}

//===-- Ranks -------------------------------------------------------------===//

static LogicalResult verifySizes(ModuleOp module, const PlanOptions &options) {
  for (auto [name, size] : {std::pair("dp", options.dp),
                            {"tp", options.tp},
                            {"pp", options.pp},
                            {"microbatches", options.microBatches},
                            {"ranks", options.ranks}})
    if (size < 0 || size > kMaxSize)
      return module.emitError() << "--" << name << " must be from 1 to "
                                << kMaxSize << ", found " << size;
  return success();
}

/// How many ranks there will be, for sizes whose product is a divisor of it.
static FailureOr<int64_t> getRanks(ModuleOp module, const PlanOptions &options,
                                   const std::optional<Cluster> &cluster) {
  auto orOne = [](int64_t size) { return std::max<int64_t>(size, 1); };
  int64_t said = orOne(options.dp) * orOne(options.tp) * orOne(options.pp);
  bool isFixed = options.dp && options.tp && options.pp;
  auto fail = [&] {
    InFlightDiagnostic error = module.emitError()
                               << "the plan needs " << said << " ranks";
    std::string flags = printFlags(options.dp, options.tp, options.pp, 0);
    if (!options.planFile.empty())
      error << " (plan '" << options.planFile << "')";
    else if (!flags.empty())
      error << (isFixed ? "" : " or a multiple") << " (" << flags << ")";
    return error;
  };
  int64_t ranks = options.ranks;
  if (ranks == 0)
    ranks = isFixed || !cluster ? said : cluster->getRankCount();
  int64_t most = cluster ? cluster->getRankCount() : ranks;
  if (options.ranks == 0 && said > most)
    return fail() << ", but the cluster has " << most;
  if (ranks % said != 0 || (isFixed && ranks != said))
    return fail() << ", but "
                  << (options.ranks ? "--ranks is " : "the cluster has ")
                  << ranks;
  if (ranks > most)
    return module.emitError()
           << "--ranks is " << ranks << ", but the cluster has " << most;
  return ranks;
}

//===-- Enumeration -------------------------------------------------------===//

/// Visits dp x tp x pp = ranks with the sizes that are said.
static void forEachSizes(const PlanOptions &options, int64_t ranks,
                         llvm::function_ref<void(PlanSizes)> visit) {
  auto fits = [](int64_t size, int64_t said, int64_t whole) {
    return whole % size == 0 && (said == 0 || said == size);
  };
  for (int64_t pp = 1; pp <= ranks; ++pp) {
    if (!fits(pp, options.pp, ranks))
      continue;
    for (int64_t tp = 1; tp <= ranks / pp; ++tp)
      if (fits(tp, options.tp, ranks / pp) &&
          fits(ranks / pp / tp, options.dp, ranks / pp))
        visit({ranks / pp / tp, tp, pp, 1});
  }
}

static std::vector<int64_t> getMicroBatches(const Graph &graph,
                                            const PlanOptions &options,
                                            const PlanSizes &sizes,
                                            bool isOpen) {
  if (options.microBatches)
    return {options.microBatches};
  std::vector<int64_t> counts = {1};
  int64_t batch = getBatch(graph).value_or(0);
  if (isOpen && sizes.pp > 1)
    for (int64_t count : {2, 4, 8})
      if (batch > 0 && batch % (count * sizes.dp) == 0)
        counts.push_back(count);
  return counts;
}

FailureOr<std::vector<PlanSizes>>
cleave::plan::enumerateSizes(const Graph &graph, const PlanOptions &options,
                             const std::optional<Cluster> &cluster) {
  if (failed(verifySizes(graph.module, options)))
    return failure();
  FailureOr<int64_t> ranks = getRanks(graph.module, options, cluster);
  if (failed(ranks))
    return failure();
  bool isOpen = options.ranks || cluster;
  std::vector<PlanSizes> all;
  forEachSizes(options, *ranks, [&](PlanSizes sizes) {
    for (int64_t count : getMicroBatches(graph, options, sizes, isOpen)) {
      sizes.microBatches = count;
      all.push_back(sizes);
    }
  });
  // What the user has said stays, and another bucket says what is wrong.
  auto isWide = [&](const PlanSizes &sizes) {
    return options.leastBatch && sizes.dp > options.leastBatch;
  };
  if (!llvm::all_of(all, isWide))
    llvm::erase_if(all, isWide);
  return all;
}

//===-- Limits ------------------------------------------------------------===//

static int64_t getLargestDim(const Graph &graph) {
  int64_t largest = 1;
  for (const Tensor &tensor : graph.tensors)
    for (int64_t size : tensor.type.getShape())
      largest = std::max(largest, size);
  return largest;
}

static int64_t countNodes(const Graph &graph) {
  return llvm::count_if(graph.nodes,
                        [](const Node &node) { return !node.isSource(); });
}

LogicalResult cleave::plan::verifyLimits(const Graph &graph,
                                         const PlanSizes &sizes) {
  int64_t largest = getLargestDim(graph), nodes = countNodes(graph);
  if (sizes.tp > 1 && sizes.tp > largest)
    return graph.module.emitError()
           << "--tp " << sizes.tp << " leaves nothing to some ranks: the "
           << "largest dim of the model is " << largest;
  if (sizes.pp > 1 && sizes.pp > nodes)
    return graph.module.emitError()
           << "--pp " << sizes.pp << ": cannot cut " << nodes << " nodes into "
           << sizes.pp << " stages";
  return success();
}

int64_t cleave::plan::findFewerRanks(const Graph &graph,
                                     const PlanOptions &options,
                                     int64_t ranks) {
  int64_t batch = getBatch(graph).value_or(1), largest = getLargestDim(graph),
          nodes = countNodes(graph);
  batch = std::max<int64_t>(batch, 1);
  ranks = std::min(ranks - 1, batch * largest * nodes);
  for (; ranks > 0; --ranks) {
    bool isPossible = false;
    forEachSizes(options, ranks, [&](const PlanSizes &sizes) {
      isPossible |=
          sizes.dp <= batch && sizes.tp <= largest && sizes.pp <= nodes;
    });
    if (isPossible)
      return ranks;
  }
  return 0;
}
