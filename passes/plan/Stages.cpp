//===- Stages.cpp - dynamic programming over cut points -------------------===//

#include "passes/plan/Stages.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <map>

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- The plain problem -------------------------------------------------===//

namespace {

/// Slowest stage, then the sum of all sends.
struct CutCost {
  double slowest = std::numeric_limits<double>::infinity();
  double sends = std::numeric_limits<double>::infinity();
  bool operator<(const CutCost &other) const {
    return std::tie(slowest, sends) < std::tie(other.slowest, other.sends);
  }
};

/// best[k][i]: the first i items in stages 0 .. k; from[k][i]: where k starts.
struct Tables {
  std::vector<std::vector<CutCost>> best;
  std::vector<std::vector<size_t>> from;
};

} // namespace

/// Running totals: of times, of pinned items, and of those pinned to `stage`.
template <typename T, typename Fn>
static std::vector<T> accumulate(size_t count, Fn value) {
  std::vector<T> sums(count + 1, T(0));
  for (size_t i = 0; i < count; ++i)
    sums[i + 1] = sums[i] + value(i);
  return sums;
}

/// Fills row `k` of the tables from row k - 1.
static void addStage(const CutProblem &problem, const std::vector<double> &time,
                     const std::vector<int64_t> &pinned, int64_t k,
                     Tables &tables) {
  size_t count = problem.times.size();
  auto here = accumulate<int64_t>(
      count, [&](size_t i) { return problem.pins[i] == k; });
  for (size_t end = k + 1; end <= count; ++end) {
    double send = end == count ? 0 : problem.sends[end];
    for (size_t begin = k; begin < end; ++begin) {
      if (here[end] - here[begin] != pinned[end] - pinned[begin])
        continue; // pinned to another stage
      CutCost before = k == 0 ? CutCost{0, 0} : tables.best[k - 1][begin];
      if (k == 0 && begin != 0)
        break;
      CutCost cost{std::max(before.slowest, time[end] - time[begin] + send),
                   before.sends + send};
      if (cost < tables.best[k][end]) {
        tables.best[k][end] = cost;
        tables.from[k][end] = begin;
      }
    }
  }
}

std::optional<std::vector<int64_t>>
cleave::plan::cutItems(const CutProblem &problem) {
  size_t count = problem.times.size();
  auto time =
      accumulate<double>(count, [&](size_t i) { return problem.times[i]; });
  auto pinned = accumulate<int64_t>(
      count, [&](size_t i) { return problem.pins[i] >= 0; });
  Tables tables;
  for (int64_t k = 0; k < problem.stages; ++k) {
    tables.best.emplace_back(count + 1);
    tables.from.emplace_back(count + 1, 0);
    addStage(problem, time, pinned, k, tables);
  }
  if (!(tables.best.back()[count] < CutCost()))
    return std::nullopt;
  std::vector<int64_t> stages(count);
  size_t end = count;
  for (int64_t k = problem.stages - 1; k >= 0; --k) {
    size_t begin = tables.from[k][end];
    std::fill(stages.begin() + begin, stages.begin() + end, k);
    end = begin;
  }
  return stages;
}

//===-- The graph ---------------------------------------------------------===//

/// Number of a forward op and, on backward ops, of the op that they come from:
/// see the training phase.
static constexpr StringRef kNumber = "cleave.node", kOrigin = "cleave.origin";

static std::optional<int64_t> getNumber(const Node &node, StringRef attribute) {
  auto number = node.op->getAttrOfType<IntegerAttr>(attribute);
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// Nodes that are cut: all but constants, up to the first backward op.
static std::vector<size_t> getItems(const Graph &graph) {
  std::vector<size_t> items;
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    if (getNumber(node, kOrigin))
      break;
    if (!node.isSource())
      items.push_back(n);
  }
  return items;
}

/// Places backward ops by their origin, and what follows them by what it reads.
static void placeFollowers(Graph &graph, size_t first) {
  std::map<int64_t, int64_t> stageOf; // by number
  std::vector<int64_t> made(graph.tensors.size(), 0);
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    if (std::optional<int64_t> number = getNumber(node, kNumber))
      stageOf[*number] = node.stage;
    std::optional<int64_t> origin = getNumber(node, kOrigin);
    if (n >= first && origin)
      node.stage = stageOf[*origin];
    else if (n >= first)
      for (size_t operand : node.operands)
        node.stage = std::max(node.stage, made[operand]);
    if (!node.isSource())
      for (size_t result : node.results)
        made[result] = node.stage;
  }
}

/// Bytes that are made before each item and read by it or later.
static std::vector<double> getCrossingBytes(const Graph &graph,
                                            const std::vector<size_t> &items) {
  std::vector<double> change(items.size() + 1, 0);
  std::vector<int64_t> madeAt(graph.tensors.size(), -1),
      readAt(graph.tensors.size(), -1);
  for (auto [i, n] : llvm::enumerate(items)) {
    for (size_t result : graph.nodes[n].results)
      madeAt[result] = i;
    for (size_t operand : graph.nodes[n].operands)
      readAt[operand] = i;
  }
  for (auto [t, tensor] : llvm::enumerate(graph.tensors)) {
    if (madeAt[t] < 0 || readAt[t] < 0)
      continue;
    change[madeAt[t] + 1] += getByteSize(tensor.type);
    change[readAt[t] + 1] -= getByteSize(tensor.type);
  }
  return accumulate<double>(items.size(), [&](size_t i) { return change[i]; });
}

/// What a stage sends to the next: between corresponding ranks, the slowest
/// link.
static Link getStageLink(const Cluster &cluster) {
  if (cluster.network >= 0)
    return cluster.links[cluster.network];
  return cluster.links.empty() ? Link{"none", 0, 1e9}
                               : cluster.links[cluster.nodes[0].link];
}

static LogicalResult explainFailure(const Graph &graph,
                                    const CutProblem &problem,
                                    const std::vector<size_t> &items) {
  if (static_cast<int64_t>(items.size()) < problem.stages)
    return graph.module.emitError()
           << "cannot cut " << items.size() << " nodes into " << problem.stages
           << " stages";
  size_t highest = items.size();
  for (size_t i = 0; i < items.size(); ++i) {
    if (problem.pins[i] < 0)
      continue;
    if (highest < i && problem.pins[i] < problem.pins[highest]) {
      const Node &node = graph.nodes[items[i]],
                 &earlier = graph.nodes[items[highest]];
      InFlightDiagnostic diagnostic =
          node.op->emitError()
          << "stage pins contradict the order of the program: '" << node.name
          << "' is pinned to stage " << problem.pins[i] << ", but comes after '"
          << earlier.name << "' in stage " << problem.pins[highest];
      diagnostic.attachNote(earlier.op->getLoc())
          << "'" << earlier.name << "' is here";
      return diagnostic;
    }
    if (highest == items.size() || problem.pins[i] > problem.pins[highest])
      highest = i;
  }
  return graph.module.emitError() << "the stage pins leave one of "
                                  << problem.stages << " stages without a node";
}

/// Stage of the earliest user of a value; `otherwise` if it has none.
static int64_t getFirstStage(const Graph &graph,
                             const std::vector<size_t> &users,
                             int64_t otherwise) {
  int64_t first = otherwise;
  for (auto [i, user] : llvm::enumerate(users))
    first = i == 0 ? graph.nodes[user].stage
                   : std::min(first, graph.nodes[user].stage);
  return first;
}

/// Constants, inputs and parameters are where they are read first.
static void placeSources(Graph &graph) {
  std::vector<std::vector<size_t>> users = graph.getUsers();
  for (Node &node : graph.nodes)
    if (node.isSource() && !node.results.empty())
      node.stage = getFirstStage(graph, users[node.results[0]], 0);
  for (auto [t, tensor] : llvm::enumerate(graph.tensors))
    if (tensor.kind != Tensor::Value)
      tensor.stage = getFirstStage(graph, users[t], 0);
  for (const Node &node : graph.nodes)
    for (size_t result : node.results)
      graph.tensors[result].stage = node.stage;
}

LogicalResult cleave::plan::assignStages(Graph &graph, const CostModel &costs,
                                         const Pins &pins, int64_t stages) {
  if (stages == 1)
    return success();
  std::vector<size_t> items = getItems(graph);
  Link link = getStageLink(costs.getCluster());
  CutProblem problem;
  problem.stages = stages;
  for (size_t n : items) {
    const Node &node = graph.nodes[n];
    Type element = graph.tensors[node.results[0]].type.getElementType();
    problem.times.push_back(costs.getOpTime(node.work, element));
    auto pin = pins.stages.find(n);
    problem.pins.push_back(pin == pins.stages.end() ? -1 : pin->second);
  }
  std::vector<double> bytes = getCrossingBytes(graph, items);
  for (size_t i = 0; i < items.size(); ++i)
    problem.sends.push_back(getSendTime(link, bytes[i + 1]));
  std::optional<std::vector<int64_t>> cut = cutItems(problem);
  if (!cut)
    return explainFailure(graph, problem, items);
  for (auto [n, stage] : llvm::zip(items, *cut))
    graph.nodes[n].stage = stage;
  placeFollowers(graph, items.back() + 1);
  placeSources(graph);
  return success();
}
