//===- Planner.cpp - pins, stages, then axis by axis ----------------------===//
//
// dp divides the batch: dim 0 of the first input, and of every input with the
// same size there; parameters are whole along it. tp divides what pays. An axis
// of size 1 divides nothing and is left out of the meshes.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Planner.h"
#include "passes/plan/AxisSearch.h"
#include "passes/plan/Decisions.h"
#include "passes/plan/PlanFile.h"
#include "passes/plan/Stages.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- Sizes -------------------------------------------------------------===//

/// Takes a size from the plan file; the same size may also be given by flag.
static LogicalResult mergeSize(ModuleOp module, StringRef name, int64_t &size,
                               int64_t planned, StringRef path) {
  if (size != 1 && size != planned)
    return module.emitError()
           << name << "=" << size << " contradicts plan '" << path
           << "', which has " << name << "=" << planned;
  size = planned;
  return success();
}

static LogicalResult mergeSizes(ModuleOp module, PlanOptions &options,
                                const PlanFile &file) {
  int64_t dp = 1, tp = 1;
  for (const PlanAxis &axis : file.axes) {
    if (axis.name != "dp" && axis.name != "tp")
      return module.emitError() << "plan '" << file.path << "' names axis '"
                                << axis.name << "', expected one of dp, tp";
    (axis.name == "dp" ? dp : tp) = axis.size;
  }
  int64_t pp = file.stages.size();
  return failure(failed(mergeSize(module, "dp", options.dp, dp, file.path)) ||
                 failed(mergeSize(module, "tp", options.tp, tp, file.path)) ||
                 failed(mergeSize(module, "pp", options.pp, pp, file.path)));
}

static LogicalResult verifySizes(ModuleOp module, const PlanOptions &options,
                                 const std::optional<Cluster> &cluster) {
  for (auto [name, size] :
       {std::pair("dp", options.dp), {"tp", options.tp}, {"pp", options.pp}})
    if (size < 1)
      return module.emitError()
             << name << " must be at least 1, found " << size;
  int64_t needed = options.dp * options.tp * options.pp;
  auto fail = [&] {
    return module.emitError()
           << "the plan needs " << needed << " ranks (dp=" << options.dp
           << " x tp=" << options.tp << " x pp=" << options.pp << "), but ";
  };
  if (options.ranks != 0 && options.ranks != needed)
    return fail() << options.ranks << " were asked for";
  if (cluster && cluster->getRankCount() < needed)
    return fail() << "the cluster has " << cluster->getRankCount();
  return success();
}

//===-- Data parallelism --------------------------------------------------===//

/// Pins the batch of the inputs to dp, and parameters whole along it, where the
/// user has not said otherwise.
static LogicalResult pinBatch(Pins &pins, const Graph &graph, int64_t dp) {
  if (dp == 1)
    return success();
  std::optional<int64_t> batch;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors)) {
    if (tensor.kind == Tensor::Value || pins.find(i, "dp"))
      continue;
    StatePin pin;
    pin.source = "data parallelism";
    bool isBatched = tensor.kind == Tensor::Input && tensor.type.getRank() > 0;
    if (isBatched && !batch)
      batch = tensor.type.getDimSize(0);
    if (isBatched && tensor.type.getDimSize(0) == *batch) {
      if (*batch < dp)
        return graph.module.emitError()
               << "input '" << tensor.name << "' has batch " << *batch
               << " in dim 0, which leaves nothing to some of dp=" << dp
               << " ranks";
      pin.dims = {0};
    }
    pins.states[i].try_emplace("dp", pin);
  }
  return success();
}

//===-- The plan ----------------------------------------------------------===//

/// The axis over all stages: as slow as the slowest of them.
static AxisLink getAxisLink(const CostModel &costs, ArrayRef<MeshAttr> meshes,
                            StringRef name) {
  AxisLink link = costs.getAxisLink(meshes[0], name);
  for (MeshAttr mesh : meshes.drop_front()) {
    AxisLink other = costs.getAxisLink(mesh, name);
    link.latency = std::max(link.latency, other.latency);
    link.bandwidth = std::min(link.bandwidth, other.bandwidth);
  }
  return link;
}

/// An approximate result is said, never silent.
static void remarkApproximate(ModuleOp module, const AxisReport &report) {
  if (report.isExact)
    return;
  InFlightDiagnostic diagnostic =
      module.emitRemark() << "the search along axis '" << report.name
                          << "' is approximate: its tables grew too large, so "
                          << report.fixed.size() << " choices were fixed first";
  for (const std::string &name : report.fixed)
    diagnostic.attachNote() << "fixed: " << name;
}

static LogicalResult readPins(Pins &pins, const Graph &graph,
                              const PlanOptions &options,
                              ArrayRef<PlanAxis> axes,
                              const std::optional<PlanFile> &file) {
  if (failed(readPatterns(pins, graph, options, axes)))
    return failure();
  if (file && failed(pinPlan(pins, graph, *file, axes)))
    return failure();
  return pinBatch(pins, graph, options.dp);
}

LogicalResult cleave::planModule(ModuleOp module, PlanOptions options,
                                 const std::optional<Cluster> &given) {
  if (!module.getOps<MeshOp>().empty())
    return module.emitError("the module has a mesh: it is planned already");
  std::optional<PlanFile> file;
  if (!options.planFile.empty()) {
    FailureOr<PlanFile> read =
        readPlanFile(module.getContext(), options.planFile);
    if (failed(read) || failed(mergeSizes(module, options, *read)))
      return failure();
    file = std::move(*read);
  }
  if (failed(verifySizes(module, options, given)))
    return failure();
  int64_t ranks = options.dp * options.tp * options.pp;
  CostModel costs(given ? *given : Cluster::getHost(ranks));

  FailureOr<Graph> graph = Graph::read(module);
  if (failed(graph))
    return failure();
  SmallVector<PlanAxis> axes = {{"dp", options.dp}, {"tp", options.tp}};
  Pins pins;
  if (failed(readPins(pins, *graph, options, axes, file)) ||
      failed(assignStages(*graph, costs, pins, options.pp)))
    return failure();

  Decisions decisions(*graph);
  decisions.setMeshes(axes, options.pp);
  for (const PlanAxis &axis : axes) {
    if (axis.size == 1)
      continue;
    AxisOptions search{axis.name,
                       getAxisLink(costs, decisions.getMeshes(), axis.name),
                       options.objective, axis.name == "dp"};
    FailureOr<AxisReport> report =
        searchAxis(*graph, decisions.getLocal(), costs, pins, search);
    if (failed(report))
      return failure();
    remarkApproximate(module, *report);
    decisions.addReport(*report);
  }
  decisions.write(costs);
  return success();
}
