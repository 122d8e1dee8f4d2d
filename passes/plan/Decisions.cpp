//===- Decisions.cpp - writes a plan as attributes ------------------------===//

#include "passes/plan/Decisions.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

void Decisions::setMeshes(ArrayRef<PlanAxis> all, int64_t stages) {
  MLIRContext *context = graph.module.getContext();
  SmallVector<MeshAxisAttr> attributes;
  int64_t size = 1;
  for (const PlanAxis &axis : all) {
    if (axis.size == 1)
      continue;
    axes.push_back(axis);
    attributes.push_back(MeshAxisAttr::get(context, axis.name, axis.size));
    size *= axis.size;
  }
  for (int64_t stage = 0; stage < stages; ++stage) {
    SmallVector<int64_t> ranks(size);
    std::iota(ranks.begin(), ranks.end(), stage * size);
    meshes.push_back(MeshAttr::get(context, attributes, ranks));
  }
}

FlatSymbolRefAttr Decisions::getMesh(int64_t stage) const {
  return FlatSymbolRefAttr::get(graph.module.getContext(),
                                "stage" + std::to_string(stage));
}

/// The states on all axes, dim by dim; the outer axis of a dim comes first.
ShardingAttr Decisions::getSharding(size_t index) const {
  const Tensor &tensor = graph.tensors[index];
  MLIRContext *context = tensor.type.getContext();
  SmallVector<SmallVector<StringAttr>> splits(tensor.type.getRank());
  SmallVector<int64_t> blocks(tensor.type.getRank(), 1);
  SmallVector<StringAttr> partialAxes;
  ReduceKind kind = ReduceKind::Sum;
  for (auto [axis, state] : llvm::zip(axes, local.states[index])) {
    auto name = StringAttr::get(context, axis.name);
    if (state.kind == AxisState::Split) {
      splits[state.dim].push_back(name);
      blocks[state.dim] = std::lcm(blocks[state.dim], state.block);
    } else if (state.kind == AxisState::Partial) {
      partialAxes.push_back(name);
      kind = state.reduction;
    }
  }
  SmallVector<DimShardingAttr> dims;
  for (auto [names, block] : llvm::zip(splits, blocks))
    dims.push_back(DimShardingAttr::get(context, names, block));
  return ShardingAttr::get(context, getMesh(tensor.stage), dims, kind,
                           partialAxes);
}

void Decisions::writeMeshes() {
  OpBuilder builder(graph.module.getBodyRegion());
  for (auto [stage, mesh] : llvm::enumerate(meshes))
    builder.create<MeshOp>(graph.module.getLoc(), getMesh(stage).getValue(),
                           mesh);
}

static void setStage(Operation *op, int64_t stage, bool isStaged) {
  if (isStaged)
    op->setAttr(
        "cleave.stage",
        IntegerAttr::get(IntegerType::get(op->getContext(), 64), stage));
}

void Decisions::writeOps() {
  bool isStaged = meshes.size() > 1;
  for (const Node &node : graph.nodes) {
    SmallVector<Attribute> shardings;
    for (size_t result : node.results)
      shardings.push_back(getSharding(result));
    node.op->setAttr("cleave.shardings",
                     ArrayAttr::get(node.op->getContext(), shardings));
    setStage(node.op, node.stage, isStaged);
  }
  for (const Store &store : graph.stores)
    setStage(store.op, graph.tensors[store.value].stage, isStaged);
  writeLoads();
}

/// A load goes with its first user and has the layout of its parameter.
void Decisions::writeLoads() {
  bool isStaged = meshes.size() > 1;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors))
    if (tensor.kind == Tensor::Param)
      tensor.param.setShardingAttr(getSharding(i));
  graph.main.walk([&](LoadOp load) {
    int64_t stage = -1;
    for (Operation *user : load->getUsers())
      if (auto at = user->getAttrOfType<IntegerAttr>("cleave.stage"))
        stage = stage < 0 ? at.getInt() : std::min(stage, at.getInt());
    stage = std::max<int64_t>(stage, 0);
    ShardingAttr whole =
        graph.module.lookupSymbol<ParamOp>(load.getSymbol()).getShardingAttr();
    Attribute own =
        ShardingAttr::get(load.getContext(), getMesh(stage), whole.getDims(),
                          whole.getPartialKind(), whole.getPartialAxes());
    load->setAttr("cleave.shardings", ArrayAttr::get(load.getContext(), own));
    setStage(load, stage, isStaged);
  });
}

/// Arguments as decided; results whole, on the mesh of the stage that makes
/// them.
void Decisions::writeFunction() {
  func::FuncOp main = graph.main;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors))
    if (tensor.kind == Tensor::Input)
      main.setArgAttr(cast<BlockArgument>(tensor.value).getArgNumber(),
                      "cleave.sharding", getSharding(i));
  for (auto [i, output] : llvm::enumerate(graph.outputs)) {
    const Tensor &tensor = graph.tensors[output];
    main.setResultAttr(i, "cleave.sharding",
                       ShardingAttr::getReplicated(getMesh(tensor.stage),
                                                   tensor.type.getRank()));
  }
}

/// Seconds and bytes per stage, collectives by kind, and how the search ended.
void Decisions::writePredictions(const CostModel &costs) {
  ModuleOp module = graph.module;
  Builder builder(module.getContext());
  SmallVector<double> compute(meshes.size(), 0),
      communication(meshes.size(), 0), weights(meshes.size(), 0);
  for (auto [node, work] : llvm::zip(graph.nodes, local.work))
    if (!node.results.empty())
      compute[node.stage] += costs.getOpTime(
          work, graph.tensors[node.results[0]].type.getElementType());
  for (auto [tensor, shape] : llvm::zip(graph.tensors, local.tensors))
    if (tensor.kind == Tensor::Param)
      weights[tensor.stage] += shape.getBytes();
  int64_t reductions = 0, gathers = 0, exchanges = 0;
  bool isExact = true;
  for (const AxisReport &report : reports) {
    reductions += report.reductions;
    gathers += report.gathers;
    exchanges += report.exchanges;
    isExact &= report.isExact;
    for (auto [stage, time] : llvm::enumerate(report.stageTimes))
      communication[stage] += time;
  }
  double time =
      std::accumulate(compute.begin(), compute.end(), 0.0) +
      std::accumulate(communication.begin(), communication.end(), 0.0);
  SmallVector<int64_t> bytes(weights.begin(), weights.end());
  module->setAttr(
      "cleave.predictions",
      builder.getDictionaryAttr(
          {builder.getNamedAttr("seconds", builder.getF64FloatAttr(time)),
           builder.getNamedAttr("compute_seconds",
                                builder.getF64ArrayAttr(compute)),
           builder.getNamedAttr("communication_seconds",
                                builder.getF64ArrayAttr(communication)),
           builder.getNamedAttr("weight_bytes_per_rank",
                                builder.getI64ArrayAttr(bytes)),
           builder.getNamedAttr("reductions",
                                builder.getI64IntegerAttr(reductions)),
           builder.getNamedAttr("gathers", builder.getI64IntegerAttr(gathers)),
           builder.getNamedAttr("exchanges",
                                builder.getI64IntegerAttr(exchanges)),
           builder.getNamedAttr(
               "search",
               builder.getStringAttr(isExact ? "exact" : "approximate"))}));
}

void Decisions::write(const CostModel &costs) {
  writeMeshes();
  writeOps();
  writeFunction();
  writePredictions(costs);
}
