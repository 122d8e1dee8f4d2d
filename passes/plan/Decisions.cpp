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
  microBatches = 1;
  for (const PlanAxis &axis : all) {
    if (axis.getSize() > 1)
      axes.push_back(axis);
    microBatches *= axis.microBatches;
    if (axis.ranks > 1)
      attributes.push_back(MeshAxisAttr::get(context, axis.name, axis.ranks));
    size *= axis.ranks;
  }
  for (int64_t stage = 0; stage < stages; ++stage) {
    SmallVector<int64_t> ranks(size);
    std::iota(ranks.begin(), ranks.end(), stage * size);
    meshes.push_back(MeshAttr::get(context, attributes, ranks, microBatches));
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
    SmallVector<StringAttr> names;
    for (const std::string &name : axis.getMeshAxes())
      names.push_back(StringAttr::get(context, name));
    if (state.kind == AxisState::Split) {
      llvm::append_range(splits[state.dim], names);
      blocks[state.dim] = std::lcm(blocks[state.dim], state.block);
    } else if (state.kind == AxisState::Partial) {
      llvm::append_range(partialAxes, names);
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

/// One figure of each stage.
template <typename T>
static SmallVector<T> collect(const Prediction &prediction,
                              T StageCost::*figure) {
  SmallVector<T> all;
  for (const StageCost &stage : prediction.stages)
    all.push_back(stage.*figure);
  return all;
}

void Decisions::writePredictions(const Prediction &prediction) {
  Builder b(graph.module.getContext());
  AxisReport all;
  for (const AxisReport &report : reports) {
    all.reductions += report.reductions;
    all.gathers += report.gathers;
    all.exchanges += report.exchanges;
    all.isExact &= report.isExact;
  }
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, Attribute value) {
    entries.push_back(b.getNamedAttr(name, value));
  };
  auto addSeconds = [&](StringRef name, double StageCost::*figure) {
    add(name, b.getF64ArrayAttr(collect(prediction, figure)));
  };
  auto addBytes = [&](StringRef name, int64_t StageCost::*figure) {
    add(name, b.getI64ArrayAttr(collect(prediction, figure)));
  };
  add("seconds", b.getF64FloatAttr(prediction.time.getSeconds()));
  add("bubble_seconds", b.getF64FloatAttr(prediction.time.bubble));
  addSeconds("compute_seconds", &StageCost::compute);
  addSeconds("communication_seconds", &StageCost::communication);
  addBytes("weight_bytes_per_rank", &StageCost::weightBytes);
  addBytes("memory_bytes_per_rank", &StageCost::memoryBytes);
  add("reductions", b.getI64IntegerAttr(all.reductions));
  add("gathers", b.getI64IntegerAttr(all.gathers));
  add("exchanges", b.getI64IntegerAttr(all.exchanges));
  add("search", b.getStringAttr(all.isExact ? "exact" : "approximate"));
  graph.module->setAttr("cleave.predictions", b.getDictionaryAttr(entries));
}

void Decisions::write(const Prediction &prediction) {
  writeMeshes();
  writeOps();
  writeFunction();
  writePredictions(prediction);
}
