//===- Localize.cpp - from global to local tensors ------------------------===//
//
// Rebuilds each stage's function on the shards of one rank: types shrink to the
// padded chunk, ops are rebuilt by their `localize`, reshards become
// collectives (LowerReshard.cpp), iotas and constants get this rank's part.
// Where an op sums over a dim that has padding, masks go before it unless the
// padding is known to be neutral (Padding.cpp). One program serves all ranks of
// a stage: what differs comes from `axis_index`. Needs: functions of
// cut-stages, complete shardings, no reshard missing. Guarantees: no shardings
// but those of arguments and results; `cleave.mesh` on each function.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/LocalBuilder.h"
#include "passes/partition/Passes.h"
#include "passes/partition/ValueSharding.h"

#include <cmath>

namespace cleave {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "passes/partition/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

class Localizer {
public:
  Localizer(func::FuncOp global, FlatSymbolRefAttr meshName, MeshAttr mesh)
      : global(global), meshName(meshName), mesh(mesh) {}

  LogicalResult run();

private:
  func::FuncOp createFunction();
  void readArguments(func::FuncOp local);
  LogicalResult verifyOp(Operation *op);
  LogicalResult visit(Operation *op);
  LogicalResult visitRuled(ShardingRuleOpInterface op);
  void visitReshard(ReshardOp op);
  void visitConstant(ConstantOp op);
  LogicalResult maskOperands(Operation *op, const ShardingRule &rule,
                             SmallVectorImpl<LocalTensor> &operands);
  Value addOffset(IotaOp op, Value local);
  ShardingAttr getLayout(Value value) {
    return withoutUnitAxes(getSharding(value), mesh);
  }
  RankedTensorType getLocal(Value value) {
    return getLocalType(cast<RankedTensorType>(value.getType()),
                        getLayout(value), mesh);
  }
  bool isPadded(Value value, int64_t dim) {
    int64_t chunk = getLocal(value).getDimSize(dim);
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    return chunk * getParts(getLayout(value), mesh, dim) != size;
  }

  func::FuncOp global;
  FlatSymbolRefAttr meshName;
  MeshAttr mesh;
  std::unique_ptr<LocalBuilder> builder;
  DenseMap<Value, LocalTensor> locals;
  DenseMap<Value, LocalTensor> stored; ///< arguments, all micro-batches
};

LogicalResult Localizer::run() {
  for (BlockArgument argument : global.getArguments())
    if (!getSharding(argument))
      return global.emitError()
             << "argument " << argument.getArgNumber() << " has no sharding";
  for (Operation &op : global.front())
    if (failed(verifyOp(&op)))
      return failure();
  func::FuncOp local = createFunction();
  builder = std::make_unique<LocalBuilder>(&local.front(), meshName, mesh);
  readArguments(local);
  for (Operation &op : global.front())
    if (failed(visit(&op))) {
      local.erase();
      return failure();
    }
  StringAttr name = global.getSymNameAttr();
  global.erase();
  local.setSymNameAttr(name);
  return success();
}

LogicalResult Localizer::verifyOp(Operation *op) {
  for (Value result : op->getResults()) {
    ShardingAttr sharding = getSharding(result);
    if (!sharding)
      return op->emitError("has a result without sharding");
    if (sharding.getMesh() != meshName)
      return op->emitError() << "lies on mesh " << sharding.getMesh()
                             << ", its function on " << meshName;
  }
  if (!isa<ShardingRuleOpInterface, ReshardOp, SendOp, RecvOp, StoreOp,
           func::ReturnOp>(op))
    return op->emitError("has no sharding rule, so it cannot be partitioned");
  return success();
}

/// The function on local types, beside the global one, still empty.
func::FuncOp Localizer::createFunction() {
  SmallVector<Type> arguments, results;
  for (BlockArgument argument : global.getArguments())
    arguments.push_back(getLocalType(cast<RankedTensorType>(argument.getType()),
                                     getStorage(getSharding(argument)), mesh));
  for (Value value : global.front().getTerminator()->getOperands())
    results.push_back(getLocal(value));
  OpBuilder outer(global);
  auto local = outer.create<func::FuncOp>(
      global.getLoc(), (global.getName() + ".local").str(),
      outer.getFunctionType(arguments, results));
  local->setAttr("cleave.mesh", meshName);
  local->setAttr(StageAttrName, global->getAttr(StageAttrName));
  local.setAllArgAttrs(global.getArgAttrsAttr());
  local.setAllResultAttrs(global.getResAttrsAttr());
  local.addEntryBlock();
  return local;
}

/// Inputs are padded with zeros. What is there for all micro-batches is cut to
/// that of one.
void Localizer::readArguments(func::FuncOp local) {
  for (auto [from, to] :
       llvm::zip(global.getArguments(), local.getArguments())) {
    to.setLoc(from.getLoc());
    auto type = cast<RankedTensorType>(from.getType());
    bool isFinite = isa<IntegerType>(type.getElementType());
    ShardingAttr sharding = getSharding(from), storage = getStorage(sharding);
    setSharding(to, storage);
    stored[from] = {to, getZeroPadded(type, isFinite)};
    locals[from] =
        builder->reshard(from.getLoc(), stored[from], type, storage, sharding);
  }
}

LogicalResult Localizer::visit(Operation *op) {
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    visitReshard(reshard);
    return success();
  }
  auto constant = dyn_cast<ConstantOp>(op);
  if (constant && !isa<SplatElementsAttr>(constant.getValue())) {
    visitConstant(constant);
    return success();
  }
  if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op))
    return visitRuled(ruled);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(locals[operand].value);
  auto types = llvm::map_to_vector(
      op->getResults(), [&](Value result) -> Type { return getLocal(result); });
  Operation *local = cloneWithTypes(builder->get(), op, operands, types);
  local->removeAttr(ShardingsAttrName);
  local->removeAttr(StageAttrName);
  for (auto [from, to] : llvm::zip(op->getResults(), local->getResults())) {
    auto type = cast<RankedTensorType>(from.getType());
    PaddingFacts facts = getZeroPadded(type, false);
    facts.dims.assign(type.getRank(), Padding::Unknown); // as it was sent
    locals[from] = {to, facts};
  }
  return success();
}

LogicalResult Localizer::visitRuled(ShardingRuleOpInterface op) {
  ShardingRule rule = op.getShardingRule();
  auto operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return locals[operand]; });
  if (failed(maskOperands(op, rule, operands)))
    return failure();
  SmallVector<Value> values;
  SmallVector<PaddingFacts> facts;
  for (const LocalTensor &operand : operands) {
    values.push_back(operand.value);
    facts.push_back(operand.facts);
  }
  auto types = llvm::map_to_vector(
      op->getResults(), [&](Value result) -> Type { return getLocal(result); });
  Operation *local = op.localize(builder->get(), values, types);
  if (!local)
    return failure();
  local->removeAttr(ShardingsAttrName);
  local->removeAttr(StageAttrName);
  if (TypeRange(local->getResultTypes()) != TypeRange(types))
    return op->emitError() << "gives " << local->getResultTypes()
                           << " on local operands, expected " << types;
  SmallVector<PaddingFacts> made = getPaddingFacts(op, rule, facts);
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    locals[result] = {local->getResult(index), made[index]};
  if (auto iota = dyn_cast<IotaOp>(op.getOperation()))
    locals[iota.getResult()].value = addOffset(iota, local->getResult(0));
  return success();
}

/// Puts masks before an op where it needs them.
LogicalResult Localizer::maskOperands(Operation *op, const ShardingRule &rule,
                                      SmallVectorImpl<LocalTensor> &operands) {
  auto facts = llvm::map_to_vector(
      operands, [](const LocalTensor &operand) { return operand.facts; });
  SmallVector<MaskNeed> needs =
      getMaskNeeds(op, rule, facts, [&](int64_t operand, int64_t dim) {
        return isPadded(op->getOperand(operand), dim);
      });
  for (MaskNeed need : needs) {
    Value value = op->getOperand(need.operand);
    auto type = cast<RankedTensorType>(value.getType());
    LocalTensor &operand = operands[need.operand];
    operand.value = builder->getMasked(
        op->getLoc(), operand.value, need.dim, type.getDimSize(need.dim),
        need.fill, getLayout(value).getDims()[need.dim].getAxes());
    operand.facts.dims[need.dim] = need.fill == 0 ? Padding::Zero
                                   : std::isfinite(need.fill)
                                       ? Padding::Finite
                                       : Padding::Unknown;
  }
  return success();
}

void Localizer::visitReshard(ReshardOp op) {
  Block &block = *builder->get().getInsertionBlock();
  Operation *last = block.empty() ? nullptr : &block.back();
  // What micro-batches share comes from an argument as it is stored.
  ShardingAttr from = getSharding(op.getX()), to = op.getSharding();
  bool isWhole = stored.contains(op.getX()) && getStorage(to) == to;
  locals[op.getResult()] =
      builder->reshard(op.getLoc(), (isWhole ? stored : locals)[op.getX()],
                       op.getType(), isWhole ? getStorage(from) : from, to);
  for (Operation &made : llvm::reverse(block)) {
    if (&made == last)
      break;
    if (!isa<AxisIndexOp>(made))
      copyOrigin(op, &made);
  }
}

/// Each rank has the whole constant and takes its part.
void Localizer::visitConstant(ConstantOp op) {
  auto whole = builder->get().create<ConstantOp>(op.getLoc(), op.getType(),
                                                 op.getValue());
  PaddingFacts facts = getPaddingFacts(op, op.getShardingRule(), {}).front();
  auto replicated =
      ShardingAttr::getReplicated(meshName, op.getType().getRank());
  locals[op.getResult()] =
      builder->reshard(op.getLoc(), {whole.getResult(), facts}, op.getType(),
                       replicated, getSharding(op.getResult()));
}

/// Along a split dim a rank counts from the start of its chunk.
Value Localizer::addOffset(IotaOp op, Value local) {
  ArrayRef<StringAttr> axes =
      getLayout(op.getResult()).getDims()[op.getDim()].getAxes();
  if (axes.empty())
    return local;
  OpBuilder &b = builder->get();
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(local.getType());
  Value index = builder->getAxisIndex(axes);
  auto scalar = cast<RankedTensorType>(index.getType());
  Value chunk = b.create<ConstantOp>(
      loc, scalar,
      DenseElementsAttr::get(
          scalar, b.getI64IntegerAttr(type.getDimSize(op.getDim()))));
  Value start = b.create<BinaryOp>(loc, scalar, BinaryKind::Mul, index, chunk);
  if (!type.getElementType().isInteger(64))
    start = b.create<CastOp>(
        loc, RankedTensorType::get({}, type.getElementType()), start);
  Value starts = b.create<BroadcastOp>(loc, type, start, ArrayRef<int64_t>());
  return b.create<BinaryOp>(loc, type, BinaryKind::Add, local, starts);
}

struct LocalizePass : cleave::impl::LocalizePassBase<LocalizePass> {
  void runOnOperation() override {
    MeshTable meshes(getOperation());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!function->hasAttr(StageAttrName)) {
        function.emitError("belongs to no stage: cut the stages first");
        return signalPassFailure();
      }
      int64_t stage = cleave::getStage(function);
      FlatSymbolRefAttr mesh = meshes.getOfStage(stage);
      if (!mesh) {
        function.emitError() << "is stage " << stage << ", which has no mesh";
        return signalPassFailure();
      }
      if (failed(Localizer(function, mesh, meshes.get(mesh)).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
