//===- CutStages.cpp - one function a pipeline stage ----------------------===//
//
// Each op of @main goes to the function of its stage, @program0, @program1 ...,
// in the order of @main. Inputs, loads, constants and iotas are repeated in the
// stages that use them. A reshard to the mesh of another stage becomes a `send`
// in the stage that made the value and a `recv` in the other, with a tag of
// their own; the smaller of the two layouts travels, and the other side
// reshards. Values that cross several stages go straight from maker to user.
//
// All ranks run parts of one order, that of @main, and a send stands where its
// recv stands in it: so the stages cannot block each other in a circle.
//
// Meshes of equal shape send from each rank to the rank of the same
// coordinates; others send the whole value, senders taken in turn. A param that
// several stages load gets a copy `name@stageK` for each further stage, whose
// `cleave.name` is the true name; what is stored goes to the copies, too.
// Needs: reshards in place. Refuses ranks in two stages.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/Passes.h"
#include "passes/partition/ValueSharding.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace cleave {
#define GEN_PASS_DEF_CUTSTAGESPASS
#include "passes/partition/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

/// A function that is being filled.
struct StageProgram {
  FlatSymbolRefAttr mesh;
  func::FuncOp function;
  IRMapping values; ///< values of @main in this stage
  /// What came from other stages, by the value of @main.
  DenseMap<Value, Value> received;
};

class Cutter {
public:
  Cutter(ModuleOp module, func::FuncOp main)
      : module(module), main(main), meshes(module),
        builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult verifyMeshes();
  void copyStored(StoreOp store);
  void createProgram(int64_t stage);
  LogicalResult visit(Operation *op);
  void finish(int64_t stage);
  Value getHere(StageProgram &stage, Value value);
  void transfer(ReshardOp edge, StageProgram &from, StageProgram &to);
  Value receive(ReshardOp edge, StageProgram &from, StageProgram &to);
  ShardingAttr chooseLayout(ReshardOp edge, MeshAttr from, MeshAttr to);
  Value reshardTo(ReshardOp edge, Value value, ShardingAttr target);
  ParamOp copyParam(ParamOp param, int64_t stage);
  void splitParam(ParamOp param);
  int64_t getStageOf(Value value) {
    return meshes.getStage(getSharding(value).getMesh());
  }

  ModuleOp module;
  func::FuncOp main;
  MeshTable meshes;
  OpBuilder builder;
  SmallVector<StageProgram> programs;
  int64_t nextTag = 0;
};

/// Inputs and ops without operands: each stage has its own.
bool isRepeated(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || (op->getNumOperands() == 0 && isMemoryEffectFree(op));
}

LogicalResult Cutter::run() {
  if (failed(verifyMeshes()))
    return failure();
  for (auto store : llvm::make_early_inc_range(main.getOps<StoreOp>()))
    copyStored(store);
  programs.resize(meshes.getNumStages());
  for (int64_t stage = 0; stage < meshes.getNumStages(); ++stage)
    createProgram(stage);
  for (Operation &op : main.front())
    if (failed(visit(&op)))
      return failure();
  for (int64_t stage = 0; stage < meshes.getNumStages(); ++stage)
    finish(stage);
  main.erase();
  for (auto param : llvm::make_early_inc_range(module.getOps<ParamOp>()))
    splitParam(param);
  return success();
}

LogicalResult Cutter::verifyMeshes() {
  if (!meshes.getNumStages())
    return main.emitError("needs a mesh: the module has none of a stage");
  auto getMicroBatches = [&](int64_t stage) {
    return meshes.get(meshes.getOfStage(stage)).getMicroBatches();
  };
  for (int64_t stage = 1; stage < meshes.getNumStages(); ++stage)
    if (getMicroBatches(stage) != getMicroBatches(0))
      return main.emitError()
             << "stage 0 has " << getMicroBatches(0) << " micro-batches, stage "
             << stage << " has " << getMicroBatches(stage);
  DenseMap<int64_t, int64_t> owner;
  for (int64_t stage = 0; stage < meshes.getNumStages(); ++stage)
    for (int64_t rank : meshes.get(meshes.getOfStage(stage)).getRanks()) {
      auto [it, isNew] = owner.insert({rank, stage});
      if (!isNew)
        return main.emitError() << "rank " << rank << " is in stage "
                                << it->second << " and in stage " << stage;
    }
  return success();
}

/// Gives each other stage that reads the stored param a copy of its own, which
/// is stored the same value at the end of the step.
void Cutter::copyStored(StoreOp store) {
  auto param = module.lookupSymbol<ParamOp>(store.getSymbol());
  int64_t keeper = cleave::getStage(store);
  if (!param || !param.getSharding() || keeper < 0)
    return;
  llvm::MapVector<int64_t, SmallVector<OpOperand *>> reads;
  for (auto load : main.getOps<LoadOp>())
    if (load.getSymbol() == param.getSymName())
      for (OpOperand &use : load.getResult().getUses()) {
        int64_t stage = cleave::getStage(use.getOwner());
        if (stage >= 0 && stage != keeper)
          reads[stage].push_back(&use);
      }
  for (auto &[stage, uses] : reads) {
    ParamOp copy = copyParam(param, stage);
    ShardingAttr sharding = *copy.getSharding();
    auto place = [&](Operation *op) {
      op->setAttr(StageAttrName, builder.getI64IntegerAttr(stage));
    };
    builder.setInsertionPointToStart(&main.front());
    auto load = builder.create<LoadOp>(uses.front()->get().getLoc(),
                                       uses.front()->get().getType(),
                                       copy.getSymName());
    setSharding(load.getResult(), sharding);
    place(load);
    for (OpOperand *use : uses)
      use->set(load);
    builder.setInsertionPoint(main.front().getTerminator());
    auto moved = builder.create<ReshardOp>(
        store.getLoc(), store.getValue().getType(), store.getValue(), sharding);
    setSharding(moved.getResult(), sharding);
    place(moved);
    place(builder.create<StoreOp>(store.getLoc(), moved.getResult(),
                                  copy.getSymName()));
  }
}

/// Whether some op of the stage, or a result made there, reads the argument.
static bool isUsedIn(Value argument, int64_t stage, const MeshTable &meshes) {
  FlatSymbolRefAttr mesh = meshes.getOfStage(stage);
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    if (isa<func::ReturnOp>(user))
      return getSharding(argument).getMesh() == mesh;
    return cleave::getStage(user) == stage;
  });
}

/// An empty function with the inputs that the stage uses.
void Cutter::createProgram(int64_t stage) {
  StageProgram &program = programs[stage];
  program.mesh = meshes.getOfStage(stage);
  builder.setInsertionPointToEnd(module.getBody());
  program.function = builder.create<func::FuncOp>(
      main.getLoc(), "program" + std::to_string(stage),
      builder.getFunctionType({}, {}));
  program.function->setAttr(StageAttrName, builder.getI64IntegerAttr(stage));
  program.function.addEntryBlock();
  for (BlockArgument argument : main.getArguments()) {
    if (!isUsedIn(argument, stage, meshes))
      continue;
    unsigned index = program.function.getNumArguments();
    NamedAttrList attributes(main.getArgAttrDict(argument.getArgNumber()));
    attributes.set(ShardingAttrName,
                   withMesh(getSharding(argument), program.mesh));
    program.function.insertArgument(
        index, argument.getType(),
        attributes.getDictionary(builder.getContext()), argument.getLoc());
    program.values.map(argument, program.function.getArgument(index));
  }
}

LogicalResult Cutter::visit(Operation *op) {
  if (isa<func::ReturnOp>(op) ||
      (op->getNumResults() == 1 && isRepeated(op->getResult(0))))
    return success();
  for (Value operand : op->getOperands())
    if (!getSharding(operand))
      return op->emitError("has an operand without sharding");
  if (op->getNumResults() && !getSharding(op->getResult(0)))
    return op->emitError("has a result without sharding");
  int64_t stage =
      op->getNumResults() ? getStageOf(op->getResult(0)) : cleave::getStage(op);
  if (stage < 0)
    return op->emitError("lies on a mesh that no stage owns");
  StageProgram &program = programs[stage];
  if (auto edge = dyn_cast<ReshardOp>(op)) {
    int64_t source = getStageOf(edge.getX());
    if (source != stage) {
      transfer(edge, programs[source], program);
      return success();
    }
  }
  for (Value operand : op->getOperands()) {
    if (!isRepeated(operand) && !program.values.contains(operand))
      return op->emitError()
             << "in stage " << stage << " reads a value of stage "
             << getStageOf(operand) << " without a reshard";
    getHere(program, operand);
  }
  builder.setInsertionPointToEnd(&program.function.front());
  builder.clone(*op, program.values);
  return success();
}

/// The value in this stage; what is repeated is made at its first use.
Value Cutter::getHere(StageProgram &stage, Value value) {
  if (Value here = stage.values.lookupOrNull(value))
    return here;
  builder.setInsertionPointToEnd(&stage.function.front());
  Operation *copy = builder.clone(*value.getDefiningOp(), stage.values);
  Value here = copy->getResult(0);
  setSharding(here, withMesh(getSharding(value), stage.mesh));
  copy->removeAttr(StageAttrName);
  return here;
}

/// The value as `target`, by a reshard like `edge` where it is not.
Value Cutter::reshardTo(ReshardOp edge, Value value, ShardingAttr target) {
  auto type = cast<RankedTensorType>(value.getType());
  if (haveSameLayout(getSharding(value), target, type,
                     meshes.get(target.getMesh())))
    return value;
  auto result = builder.create<ReshardOp>(edge.getLoc(), type, value, target);
  setSharding(result, target);
  copyOrigin(edge, result);
  return result;
}

/// Gives `to` the value of an edge, in the sharding that the edge asks for.
void Cutter::transfer(ReshardOp edge, StageProgram &from, StageProgram &to) {
  Value value = isRepeated(edge.getX()) ? getHere(to, edge.getX())
                                        : receive(edge, from, to);
  builder.setInsertionPointToEnd(&to.function.front());
  to.values.map(edge.getResult(), reshardTo(edge, value, edge.getSharding()));
}

/// Sender and receiver of each message between two meshes. Equal shapes: the
/// ranks of the same coordinates. Else each receiver gets the whole value, from
/// the senders in turn.
static SmallVector<int64_t> getPairs(MeshAttr from, MeshAttr to) {
  SmallVector<int64_t> pairs;
  for (auto [position, rank] : llvm::enumerate(to.getRanks())) {
    pairs.push_back(from.getRanks()[position % from.getSize()]);
    pairs.push_back(rank);
  }
  return pairs;
}

/// Only the splits up to micro-batches, outermost first.
static ShardingAttr keepMicroBatches(ShardingAttr sharding) {
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : sharding.getDims()) {
    const auto *mb = llvm::find_if(dim.getAxes(), [](StringAttr axis) {
      return axis.getValue() == MeshAttr::MicroBatchAxis;
    });
    bool isFirst = mb == dim.getAxes().begin() && mb != dim.getAxes().end();
    dims.push_back(DimShardingAttr::get(
        sharding.getContext(), dim.getAxes().take_front(isFirst ? 1 : 0),
        isFirst ? dim.getBlock() : 1));
  }
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims,
                           ReduceKind::Sum, {});
}

/// The layout in which the value of an edge travels, on the mesh of its maker.
/// Only equal meshes can send shards; then the smaller of both layouts goes.
ShardingAttr Cutter::chooseLayout(ReshardOp edge, MeshAttr from, MeshAttr to) {
  ShardingAttr source = getSharding(edge.getX());
  RankedTensorType type = edge.getType();
  if (from.getAxes() != to.getAxes())
    return keepMicroBatches(source);
  ShardingAttr target = withMesh(edge.getSharding(), source.getMesh());
  if (source.isPartial() ||
      getLocalType(type, target, from).getNumElements() <
          getLocalType(type, source, from).getNumElements())
    return target;
  return source;
}

/// The value of an edge as it arrives; sent once to each stage.
Value Cutter::receive(ReshardOp edge, StageProgram &from, StageProgram &to) {
  Value &received = to.received[edge.getX()];
  if (received)
    return received;
  MeshAttr fromMesh = meshes.get(from.mesh), toMesh = meshes.get(to.mesh);
  SmallVector<int64_t> pairs = getPairs(fromMesh, toMesh);
  ShardingAttr layout = chooseLayout(edge, fromMesh, toMesh);
  builder.setInsertionPointToEnd(&from.function.front());
  Value sent = reshardTo(edge, from.values.lookup(edge.getX()), layout);
  auto send = builder.create<SendOp>(edge.getLoc(), sent, pairs, nextTag);
  builder.setInsertionPointToEnd(&to.function.front());
  auto recv =
      builder.create<RecvOp>(edge.getLoc(), edge.getType(), pairs, nextTag++);
  if (isPerMicroBatch(layout) && fromMesh.getMicroBatches() > 1) {
    send->setAttr("cleave.micro_batch", builder.getUnitAttr());
    recv->setAttr("cleave.micro_batch", builder.getUnitAttr());
  }
  copyOrigin(edge, send);
  copyOrigin(edge, recv);
  received = recv;
  setSharding(received, withMesh(layout, to.mesh));
  return received;
}

/// Returns the results of @main that were made in this stage.
void Cutter::finish(int64_t stage) {
  StageProgram &program = programs[stage];
  Operation *end = main.front().getTerminator();
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  for (OpOperand &operand : end->getOpOperands()) {
    if (getStageOf(operand.get()) != stage)
      continue;
    values.push_back(getHere(program, operand.get()));
    attributes.push_back(main.getResultAttrDict(operand.getOperandNumber()));
  }
  builder.setInsertionPointToEnd(&program.function.front());
  builder.create<func::ReturnOp>(end->getLoc(), values);
  program.function.setType(builder.getFunctionType(
      program.function.getArgumentTypes(), ValueRange(values).getTypes()));
  for (auto [index, dictionary] : llvm::enumerate(attributes))
    if (dictionary)
      program.function.setResultAttrs(index, dictionary);
}

/// A copy for the stage, `name@stageK`.
ParamOp Cutter::copyParam(ParamOp param, int64_t stage) {
  OpBuilder at(param);
  at.setInsertionPointAfter(param);
  auto copy = cast<ParamOp>(at.clone(*param));
  copy.setSymName((param.getSymName() + "@stage" + Twine(stage)).str());
  copy.setShardingAttr(
      withMesh(*param.getSharding(), meshes.getOfStage(stage)));
  copy->setAttr(NameAttrName, param.getSymNameAttr());
  return copy;
}

/// Leaves each stage a symbol of its own mesh.
void Cutter::splitParam(ParamOp param) {
  llvm::MapVector<int64_t, SmallVector<LoadOp>> loads;
  SmallVector<int64_t> users;
  for (auto [stage, program] : llvm::enumerate(programs))
    program.function.walk([&, stage = stage](Operation *op) {
      auto load = dyn_cast<LoadOp>(op);
      auto store = dyn_cast<StoreOp>(op);
      if (load && load.getSymbol() == param.getSymName())
        loads[stage].push_back(load);
      else if (!store || store.getSymbol() != param.getSymName())
        return;
      if (!llvm::is_contained(users, stage))
        users.push_back(stage);
    });
  if (users.empty() || !param.getSharding())
    return;
  int64_t keeper = meshes.getStage(param.getSharding()->getMesh());
  if (!llvm::is_contained(users, keeper))
    keeper = users.front();
  param.setShardingAttr(withMesh(*param.getSharding(), programs[keeper].mesh));
  for (int64_t stage : users) {
    if (stage == keeper)
      continue;
    ParamOp copy = copyParam(param, stage);
    for (LoadOp load : loads[stage])
      load.setSymbol(copy.getSymName());
  }
}

struct CutStagesPass : cleave::impl::CutStagesPassBase<CutStagesPass> {
  void runOnOperation() override {
    func::FuncOp main = getMain(getOperation());
    if (!main || failed(Cutter(getOperation(), main).run()))
      signalPassFailure();
  }
};

} // namespace
