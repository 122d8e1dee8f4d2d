//===- PlanAnnotations.cpp - a plan in the form of ONNX's annotations -----===//
//
// A dim that is split becomes as many shards as its axes have ranks, of the
// blocks that its sharding says; dims that the program has unflattened become
// parts of the model's dim. Devices are ranks. What this cannot say (sizes of
// axes, micro-batches, partial sums, values that are no tensors of the model)
// is left in plan.json.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/AnnotationPins.h"
#include "passes/plan/PlanFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

namespace {

class Describer {
public:
  Describer(const Graph &graph, StringRef name) : graph(graph) {
    annotations.configuration = name;
    for (MeshOp mesh : graph.module.getOps<MeshOp>())
      annotations.devices += mesh.getMesh().getRanks().size();
  }

  Annotations run();

private:
  void describe(StringRef name, ArrayRef<int64_t> shape);
  void describeDims(const Tensor &tensor, ShardingAttr sharding, MeshAttr mesh,
                    Placement &placement);
  void describeDevices(ShardingAttr sharding, MeshAttr mesh,
                       Placement &placement);
  void describeStages();
  bool hasStages() const {
    return llvm::range_size(graph.module.getOps<MeshOp>()) > 1;
  }
  std::string printRest();

  const Graph &graph;
  Annotations annotations;
  std::vector<size_t> described; ///< tensors that the annotations say all of
};

} // namespace

static MeshAttr getMesh(const Graph &graph, ShardingAttr sharding) {
  return graph.module.lookupSymbol<MeshOp>(sharding.getMesh()).getMesh();
}

/// Axes of ranks that split a dim: parts in time are on the same devices.
static SmallVector<StringRef> getRankAxes(DimShardingAttr dim) {
  SmallVector<StringRef> axes;
  for (StringAttr axis : dim.getAxes())
    if (axis != MeshAttr::MicroBatchAxis)
      axes.push_back(axis);
  return axes;
}

static int64_t countShards(DimShardingAttr dim, MeshAttr mesh) {
  int64_t shards = 1;
  for (StringRef axis : getRankAxes(dim))
    shards *= mesh.getAxisSize(axis);
  return shards;
}

/// One part of a dim that the program has as it is; else one of each view dim.
void Describer::describeDims(const Tensor &tensor, ShardingAttr sharding,
                             MeshAttr mesh, Placement &placement) {
  auto groups = groupDims(placement.shape, tensor.type.getShape());
  for (auto [dim, group] : llvm::enumerate(groups)) {
    ShardedDim sharded;
    sharded.dim = dim;
    bool isSplit = false;
    for (int64_t view : group) {
      DimShardingAttr own = sharding.getDims()[view];
      int64_t size = tensor.type.getDimSize(view);
      int64_t shards = countShards(own, mesh);
      int64_t block = shards > 1 ? own.getBlock() : 1;
      isSplit |= shards > 1;
      sharded.parts.push_back({size / block, shards});
      if (block > 1 && group.size() > 1)
        sharded.parts.push_back({block, 1});
    }
    if (isSplit)
      placement.dims.push_back(std::move(sharded));
  }
}

void Describer::describeDevices(ShardingAttr sharding, MeshAttr mesh,
                                Placement &placement) {
  placement.devices.resize(placement.getShards());
  for (auto [position, rank] : llvm::enumerate(mesh.getRanks())) {
    SmallVector<int64_t> coords = mesh.getCoords(position);
    int64_t shard = 0;
    for (DimShardingAttr dim : sharding.getDims())
      for (StringRef axis : getRankAxes(dim))
        shard =
            shard * mesh.getAxisSize(axis) + coords[mesh.getAxisPosition(axis)];
    placement.devices[shard].push_back(rank);
  }
}

void Describer::describe(StringRef name, ArrayRef<int64_t> shape) {
  std::optional<size_t> index = findTensor(graph, name, shape);
  if (!index)
    return;
  const Tensor &tensor = graph.tensors[*index];
  ShardingAttr sharding = getSharding(graph, tensor);
  if (!sharding || sharding.isPartial())
    return;
  MeshAttr mesh = getMesh(graph, sharding);
  Placement placement;
  placement.tensor = name;
  placement.shape = llvm::to_vector(shape);
  if (tensor.kind == Tensor::Value) {
    Operation *op = tensor.value.getDefiningOp();
    if (op->getNumOperands() == 0)
      return; // a constant
    placement.isOutput = true;
  }
  describeDims(tensor, sharding, mesh, placement);
  describeDevices(sharding, mesh, placement);
  // What is read in several stages is said by those of its readers that are in
  // one of them, which may be none.
  if (mesh.getMicroBatches() == 1 && (placement.isOutput || !hasStages()))
    described.push_back(*index);
  annotations.placements.push_back(std::move(placement));
}

/// Of nodes that became several ops, those that are in one stage.
void Describer::describeStages() {
  if (!hasStages())
    return;
  std::map<std::string, std::optional<int64_t>> stages;
  for (const Node &node : graph.nodes) {
    auto stage = node.op->getAttrOfType<IntegerAttr>(StageAttrName);
    if (!stage || node.isSource())
      continue;
    auto [it, isNew] =
        stages.try_emplace(node.givenNames.front(), stage.getInt());
    if (!isNew && it->second != stage.getInt())
      it->second = std::nullopt;
  }
  for (const auto &[name, stage] : stages)
    if (stage)
      annotations.stages.push_back({name, *stage});
}

std::string Describer::printRest() {
  constexpr StringRef kSections[] = {"inputs", "params", "values"};
  llvm::json::Value plan = writePlan(graph.module);
  llvm::json::Object &object = *plan.getAsObject();
  object.erase("predictions");
  for (size_t index : described) {
    const Tensor &tensor = graph.tensors[index];
    object.getObject(kSections[tensor.kind])->erase(tensor.name);
  }
  return llvm::formatv("{0}", plan);
}

Annotations Describer::run() {
  auto shapes =
      graph.module->getAttrOfType<DictionaryAttr>(TensorShapesAttrName);
  for (NamedAttribute entry :
       shapes ? shapes.getValue() : ArrayRef<NamedAttribute>())
    describe(entry.getName().getValue(),
             cast<DenseI64ArrayAttr>(entry.getValue()).asArrayRef());
  describeStages();
  annotations.plan = printRest();
  return std::move(annotations);
}

FailureOr<Annotations> cleave::describePlan(ModuleOp module, StringRef name) {
  FailureOr<Graph> graph = Graph::read(module);
  if (failed(graph))
    return failure();
  return Describer(*graph, name).run();
}
