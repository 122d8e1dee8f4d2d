//===- ValueSharding.cpp - shardings of values, meshes of stages ----------===//

#include "passes/partition/ValueSharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

ShardingAttr cleave::getSharding(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(),
                                                   ShardingAttrName);
  }
  auto result = cast<OpResult>(value);
  auto list = result.getOwner()->getAttrOfType<ArrayAttr>(ShardingsAttrName);
  if (!list || result.getResultNumber() >= list.size())
    return {};
  return dyn_cast<ShardingAttr>(list[result.getResultNumber()]);
}

void cleave::setSharding(Value value, ShardingAttr sharding) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    function.setArgAttr(argument.getArgNumber(), ShardingAttrName, sharding);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> list(op->getNumResults(),
                              UnitAttr::get(op->getContext()));
  if (auto old = op->getAttrOfType<ArrayAttr>(ShardingsAttrName))
    list.assign(old.begin(), old.end());
  list[result.getResultNumber()] = sharding;
  op->setAttr(ShardingsAttrName, ArrayAttr::get(op->getContext(), list));
}

ShardingAttr cleave::withMesh(ShardingAttr sharding, FlatSymbolRefAttr mesh) {
  return ShardingAttr::get(sharding.getContext(), mesh, sharding.getDims(),
                           sharding.getPartialKind(),
                           sharding.getPartialAxes());
}

ShardingAttr cleave::withoutUnitAxes(ShardingAttr sharding, MeshAttr mesh) {
  auto filter = [&](ArrayRef<StringAttr> axes) {
    return llvm::to_vector(llvm::make_filter_range(axes, [&](StringAttr axis) {
      return mesh.getAxisSize(axis.getValue()) != 1;
    }));
  };
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : sharding.getDims())
    dims.push_back(DimShardingAttr::get(sharding.getContext(),
                                        filter(dim.getAxes()), dim.getBlock()));
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims,
                           sharding.getPartialKind(),
                           filter(sharding.getPartialAxes()));
}

bool cleave::haveSameLayout(ShardingAttr a, ShardingAttr b,
                            RankedTensorType type, MeshAttr mesh) {
  if (a.getMesh() != b.getMesh() || a.getDims().size() != b.getDims().size())
    return false;
  a = withoutUnitAxes(a, mesh);
  b = withoutUnitAxes(b, mesh);
  if (a.getPartialAxes().size() != b.getPartialAxes().size() ||
      (a.isPartial() && a.getPartialKind() != b.getPartialKind()))
    return false;
  auto isPartialInB = [&](StringAttr axis) { return b.isPartialOver(axis); };
  if (!llvm::all_of(a.getPartialAxes(), isPartialInB))
    return false;
  for (auto [dimA, dimB] : llvm::zip(a.getDims(), b.getDims()))
    if (dimA.getAxes() != dimB.getAxes())
      return false;
  return getLocalType(type, a, mesh) == getLocalType(type, b, mesh);
}

static bool isMicroBatchAxis(StringAttr axis) {
  return axis.getValue() == MeshAttr::MicroBatchAxis;
}

bool cleave::isPerMicroBatch(ShardingAttr sharding) {
  return llvm::any_of(sharding.getDims(), [](DimShardingAttr dim) {
    return llvm::any_of(dim.getAxes(), isMicroBatchAxis);
  });
}

ShardingAttr cleave::getStorage(ShardingAttr sharding) {
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : sharding.getDims()) {
    ArrayRef<StringAttr> axes = dim.getAxes().take_until(isMicroBatchAxis);
    dims.push_back(
        DimShardingAttr::get(sharding.getContext(), axes, dim.getBlock()));
  }
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims,
                           sharding.getPartialKind(),
                           sharding.getPartialAxes());
}

MeshTable::MeshTable(ModuleOp module) {
  for (auto mesh : module.getOps<MeshOp>())
    meshes.push_back({mesh.getSymNameAttr(), mesh.getMesh()});
  if (meshes.size() == 1) {
    stages.push_back(FlatSymbolRefAttr::get(meshes.front().first));
    return;
  }
  for (int64_t stage = 0;; ++stage) {
    std::string name = "stage" + std::to_string(stage);
    auto symbol = FlatSymbolRefAttr::get(module.getContext(), name);
    if (!get(symbol))
      break;
    stages.push_back(symbol);
  }
}

MeshAttr MeshTable::get(FlatSymbolRefAttr mesh) const {
  for (const auto &[name, shape] : meshes)
    if (name == mesh.getAttr())
      return shape;
  return {};
}

FlatSymbolRefAttr MeshTable::getOfStage(int64_t stage) const {
  if (stage < 0 || stage >= getNumStages())
    return {};
  return stages[stage];
}

int64_t MeshTable::getStage(FlatSymbolRefAttr mesh) const {
  const auto *it = llvm::find(stages, mesh);
  return it == stages.end() ? -1 : it - stages.begin();
}

int64_t cleave::getStage(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(StageAttrName);
  return stage ? stage.getInt() : 0;
}

void cleave::copyOrigin(Operation *from, Operation *to) {
  if (Attribute origin = from->getAttr("cleave.origin"))
    to->setAttr("cleave.origin", origin);
}

func::FuncOp cleave::getMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || !main.getBody().hasOneBlock()) {
    module.emitError("needs a function @main of one block");
    return {};
  }
  return main;
}

FailureOr<MeshAttr> cleave::getMesh(const MeshTable &meshes,
                                    ShardingAttr sharding, Operation *op) {
  if (MeshAttr mesh = meshes.get(sharding.getMesh()))
    return mesh;
  return op->emitError() << "sharding names mesh " << sharding.getMesh()
                         << ", which the module does not have";
}
