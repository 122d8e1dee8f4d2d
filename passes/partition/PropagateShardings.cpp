//===- PropagateShardings.cpp - give every value a sharding ---------------===//
//
// Plans and hand-written tests annotate some values; this fills in the rest, so
// that later passes find a sharding on each argument, result and param:
//   1. a load has the sharding of its param, which is authoritative;
//   2. forward, from operands to results, by the factors of the op;
//   3. backward, from results to operands that are still open;
//   4. 2 and 3 until nothing changes; what is open then is replicated.
// A value that has a sharding keeps it. Ops without a stage get one first: the
// latest of their operands', or that of their first user where they have none.
// Needs: @main, a mesh for each stage. Refuses ops without a sharding rule.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/FactorSharding.h"
#include "passes/partition/Passes.h"
#include "passes/partition/ValueSharding.h"

namespace cleave {
#define GEN_PASS_DEF_PROPAGATESHARDINGSPASS
#include "passes/partition/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

/// Whether a sharding says more than "replicated".
bool isTelling(ShardingAttr sharding) {
  return sharding && !sharding.isReplicated();
}

class Propagation {
public:
  Propagation(ModuleOp module, func::FuncOp main)
      : main(main), meshes(module), symbols(module) {}

  LogicalResult run() {
    if (failed(verifyInput()))
      return failure();
    placeOps();
    readParams();
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation &op : main.front())
        changed |= forward(&op);
      for (Operation &op : llvm::reverse(main.front()))
        changed |= backward(&op);
    }
    closeRest();
    return success();
  }

private:
  LogicalResult verifyInput();
  void placeOps();
  void readParams();
  bool forward(Operation *op);
  bool backward(Operation *op);
  void closeRest();
  void set(Value value, ShardingAttr sharding);
  FlatSymbolRefAttr getMeshOf(Value value);
  SmallVector<ShardingAttr> getOperandShardings(Operation *op);

  func::FuncOp main;
  MeshTable meshes;
  SymbolTable symbols;
};

LogicalResult Propagation::verifyInput() {
  if (!meshes.getNumStages())
    return main.emitError("needs a mesh: the module has none of a stage");
  for (Operation &op : main.front()) {
    if (!meshes.getOfStage(cleave::getStage(&op)))
      return op.emitError() << "is in stage " << cleave::getStage(&op)
                            << ", which has no mesh";
    if (!isa<ShardingRuleOpInterface, ReshardOp, StoreOp, func::ReturnOp>(op))
      return op.emitError("has no sharding rule, so it cannot be partitioned");
  }
  return success();
}

/// Gives a stage to ops that lack one.
void Propagation::placeOps() {
  if (meshes.getNumStages() == 1)
    return;
  Builder builder(main.getContext());
  auto place = [&](Operation *op, int64_t stage) {
    op->setAttr(StageAttrName, builder.getI64IntegerAttr(stage));
  };
  auto isOpen = [](Operation &op) {
    return !op.hasAttr(StageAttrName) && !isa<func::ReturnOp>(op);
  };
  for (Operation &op : main.front()) {
    if (!isOpen(op) || !op.getNumOperands())
      continue;
    int64_t stage = 0;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp())
        stage = std::max(stage, cleave::getStage(maker));
    place(&op, stage);
  }
  for (Operation &op : llvm::reverse(main.front()))
    if (isOpen(op))
      place(&op, meshes.getStage(getMeshOf(op.getResult(0))));
}

/// The mesh of a value's stage; that of its first user for an argument, and for
/// a value whose op has no stage yet.
FlatSymbolRefAttr Propagation::getMeshOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasAttr(StageAttrName)) {
    Operation *first = nullptr;
    for (Operation *user : value.getUsers())
      if (!isa<func::ReturnOp>(user) &&
          (!first || user->isBeforeInBlock(first)))
        first = user;
    op = first;
  }
  return meshes.getOfStage(op ? cleave::getStage(op) : 0);
}

/// Sets the sharding of a value; of the param and all its loads if it is a
/// load.
void Propagation::set(Value value, ShardingAttr sharding) {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load)
    return setSharding(value, sharding);
  auto param = symbols.lookup<ParamOp>(load.getSymbol());
  param.setShardingAttr(sharding);
  for (auto other : main.getOps<LoadOp>())
    if (other.getSymbol() == load.getSymbol())
      setSharding(other.getResult(),
                  withMesh(sharding, getMeshOf(other.getResult())));
}

void Propagation::readParams() {
  for (auto load : main.getOps<LoadOp>()) {
    auto param = symbols.lookup<ParamOp>(load.getSymbol());
    if (!param.getSharding() && getSharding(load.getResult()))
      param.setShardingAttr(getSharding(load.getResult()));
    if (param.getSharding())
      setSharding(load.getResult(),
                  withMesh(*param.getSharding(), getMeshOf(load.getResult())));
  }
}

/// Shardings of the operands; a partial value does not cross to another mesh.
SmallVector<ShardingAttr> Propagation::getOperandShardings(Operation *op) {
  FlatSymbolRefAttr mesh = meshes.getOfStage(cleave::getStage(op));
  SmallVector<ShardingAttr> shardings;
  for (Value operand : op->getOperands()) {
    ShardingAttr sharding = getSharding(operand);
    if (sharding && sharding.getMesh() != mesh)
      sharding = withMesh(sharding.withoutPartial(), mesh);
    shardings.push_back(sharding);
  }
  return shardings;
}

bool Propagation::forward(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    bool open = !getSharding(reshard.getResult());
    if (open)
      setSharding(reshard.getResult(), reshard.getSharding());
    return open;
  }
  auto rules = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rules || llvm::all_of(op->getResults(), cleave::getSharding))
    return false;
  SmallVector<ShardingAttr> operands = getOperandShardings(op);
  if (llvm::none_of(operands, isTelling))
    return false;
  ShardingRule rule = rules.getShardingRule();
  FlatSymbolRefAttr mesh = meshes.getOfStage(cleave::getStage(op));
  auto sharding = FactorSharding::fromOperands(rule, mesh, operands);
  for (OpResult result : op->getResults())
    if (!getSharding(result))
      set(result, sharding.getResult(result.getResultNumber()));
  return true;
}

bool Propagation::backward(Operation *op) {
  auto rules = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rules || llvm::all_of(op->getOperands(), cleave::getSharding))
    return false;
  auto results = llvm::map_to_vector(op->getResults(), [](Value result) {
    return cleave::getSharding(result);
  });
  if (llvm::none_of(results, isTelling))
    return false;
  ShardingRule rule = rules.getShardingRule();
  FlatSymbolRefAttr mesh = meshes.getOfStage(cleave::getStage(op));
  auto sharding =
      FactorSharding::fromResults(rule, mesh, results, getOperandShardings(op));
  if (failed(sharding))
    return false;
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    ShardingAttr wanted = sharding->getOperand(operand.getOperandNumber());
    if (getSharding(operand.get()) || !isTelling(wanted))
      continue;
    set(operand.get(), withMesh(wanted, getMeshOf(operand.get())));
    changed = true;
  }
  return changed;
}

/// What nothing speaks about is replicated.
void Propagation::closeRest() {
  auto close = [&](Value value) {
    if (getSharding(value))
      return;
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    set(value, ShardingAttr::getReplicated(getMeshOf(value), rank));
  };
  for (BlockArgument argument : main.getArguments())
    close(argument);
  for (Operation &op : main.front())
    for (Value result : op.getResults())
      close(result);
}

struct PropagateShardingsPass
    : cleave::impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  void runOnOperation() override {
    func::FuncOp main = getMain(getOperation());
    if (!main || failed(Propagation(getOperation(), main).run()))
      signalPassFailure();
  }
};

} // namespace
