//===- AxisSearch.cpp - poses and solves the problem of one axis ----------===//

#include "passes/plan/AxisSearch.h"
#include "passes/plan/AxisProblem.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- Local graph -------------------------------------------------------===//

LocalGraph::LocalGraph(const Graph &graph)
    : states(graph.tensors.size()), usedFactors(graph.nodes.size()) {
  for (const Tensor &tensor : graph.tensors) {
    int64_t bits = tensor.type.getElementTypeBitWidth();
    tensors.push_back(
        {llvm::to_vector(tensor.type.getShape()), (bits + 7) / 8});
  }
  for (const Node &node : graph.nodes)
    work.push_back(node.work);
}

bool LocalGraph::isSplit(size_t tensor, int64_t dim) const {
  return llvm::any_of(states[tensor], [&](const AxisState &state) {
    return state.kind == AxisState::Split && state.dim == dim;
  });
}

//===-- What was decided --------------------------------------------------===//

static void addTime(std::vector<double> &times, int64_t stage, double time) {
  times.resize(std::max<size_t>(times.size(), stage + 1));
  times[stage] += time;
}

/// Counts a conversion as the collective that it becomes.
static void count(AxisReport &report, const AxisState &from,
                  const AxisState &to, double time, int64_t stage,
                  bool isOnce) {
  if (from.kind == AxisState::Partial)
    ++report.reductions;
  else if (from.kind == AxisState::Split && to.kind == AxisState::Replicated)
    ++report.gathers;
  else if (from.kind == AxisState::Split)
    ++report.exchanges;
  report.time += time;
  addTime(isOnce ? report.onceTimes : report.stageTimes, stage, time);
}

/// Divides shapes and work, and remembers states and factors.
static void apply(const Graph &graph, LocalGraph &local,
                  const AxisProblem &problem, const Solution &solution,
                  int64_t parts) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Strategy &strategy = problem.getStrategy(n, solution);
    local.work[n] = getLocalWork(graph, local, n, strategy, parts);
    if (strategy.factor >= 0)
      local.usedFactors[n].push_back(strategy.factor);
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    AxisState state = problem.getState(t, solution);
    local.states[t].push_back(state);
    if (state.kind != AxisState::Split)
      continue;
    int64_t &size = local.tensors[t].shape[state.dim];
    size = getChunk(size, state.block, parts);
  }
}

/// The ops of a micro-batch form a loop: a node is in it, where it has a part
/// of the batch, or past it, where it descends from what all parts make.
static LogicalResult verifyMicroBatches(const Graph &graph,
                                        const AxisProblem &problem,
                                        const Solution &solution) {
  std::vector<bool> isPast(graph.tensors.size(), false);
  for (auto [n, node] : llvm::enumerate(graph.nodes)) {
    const Strategy &strategy = problem.getStrategy(n, solution);
    bool isIn = strategy.factor >= 0, past = false;
    for (auto [operand, need] : llvm::zip(node.operands, strategy.operands)) {
      AxisState made = problem.getState(operand, solution);
      isIn |= need.kind != AxisState::Replicated;
      past |= isPast[operand] ||
              (made.kind != AxisState::Replicated && made != need);
    }
    if (isIn && past)
      return node.op->emitError()
             << "node '" << node.name
             << "' needs one micro-batch and all of them at once";
    for (size_t result : node.results)
      isPast[result] = past;
  }
  return success();
}

FailureOr<AxisReport> cleave::plan::searchAxis(const Graph &graph,
                                               LocalGraph &local,
                                               const CostModel &costs,
                                               const Pins &pins,
                                               const AxisOptions &axis) {
  AxisProblem problem(graph, local, costs, pins, axis);
  if (failed(problem.build()))
    return failure();
  std::optional<Solution> solution = solve(problem.get(), axis.solver);
  if (!solution)
    return graph.module.emitError() << "no plan along axis '" << axis.name
                                    << "' fits what is fixed by hand";
  if (axis.verifiesMicroBatches &&
      failed(verifyMicroBatches(graph, problem, *solution)))
    return failure();
  AxisReport report;
  report.name = axis.name;
  report.isExact = solution->exact;
  for (size_t variable : solution->fixed)
    report.fixed.push_back(problem.get().variables[variable].name);
  problem.forEachConversion(*solution, [&](size_t tensor, const AxisState &from,
                                           const AxisState &to) {
    AxisLink link = axis.link;
    link.size /= axis.microBatches;
    double time =
        costs.getConversionTime(from, to, local.tensors[tensor], link);
    count(report, from, to, time, graph.tensors[tensor].stage,
          axis.microBatches > 1);
  });
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    report.isIdle &= problem.getStrategy(n, *solution).factor < 0;
  apply(graph, local, problem, *solution, axis.link.size);
  return report;
}
