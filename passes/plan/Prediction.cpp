//===- Prediction.cpp - sums up costs by stage ----------------------------===//

#include "passes/plan/Prediction.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- Time --------------------------------------------------------------===//

StepTime cleave::plan::getStepTime(ArrayRef<StageCost> stages,
                                   int64_t microBatches, double turns) {
  StepTime time;
  double length = 0, slowest = 0, once = 0;
  for (const StageCost &stage : stages) {
    double part = stage.compute + stage.communication;
    length += part;
    slowest = std::max(slowest, part);
    once = std::max(once, stage.once);
    time.compute += microBatches * stage.compute / stages.size();
    time.communication +=
        (microBatches * stage.communication + stage.once) / stages.size();
  }
  length += (microBatches - 1) * slowest + once;
  length = std::max(length, turns + time.communication);
  // What is left of equal sums by rounding is no bubble.
  constexpr double kRounding = 1e-12;
  double bubble = length - time.compute - time.communication;
  time.bubble = bubble > kRounding * length ? bubble : 0;
  return time;
}

static void addCompute(std::vector<StageCost> &stages, const Graph &graph,
                       const LocalGraph &local, const CostModel &costs) {
  for (auto [node, work] : llvm::zip(graph.nodes, local.work))
    if (!node.results.empty())
      stages[node.stage].compute += costs.getOpTime(
          work, graph.tensors[node.results[0]].type.getElementType());
}

/// Other stages that read each tensor, each once.
static llvm::SmallVector<int64_t, 2>
getReaders(const Graph &graph, const std::vector<size_t> &users,
           const Tensor &tensor) {
  llvm::SmallVector<int64_t, 2> readers;
  for (size_t user : users) {
    int64_t stage = graph.nodes[user].stage;
    if (stage != tensor.stage && !llvm::is_contained(readers, stage))
      readers.push_back(stage);
  }
  return readers;
}

/// What a stage receives from another it waits for.
static void addReceives(std::vector<StageCost> &stages, const Graph &graph,
                        const LocalGraph &local, ArrayRef<MeshAttr> meshes,
                        const CostModel &costs) {
  std::vector<std::vector<size_t>> users = graph.getUsers();
  for (auto [t, tensor] : llvm::enumerate(graph.tensors)) {
    if (tensor.kind != Tensor::Value)
      continue;
    for (int64_t reader : getReaders(graph, users[t], tensor))
      stages[reader].communication +=
          getSendTime(costs.getMeshLink(meshes[tensor.stage], meshes[reader]),
                      local.tensors[t].getBytes());
  }
}

/// See getStepTime.
static double getTurns(ArrayRef<StageCost> stages, ArrayRef<MeshAttr> meshes,
                       int64_t microBatches, const Cluster &cluster) {
  std::map<int64_t, double> busy; // by node
  double turns = 0;
  for (auto [stage, mesh] : llvm::zip(stages, meshes))
    for (int64_t rank : mesh.getRanks()) {
      double &sum = busy[cluster.getNodeOf(rank)];
      sum += microBatches * stage.compute;
      turns = std::max(turns, sum / cluster.getCoresOf(rank));
    }
  return turns;
}

//===-- Memory ------------------------------------------------------------===//

namespace {
/// Positions in the program between which a value takes memory.
struct Life {
  int64_t first = -1, last = -1;
  void use(int64_t at) {
    first = first < 0 ? at : first;
    last = at;
  }
};
} // namespace

static bool isView(const Node &node) {
  const Work &work = node.work;
  return !node.isSource() && work.bytesRead == 0 && work.bytesWritten == 0 &&
         work.flops == 0;
}

/// The tensor whose memory each tensor lies in: views have none of their own.
static std::vector<size_t> findOwners(const Graph &graph) {
  std::vector<size_t> owner(graph.tensors.size());
  for (size_t t = 0; t < owner.size(); ++t)
    owner[t] = t;
  for (const Node &node : graph.nodes)
    if (isView(node))
      for (size_t result : node.results)
        owner[result] = owner[node.operands[0]];
  return owner;
}

/// The most bytes of values that are alive at once in a stage.
static double getPeakBytes(const Graph &graph, const LocalGraph &local,
                           ArrayRef<size_t> owner, int64_t stage) {
  int64_t end = graph.nodes.size();
  std::map<size_t, Life> lives;
  auto use = [&](size_t tensor, int64_t at) {
    if (graph.tensors[owner[tensor]].kind == Tensor::Value)
      lives[owner[tensor]].use(at);
  };
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    if (node.stage != stage || node.isSource())
      continue;
    for (size_t operand : node.operands)
      use(operand, n);
    for (size_t result : node.results)
      use(result, n);
  }
  for (size_t output : graph.outputs)
    if (graph.tensors[output].stage == stage)
      use(output, end);
  std::vector<double> change(end + 2, 0);
  for (const auto &[tensor, life] : lives) {
    change[life.first] += local.tensors[tensor].getBytes();
    change[life.last + 1] -= local.tensors[tensor].getBytes();
  }
  double bytes = 0, peak = 0;
  for (double step : change)
    peak = std::max(peak, bytes += step);
  return peak;
}

/// Stages that hold a parameter or input: all that read it.
static llvm::SmallVector<int64_t, 2>
getHolders(const Graph &graph, const std::vector<size_t> &users,
           const Tensor &tensor) {
  llvm::SmallVector<int64_t, 2> holders = getReaders(graph, users, tensor);
  holders.push_back(tensor.stage);
  return holders;
}

/// In training a stage keeps the values of the micro-batches that are under way
/// to the last stage and back: p - i of them in stage i of p.
static void addMemory(std::vector<StageCost> &stages, const Graph &graph,
                      const LocalGraph &local, int64_t microBatches) {
  std::vector<std::vector<size_t>> users = graph.getUsers();
  for (auto [t, tensor] : llvm::enumerate(graph.tensors)) {
    if (tensor.kind == Tensor::Value)
      continue;
    auto bytes = static_cast<int64_t>(local.tensors[t].getBytes());
    for (int64_t stage : getHolders(graph, users[t], tensor)) {
      stages[stage].memoryBytes += bytes;
      if (tensor.kind == Tensor::Param)
        stages[stage].weightBytes += bytes;
    }
  }
  bool isTraining = llvm::any_of(graph.nodes, [](const Node &node) {
    return node.op->hasAttr("cleave.origin");
  });
  std::vector<size_t> owner = findOwners(graph);
  int64_t count = stages.size();
  for (int64_t stage = 0; stage < count; ++stage) {
    int64_t underWay = isTraining ? std::min(microBatches, count - stage) : 1;
    stages[stage].memoryBytes += static_cast<int64_t>(
        underWay * getPeakBytes(graph, local, owner, stage));
  }
}

//===-- All of it ---------------------------------------------------------===//

size_t Prediction::getFullestStage() const {
  return std::max_element(stages.begin(), stages.end(),
                          [](const StageCost &a, const StageCost &b) {
                            return a.memoryBytes < b.memoryBytes;
                          }) -
         stages.begin();
}

Prediction cleave::plan::predict(const Graph &graph, const LocalGraph &local,
                                 ArrayRef<MeshAttr> meshes,
                                 ArrayRef<AxisReport> reports,
                                 const CostModel &costs) {
  Prediction prediction;
  std::vector<StageCost> &stages = prediction.stages;
  stages.resize(meshes.size());
  int64_t microBatches = meshes[0].getMicroBatches();
  addCompute(stages, graph, local, costs);
  for (const AxisReport &report : reports) {
    for (auto [stage, time] : llvm::enumerate(report.stageTimes))
      stages[stage].communication += time;
    for (auto [stage, time] : llvm::enumerate(report.onceTimes))
      stages[stage].once += time;
  }
  addReceives(stages, graph, local, meshes, costs);
  addMemory(stages, graph, local, microBatches);
  double turns = getTurns(stages, meshes, microBatches, costs.getCluster());
  prediction.time = getStepTime(stages, microBatches, turns);
  return prediction;
}
