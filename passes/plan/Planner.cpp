//===- Planner.cpp - pins, stages, then axis by axis ----------------------===//
//
// dp and micro-batches divide the batch: dim 0 of the first input, and of every
// input with the same size there; parameters are whole along it. tp divides
// what pays. An axis of size 1 divides nothing and is left out of the meshes.
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
  for (const auto &[name, size] : file.axes)
    if (name != "dp" && name != "tp")
      return module.emitError() << "plan '" << file.path << "' names axis '"
                                << name << "', expected one of dp, tp";
  auto getRanks = [&](const char *name) {
    auto it = file.axes.find(name);
    return it == file.axes.end() ? 1 : it->second;
  };
  int64_t pp = file.stages.size();
  const std::string &path = file.path;
  return failure(
      failed(mergeSize(module, "dp", options.dp, getRanks("dp"), path)) ||
      failed(mergeSize(module, "tp", options.tp, getRanks("tp"), path)) ||
      failed(mergeSize(module, "pp", options.pp, pp, path)) ||
      failed(mergeSize(module, "microbatches", options.microBatches,
                       file.microBatches, path)));
}

static LogicalResult verifySizes(ModuleOp module, const PlanOptions &options,
                                 const std::optional<Cluster> &cluster) {
  for (auto [name, size] : {std::pair("dp", options.dp),
                            {"tp", options.tp},
                            {"pp", options.pp},
                            {"microbatches", options.microBatches}})
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

/// Micro-batches are equal parts; without them ranks may hold unequal ones.
static LogicalResult verifyBatch(const Graph &graph, const Tensor &input,
                                 const PlanAxis &axis) {
  int64_t batch = input.type.getDimSize(0);
  auto fail = [&] {
    return graph.module.emitError() << "input '" << input.name << "' has batch "
                                    << batch << " in dim 0, which ";
  };
  if (batch < axis.getSize() && axis.microBatches == 1)
    return fail() << "leaves nothing to some of dp=" << axis.ranks << " ranks";
  if (axis.microBatches > 1 && batch % axis.getSize() != 0)
    return fail() << "does not divide into microbatches=" << axis.microBatches
                  << " x dp=" << axis.ranks << " equal parts";
  return success();
}

/// Pins the batch of the inputs to the axis, and parameters whole along it,
/// where the user has not said otherwise.
static LogicalResult pinBatch(Pins &pins, const Graph &graph,
                              const PlanAxis &axis) {
  if (axis.getSize() == 1)
    return success();
  std::optional<int64_t> batch;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors)) {
    if (tensor.kind == Tensor::Value || pins.find(i, axis.name))
      continue;
    StatePin pin;
    pin.source = "data parallelism";
    bool isBatched = tensor.kind == Tensor::Input && tensor.type.getRank() > 0;
    if (isBatched && !batch)
      batch = tensor.type.getDimSize(0);
    if (isBatched && tensor.type.getDimSize(0) == *batch) {
      if (failed(verifyBatch(graph, tensor, axis)))
        return failure();
      pin.dims = {0};
    }
    pins.states[i].try_emplace(axis.name, pin);
  }
  return success();
}

//===-- The plan ----------------------------------------------------------===//

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
  return pinBatch(pins, graph, axes[0]);
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
  SmallVector<PlanAxis> axes = {{"dp", options.dp, options.microBatches},
                                {"tp", options.tp, 1}};
  Pins pins;
  if (failed(readPins(pins, *graph, options, axes, file)) ||
      failed(assignStages(*graph, costs, pins, options.pp)))
    return failure();

  Decisions decisions(*graph);
  decisions.setMeshes(axes, options.pp);
  for (const PlanAxis &axis : axes) {
    if (axis.getSize() == 1)
      continue;
    AxisOptions search{axis.name,
                       getAxisLink(costs, decisions.getMeshes(), axis),
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
