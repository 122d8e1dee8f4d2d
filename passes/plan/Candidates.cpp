//===- Candidates.cpp - plans each candidate to the end -------------------===//

#include "passes/plan/Candidates.h"

#include "ir/Figures.h"
#include "passes/plan/BatchPins.h"
#include "passes/plan/Stages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

bool Candidate::operator<(const Candidate &other) const {
  auto rank = [](const Candidate &candidate) {
    bool isRefused = !candidate.refusal.empty();
    return std::tuple(isRefused, candidate.isIdle,
                      isRefused ? 0 : candidate.prediction.time.getSeconds(),
                      candidate.number);
  };
  return rank(*this) < rank(other);
}

//===-- Stages and axes ---------------------------------------------------===//

/// The axis over all stages: as slow as the slowest of them. Parts in time meet
/// in memory.
static AxisLink getAxisLink(const CostModel &costs, ArrayRef<MeshAttr> meshes,
                            const PlanAxis &axis) {
  AxisLink link{axis.getSize(), 0, costs.getMemoryBandwidth()};
  if (axis.ranks == 1)
    return link;
  for (MeshAttr mesh : meshes) {
    AxisLink own = costs.getAxisLink(mesh, axis.name);
    link.latency = std::max(link.latency, own.latency);
    link.bandwidth = std::min(link.bandwidth, own.bandwidth);
  }
  return link;
}

static LogicalResult readPins(Pins &pins, const Graph &graph,
                              const PlanRequest &request, int64_t stages,
                              ArrayRef<PlanAxis> axes) {
  if (failed(readPatterns(pins, graph, request.options, stages, axes)))
    return failure();
  if (request.file && failed(pinPlan(pins, graph, *request.file, axes)))
    return failure();
  if (request.annotations &&
      failed(pinAnnotations(pins, graph, *request.annotations, stages, axes)))
    return failure();
  return pinBatch(pins, graph, axes[0]);
}

/// Cuts depend on the number of stages only.
FailureOr<Graph> Planning::cutStages(const Pins &pins, int64_t stages) {
  auto it = staged.find(stages);
  if (it != staged.end())
    return it->second;
  Graph cut = graph;
  if (failed(assignStages(cut, costs, pins, stages)))
    return failure();
  return staged.emplace(stages, std::move(cut)).first->second;
}

LogicalResult Planning::searchAxes(Planned &planned, const Pins &pins,
                                   ArrayRef<PlanAxis> axes,
                                   Objective objective) {
  Decisions &decisions = planned.decisions;
  for (const PlanAxis &axis : axes) {
    if (axis.getSize() == 1)
      continue;
    AxisOptions search;
    search.name = axis.name;
    search.link = getAxisLink(costs, decisions.getMeshes(), axis);
    search.microBatches = axis.microBatches;
    search.verifiesMicroBatches =
        axis.microBatches > 1 && request.options.microBatches == 0;
    search.objective = objective;
    search.solver = solver;
    search.isBatch = axis.name == "dp";
    FailureOr<AxisReport> report =
        searchAxis(planned.graph, decisions.getLocal(), costs, pins, search);
    if (failed(report))
      return failure();
    decisions.addReport(*report);
  }
  return success();
}

//===-- Memory ------------------------------------------------------------===//

/// Which rank's memory the plan does not fit, in words; empty if it fits all.
static std::string findOverflow(const Prediction &prediction,
                                ArrayRef<MeshAttr> meshes,
                                const Cluster &cluster) {
  for (auto [stage, mesh] : llvm::zip(prediction.stages, meshes))
    for (int64_t rank : mesh.getRanks()) {
      const Device &device = cluster.getDeviceOf(rank);
      if (device.memory == 0 || stage.memoryBytes <= device.memory)
        continue;
      auto [needed, there] = formatApart(stage.memoryBytes, device.memory);
      return llvm::formatv("rank {0} needs {1} of memory, {2} of it for "
                           "parameters, but a device '{3}' has {4}",
                           rank, needed, formatBytes(stage.weightBytes),
                           device.name, there);
    }
  return "";
}

/// What the search minimises, in turn. Memory is for plans that do not fit.
static SmallVector<Objective> getObjectives(const PlanRequest &request,
                                            const PlanSizes &sizes) {
  if (request.options.objective != Objective::Automatic)
    return {request.options.objective};
  if (request.knowsRanks && sizes.tp > 1)
    return {Objective::Balanced, Objective::Time, Objective::Memory};
  return {Objective::Balanced, Objective::Memory};
}

//===-- One candidate -----------------------------------------------------===//

/// Plans with one objective and predicts.
FailureOr<std::unique_ptr<Planned>>
Planning::planFor(const PlanSizes &sizes, const Graph &cut, const Pins &pins,
                  ArrayRef<PlanAxis> axes, Objective objective) {
  auto planned = std::make_unique<Planned>(cut);
  Decisions &decisions = planned->decisions;
  decisions.setMeshes(axes, sizes.pp);
  if (failed(searchAxes(*planned, pins, axes, objective)))
    return failure();
  planned->prediction =
      predict(planned->graph, decisions.getLocal(), decisions.getMeshes(),
              decisions.getReports(), costs);
  return planned;
}

FailureOr<std::unique_ptr<Planned>> Planning::plan(const PlanSizes &sizes) {
  // What divides the weights less has to take less than this part of the time.
  constexpr double kClearly = 0.95;
  SmallVector<PlanAxis> axes = {{"dp", sizes.dp, sizes.microBatches},
                                {"tp", sizes.tp, 1}};
  Pins pins;
  if (failed(verifyLimits(graph, sizes)) ||
      failed(readPins(pins, graph, request, sizes.pp, axes)))
    return failure();
  FailureOr<Graph> cut = cutStages(pins, sizes.pp);
  if (failed(cut))
    return failure();
  std::unique_ptr<Planned> best;
  std::string overflow;
  for (Objective objective : getObjectives(request, sizes)) {
    if (best && objective == Objective::Memory)
      break;
    FailureOr<std::unique_ptr<Planned>> next =
        planFor(sizes, *cut, pins, axes, objective);
    if (failed(next))
      return failure();
    std::string own = findOverflow(
        (*next)->prediction, (*next)->decisions.getMeshes(), request.cluster);
    if (!own.empty())
      overflow = own;
    else if (!best || (*next)->prediction.time.getSeconds() <
                          kClearly * best->prediction.time.getSeconds())
      best = std::move(*next);
  }
  if (!best)
    return graph.module.emitError() << printSizes(sizes) << ": " << overflow;
  return best;
}

bool Planned::isIdle() const {
  return llvm::any_of(decisions.getReports(), [](const AxisReport &report) {
    return report.name == "tp" && report.isIdle;
  });
}

/// The first error becomes the refusal; nothing is shown.
void Planning::tryPlan(Candidate &candidate, const SolverOptions &quick) {
  SolverOptions thorough = std::exchange(solver, quick);
  auto restore = llvm::make_scope_exit([&] { solver = thorough; });
  ScopedDiagnosticHandler handler(
      graph.module.getContext(), [&](Diagnostic &diagnostic) {
        bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
        if (isError && candidate.refusal.empty())
          candidate.refusal = diagnostic.str();
        return success();
      });
  FailureOr<std::unique_ptr<Planned>> planned = plan(candidate.sizes);
  if (failed(planned))
    return;
  candidate.prediction = (*planned)->prediction;
  candidate.isIdle = (*planned)->isIdle();
}
