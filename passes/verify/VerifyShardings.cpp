//===- VerifyShardings.cpp - check shardings of a planned program ---------===//
//
// The contract between plan and partition, and with `resharded` that between
// insert-reshards and cut-stages.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/FactorSharding.h"
#include "passes/partition/ValueSharding.h"
#include "passes/verify/Passes.h"

namespace cleave {
#define GEN_PASS_DEF_VERIFYSHARDINGSPASS
#include "passes/verify/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

class Checker {
public:
  Checker(ModuleOp module, bool resharded)
      : meshes(module), symbols(module), resharded(resharded) {}

  LogicalResult verifyMain(func::FuncOp main);

private:
  LogicalResult verifyOne(Operation *op, ShardingAttr sharding, Type type);
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyState(Operation *op, StringRef symbol, Value value);
  LogicalResult verifyOperands(ShardingRuleOpInterface op);
  LogicalResult verifyReturn(func::ReturnOp op);

  MeshTable meshes;
  SymbolTable symbols;
  bool resharded;
};

LogicalResult Checker::verifyMain(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    ShardingAttr sharding = getSharding(argument);
    if (!sharding)
      return main.emitError()
             << "argument " << argument.getArgNumber() << " has no sharding";
    if (failed(verifyOne(main, sharding, argument.getType())))
      return failure();
  }
  for (Operation &op : main.front())
    if (failed(verifyOp(&op)))
      return failure();
  return success();
}

LogicalResult Checker::verifyOne(Operation *op, ShardingAttr sharding,
                                 Type type) {
  FailureOr<MeshAttr> mesh = cleave::getMesh(meshes, sharding, op);
  if (failed(mesh))
    return failure();
  return verifySharding(op, sharding, cast<RankedTensorType>(type), *mesh);
}

LogicalResult Checker::verifyOp(Operation *op) {
  for (OpResult result : op->getResults()) {
    ShardingAttr sharding = getSharding(result);
    if (!sharding)
      return op->emitError()
             << "result " << result.getResultNumber() << " has no sharding";
    if (failed(verifyOne(op, sharding, result.getType())))
      return failure();
    FlatSymbolRefAttr mesh = meshes.getOfStage(cleave::getStage(op));
    if (meshes.getNumStages() > 1 && sharding.getMesh() != mesh)
      return op->emitError()
             << "is in stage " << cleave::getStage(op)
             << ", but its result lies on mesh " << sharding.getMesh();
  }
  if (auto load = dyn_cast<LoadOp>(op))
    return verifyState(op, load.getSymbol(), load.getResult());
  if (auto store = dyn_cast<StoreOp>(op))
    return verifyState(op, store.getSymbol(),
                       resharded ? store.getValue() : Value());
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return resharded ? verifyReturn(end) : success();
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    return resharded ? verifyOperands(ruled) : success();
  return success();
}

/// The param has a sharding, and `value`, if there is one, lies alike.
LogicalResult Checker::verifyState(Operation *op, StringRef symbol,
                                   Value value) {
  auto param = symbols.lookup<ParamOp>(symbol);
  if (!param.getSharding())
    return op->emitError() << "uses param @" << symbol
                           << ", which has no sharding";
  if (failed(verifyOne(param, *param.getSharding(), param.getType())))
    return failure();
  if (!value)
    return success();
  ShardingAttr found = getSharding(value);
  ShardingAttr expected = withMesh(*param.getSharding(), found.getMesh());
  if (haveSameLayout(found, expected, cast<RankedTensorType>(value.getType()),
                     meshes.get(found.getMesh())))
    return success();
  InFlightDiagnostic error = op->emitError() << "lies as " << found
                                             << ", its param as " << expected;
  error.attachNote(param.getLoc()) << "the param is here";
  return error;
}

/// The operands lie as the rule needs them, and the results as it makes them.
LogicalResult Checker::verifyOperands(ShardingRuleOpInterface op) {
  auto shardingsOf = [](ValueRange values) {
    return llvm::map_to_vector(
        values, [](Value value) { return cleave::getSharding(value); });
  };
  SmallVector<ShardingAttr> results = shardingsOf(op->getResults());
  SmallVector<ShardingAttr> operands = shardingsOf(op->getOperands());
  ShardingRule rule = op.getShardingRule();
  FlatSymbolRefAttr mesh = results.front().getMesh();
  auto sharding = FactorSharding::fromResults(rule, mesh, results, operands,
                                              [&] { return op->emitError(); });
  if (failed(sharding))
    return failure();
  auto verifyValue = [&](Value value, ShardingAttr found, ShardingAttr expected,
                         StringRef what, int64_t index) -> LogicalResult {
    if (haveSameLayout(found, expected, cast<RankedTensorType>(value.getType()),
                       meshes.get(mesh)))
      return success();
    return op->emitError() << what << " " << index << " lies as " << found
                           << ", the op needs " << expected;
  };
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (failed(verifyValue(value, operands[index], sharding->getOperand(index),
                           "operand", index)))
      return failure();
  for (auto [index, value] : llvm::enumerate(op->getResults()))
    if (failed(verifyValue(value, results[index], sharding->getResult(index),
                           "result", index)))
      return failure();
  return success();
}

LogicalResult Checker::verifyReturn(func::ReturnOp op) {
  auto main = cast<func::FuncOp>(op->getParentOp());
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    ShardingAttr found = getSharding(operand.get());
    auto wanted =
        main.getResultAttrOfType<ShardingAttr>(index, ShardingAttrName);
    if (!wanted)
      wanted =
          ShardingAttr::getReplicated(found.getMesh(), found.getDims().size());
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (!haveSameLayout(found, wanted, type, meshes.get(found.getMesh())))
      return op->emitError() << "returns value " << index << " as " << found
                             << ", wanted is " << wanted;
  }
  return success();
}

struct VerifyShardingsPass
    : cleave::impl::VerifyShardingsPassBase<VerifyShardingsPass> {
  using VerifyShardingsPassBase::VerifyShardingsPassBase;

  void runOnOperation() override {
    func::FuncOp main = getMain(getOperation());
    if (!main || failed(Checker(getOperation(), resharded).verifyMain(main)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
