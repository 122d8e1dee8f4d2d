//===- InsertReshards.cpp - make every change of sharding an op -----------===//
//
// Each op has shardings on its results; its rule says what it then needs of its
// operands. Where an operand has another layout, or lies on the mesh of another
// stage, a `cleave.reshard` goes before the first user that needs it; later
// users of the same layout share it. Where an op cannot make the sharding that
// its result has (a split of a dim it needs whole), it makes what it can and a
// reshard follows it. Results of @main are replicated, or as `cleave.sharding`
// says.
// Needs: complete shardings (propagate-shardings). Guarantees: each op's
// operands are as it needs them. Refuses partial results that no operand
// explains.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/FactorSharding.h"
#include "passes/partition/Passes.h"
#include "passes/partition/ValueSharding.h"

namespace cleave {
#define GEN_PASS_DEF_INSERTRESHARDSPASS
#include "passes/partition/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

class Inserter {
public:
  Inserter(ModuleOp module, func::FuncOp main)
      : main(main), meshes(module), symbols(module),
        builder(module.getContext()) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_early_inc_range(main.front()))
      if (failed(visit(&op)))
        return failure();
    return success();
  }

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitRuled(ShardingRuleOpInterface op);
  LogicalResult visitReturn(func::ReturnOp op);
  LogicalResult fixOperand(OpOperand &operand, ShardingAttr needed);
  LogicalResult fixResult(OpResult result, ShardingAttr made);
  FailureOr<ReshardOp> createReshard(Value value, ShardingAttr target,
                                     Operation *user);

  func::FuncOp main;
  MeshTable meshes;
  SymbolTable symbols;
  OpBuilder builder;
  DenseMap<Value, SmallVector<ReshardOp>> reshards;
};

LogicalResult Inserter::visit(Operation *op) {
  for (Value operand : op->getOperands())
    if (!getSharding(operand))
      return op->emitError("has an operand without sharding");
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto param = symbols.lookup<ParamOp>(load.getSymbol());
    if (!param.getSharding() || !getSharding(load.getResult()))
      return load.emitError("loads a param without sharding");
    FlatSymbolRefAttr mesh = getSharding(load.getResult()).getMesh();
    return fixResult(load->getResult(0), withMesh(*param.getSharding(), mesh));
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    auto param = symbols.lookup<ParamOp>(store.getSymbol());
    if (!param.getSharding())
      return store.emitError("stores to a param without sharding");
    FlatSymbolRefAttr mesh = meshes.getOfStage(cleave::getStage(op));
    return fixOperand(op->getOpOperand(0),
                      withMesh(*param.getSharding(), mesh));
  }
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return visitReturn(end);
  if (isa<ReshardOp>(op))
    return success();
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    return visitRuled(ruled);
  return op->emitError("has no sharding rule, so it cannot be partitioned");
}

LogicalResult Inserter::visitRuled(ShardingRuleOpInterface op) {
  SmallVector<ShardingAttr> results, operands;
  for (Value result : op->getResults()) {
    results.push_back(getSharding(result));
    if (!results.back())
      return op->emitError("has a result without sharding");
  }
  FlatSymbolRefAttr mesh = results.front().getMesh();
  for (Value operand : op->getOperands()) {
    ShardingAttr sharding = getSharding(operand);
    operands.push_back(sharding.getMesh() == mesh ? sharding
                                                  : sharding.withoutPartial());
  }
  ShardingRule rule = op.getShardingRule();
  auto sharding = FactorSharding::fromResults(rule, mesh, results, operands,
                                              [&] { return op->emitError(); });
  if (failed(sharding))
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (failed(fixOperand(operand,
                          sharding->getOperand(operand.getOperandNumber()))))
      return failure();
  for (OpResult result : op->getResults())
    if (failed(
            fixResult(result, sharding->getResult(result.getResultNumber()))))
      return failure();
  return success();
}

/// What @main gives is replicated unless it says otherwise, on the mesh where
/// the value was made.
LogicalResult Inserter::visitReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    ShardingAttr current = getSharding(operand.get());
    unsigned index = operand.getOperandNumber();
    auto wanted =
        main.getResultAttrOfType<ShardingAttr>(index, ShardingAttrName);
    wanted = wanted ? withMesh(wanted, current.getMesh())
                    : ShardingAttr::getReplicated(current.getMesh(),
                                                  current.getDims().size());
    if (failed(fixOperand(operand, wanted)))
      return failure();
    main.setResultAttr(index, ShardingAttrName, wanted);
  }
  return success();
}

/// Makes `operand` lie as `needed`, by a reshard where it does not.
LogicalResult Inserter::fixOperand(OpOperand &operand, ShardingAttr needed) {
  Value value = operand.get();
  Operation *user = operand.getOwner();
  FailureOr<MeshAttr> mesh = getMesh(meshes, needed, user);
  if (failed(mesh))
    return failure();
  auto type = cast<RankedTensorType>(value.getType());
  if (haveSameLayout(getSharding(value), needed, type, *mesh))
    return success();
  if (auto reshard = value.getDefiningOp<ReshardOp>())
    if (haveSameLayout(getSharding(reshard.getX()), needed, type, *mesh)) {
      operand.set(reshard.getX());
      return success();
    }
  for (ReshardOp known : reshards[value])
    if (haveSameLayout(known.getSharding(), needed, type, *mesh)) {
      operand.set(known.getResult());
      return success();
    }
  builder.setInsertionPoint(user);
  FailureOr<ReshardOp> reshard = createReshard(value, needed, user);
  if (failed(reshard))
    return failure();
  operand.set(reshard->getResult());
  return success();
}

/// The op makes `made`; if its result is to be otherwise, a reshard follows.
LogicalResult Inserter::fixResult(OpResult result, ShardingAttr made) {
  ShardingAttr wanted = getSharding(result);
  FailureOr<MeshAttr> mesh = getMesh(meshes, wanted, result.getOwner());
  if (failed(mesh))
    return failure();
  auto type = cast<RankedTensorType>(result.getType());
  if (haveSameLayout(made, wanted, type, *mesh))
    return success();
  setSharding(result, made);
  builder.setInsertionPointAfter(result.getOwner());
  FailureOr<ReshardOp> reshard =
      createReshard(result, wanted, result.getOwner());
  if (failed(reshard))
    return failure();
  result.replaceAllUsesExcept(reshard->getResult(), *reshard);
  return success();
}

/// A reshard at the insertion point, in the stage of its target, for `user`. It
/// is named after the node that made the value, or the user of an argument, and
/// belongs to the backward pass if either does.
FailureOr<ReshardOp> Inserter::createReshard(Value value, ShardingAttr target,
                                             Operation *user) {
  if (target.isPartial())
    return user->emitError()
           << "needs an operand as " << target << ", found "
           << getSharding(value)
           << ": a partial value cannot be laid out anew before it is reduced";
  Location loc = value.getDefiningOp() ? value.getLoc() : user->getLoc();
  auto reshard = builder.create<ReshardOp>(loc, value.getType(), value, target);
  setSharding(reshard.getResult(), target);
  int64_t stage = meshes.getStage(target.getMesh());
  if (meshes.getNumStages() > 1 && stage >= 0)
    reshard->setAttr(StageAttrName, builder.getI64IntegerAttr(stage));
  if (Operation *maker = value.getDefiningOp())
    copyOrigin(maker, reshard);
  copyOrigin(user, reshard);
  reshards[value].push_back(reshard);
  return reshard;
}

struct InsertReshardsPass
    : cleave::impl::InsertReshardsPassBase<InsertReshardsPass> {
  void runOnOperation() override {
    func::FuncOp main = getMain(getOperation());
    if (!main || failed(Inserter(getOperation(), main).run()))
      signalPassFailure();
  }
};

} // namespace
