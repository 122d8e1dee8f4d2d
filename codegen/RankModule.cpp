//===- RankModule.cpp - read ranks and programs from a module -------------===//
//
// Checks on the way what the rest of code generation relies on: each rank is in
// one stage, inputs and outputs are known, indexes of buffers are those of
// tables.
//
//===----------------------------------------------------------------------===//

#include "codegen/RankModule.h"

#include "codegen/Buffers.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

//===-- Groups, routes, shards --------------------------------------------===//

RankGroup cleave::listGroup(MeshAttr mesh, ArrayAttr axes) {
  llvm::SmallVector<int64_t> along;
  int64_t size = 1;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    along.push_back(mesh.getAxisPosition(axis.getValue()));
    size *= mesh.getAxisSize(axis.getValue());
  }
  // Ranks with equal other coordinates form a list, ordered along `axes`.
  RankGroup group;
  SmallVector<SmallVector<int64_t>> others;
  for (auto [position, rank] : llvm::enumerate(mesh.getRanks())) {
    SmallVector<int64_t> coords = mesh.getCoords(position);
    int64_t index = 0;
    for (int64_t axis : along) {
      index = index * mesh.getAxes()[axis].getSize() + coords[axis];
      coords[axis] = 0;
    }
    size_t list = llvm::find(others, coords) - others.begin();
    if (list == others.size()) {
      others.push_back(coords);
      group.emplace_back(size);
    }
    group[list][index] = rank;
  }
  return group;
}

template <typename Table, typename Entry>
static int64_t intern(Table &table, const Entry &entry) {
  auto *found = llvm::find(table, entry);
  if (found != table.end())
    return found - table.begin();
  table.push_back(entry);
  return table.size() - 1;
}

int64_t RankModule::getGroup(MeshAttr mesh, ArrayAttr axes) const {
  return llvm::find(groups, listGroup(mesh, axes)) - groups.begin();
}

int64_t RankModule::getRoute(ArrayRef<int64_t> pairs) const {
  return llvm::find(routes, Route(pairs)) - routes.begin();
}

int64_t Program::getStateIndex(StringRef symbol) const {
  for (auto [i, state] : llvm::enumerate(states)) {
    ParamOp param = state.param;
    if (param.getSymName() == symbol)
      return i;
  }
  return -1;
}

SmallVector<DimRange> cleave::getShardRange(ArrayRef<int64_t> shape,
                                            ShardingAttr sharding,
                                            MeshAttr mesh, int64_t position) {
  SmallVector<int64_t> coords = mesh.getCoords(position);
  SmallVector<DimRange> ranges;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t index = 0, parts = 1, chunk = size;
    if (sharding) {
      for (StringAttr axis : sharding.getDims()[dim].getAxes()) {
        int64_t axisSize = mesh.getAxisSize(axis.getValue());
        index =
            index * axisSize + coords[mesh.getAxisPosition(axis.getValue())];
        parts *= axisSize;
      }
      chunk = getChunk(size, sharding.getDims()[dim].getBlock(), parts);
    }
    int64_t start = std::min<int64_t>(index * chunk, size);
    ranges.push_back({start, std::min<int64_t>(chunk, size - start)});
  }
  return ranges;
}

//===-- The reader --------------------------------------------------------===//

namespace {
/// Fills a RankModule function by function.
class Reader {
public:
  /// `tables`: of the buckets before this one, whose number is `bucket`.
  Reader(ModuleOp module, size_t bucket, const RankModule &tables)
      : module(module), bucket(bucket) {
    result.axes = tables.axes;
    result.groups = tables.groups;
    result.routes = tables.routes;
    result.channels = tables.channels;
  }
  FailureOr<RankModule> read();

private:
  LogicalResult readUserTensors(StringRef attribute,
                                SmallVectorImpl<UserTensor> &tensors);
  LogicalResult readStage(func::FuncOp function);
  LogicalResult readArguments(Program &program);
  LogicalResult readResults(Program &program);
  LogicalResult readOp(Program &program, Operation *op);
  LogicalResult readLoad(Program &program, LoadOp load);
  LogicalResult readStore(Program &program, StoreOp store);
  void addSend(SendOp send);
  LogicalResult addCollective(Operation *op, FlatSymbolRefAttr mesh,
                              ArrayAttr axes);
  LogicalResult placeRanks();
  FailureOr<int64_t> findTensor(func::FuncOp function, StringAttr name,
                                ArrayRef<UserTensor> tensors, StringRef what);
  FailureOr<ParamOp> findParam(Operation *user, StringRef symbol);
  LogicalResult verifyLocalType(Operation *op, RankedTensorType whole,
                                ShardingAttr sharding, RankedTensorType local,
                                MeshAttr mesh, const Twine &what);

  ModuleOp module;
  size_t bucket;
  RankModule result;
};
} // namespace

FailureOr<RankModule> Reader::read() {
  if (failed(readUserTensors("cleave.inputs", result.inputs)) ||
      failed(readUserTensors("cleave.outputs", result.outputs)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(readStage(function)))
      return failure();
  if (failed(placeRanks()))
    return failure();
  return std::move(result);
}

LogicalResult Reader::readUserTensors(StringRef attribute,
                                      SmallVectorImpl<UserTensor> &tensors) {
  auto entries = module->getAttrOfType<ArrayAttr>(attribute);
  if (!entries)
    return module.emitError() << "module has no attribute '" << attribute
                              << "'; expected the whole tensors by name";
  for (Attribute entry : entries) {
    auto fields = dyn_cast<DictionaryAttr>(entry);
    auto name = fields ? fields.getAs<StringAttr>("name") : StringAttr();
    auto type = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
    auto tensor =
        type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
    if (!name || !tensor)
      return module.emitError()
             << "attribute '" << attribute << "' holds " << entry
             << "; expected {name = \"..\", type = tensor<..>}";
    tensors.push_back({name.str(), tensor});
  }
  return success();
}

LogicalResult Reader::readStage(func::FuncOp function) {
  auto symbol = function->getAttrOfType<FlatSymbolRefAttr>("cleave.mesh");
  auto mesh =
      symbol ? module.lookupSymbol<MeshOp>(symbol.getValue()) : MeshOp();
  if (!mesh)
    return function.emitError() << "function '" << function.getSymName()
                                << "' has no mesh; expected `cleave.mesh` with "
                                   "the symbol of one";
  Program program;
  program.name = "p" + std::to_string(result.programs.size()) +
                 (bucket ? "-" + std::to_string(bucket) : "");
  program.function = function;
  program.mesh = mesh.getMesh();
  for (MeshAxisAttr axis : program.mesh.getAxes())
    program.axes.push_back(
        intern(result.axes, WorldAxis{axis.getName().str(), axis.getSize()}));
  if (failed(readArguments(program)) || failed(readResults(program)))
    return failure();
  WalkResult walk = function.walk([&](Operation *op) {
    return failed(readOp(program, op)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  // States that are only stored come behind those that are loaded.
  for (auto store : function.getOps<StoreOp>())
    if (failed(readStore(program, store)))
      return failure();
  for (auto [i, state] : llvm::enumerate(program.states))
    if (!state.param)
      return function.emitError() << "no load or store names state " << i
                                  << " of " << program.states.size();
  result.programs.push_back(std::move(program));
  return success();
}

FailureOr<int64_t> Reader::findTensor(func::FuncOp function, StringAttr name,
                                      ArrayRef<UserTensor> tensors,
                                      StringRef what) {
  if (!name)
    return function.emitError()
           << "an " << what << " of '" << function.getSymName()
           << "' has no name; expected `cleave.name`";
  for (auto [i, tensor] : llvm::enumerate(tensors))
    if (tensor.name == name.getValue())
      return i;
  return function.emitError()
         << "the module has no " << what << " '" << name.getValue() << "'";
}

/// Whether a tensor can be kept in this form between steps.
static bool isStorage(ShardingAttr sharding, RankedTensorType whole,
                      MeshAttr mesh) {
  auto hasRanks = [&](StringAttr axis) {
    return mesh.getAxisPosition(axis.getValue()) >= 0;
  };
  return !sharding.isPartial() &&
         sharding.getDims().size() == whole.getShape().size() &&
         llvm::all_of(sharding.getDims(), [&](DimShardingAttr dim) {
           return llvm::all_of(dim.getAxes(), hasRanks);
         });
}

LogicalResult Reader::verifyLocalType(Operation *op, RankedTensorType whole,
                                      ShardingAttr sharding,
                                      RankedTensorType local, MeshAttr mesh,
                                      const Twine &what) {
  if (sharding && !isStorage(sharding, whole, mesh))
    return op->emitError() << what << " has the sharding " << sharding
                           << "; expected one entry per dim of " << whole
                           << ", axes with ranks and none that is partial";
  RankedTensorType expected =
      sharding ? getLocalType(whole, sharding, mesh) : whole;
  if (expected == local)
    return success();
  return op->emitError() << what << " has the local type " << local
                         << "; expected " << expected;
}

LogicalResult Reader::readArguments(Program &program) {
  func::FuncOp function = program.function;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(i, "cleave.name");
    FailureOr<int64_t> index =
        findTensor(function, name, result.inputs, "input");
    FailureOr<BufferAttr> buffer = getBuffer(argument);
    if (failed(index) || failed(buffer))
      return failure();
    if (buffer->getSpace() != BufferSpace::Input || buffer->getIndex() != i)
      return function.emitError() << "input '" << name.getValue() << "' is in "
                                  << *buffer << "; expected input " << i;
    auto sharding =
        function.getArgAttrOfType<ShardingAttr>(i, "cleave.sharding");
    auto type = cast<RankedTensorType>(argument.getType());
    if (failed(verifyLocalType(function, result.inputs[*index].type, sharding,
                               type, program.mesh,
                               "input '" + name.getValue() + "'")))
      return failure();
    program.inputs.push_back({*index, type, sharding});
  }
  return success();
}

LogicalResult Reader::readResults(Program &program) {
  func::FuncOp function = program.function;
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "cleave.name");
    FailureOr<int64_t> index =
        findTensor(function, name, result.outputs, "output");
    if (failed(index))
      return failure();
    auto buffer = function.getResultAttrOfType<BufferAttr>(i, "cleave.buffer");
    if (!buffer || buffer.getSpace() != BufferSpace::Output ||
        buffer.getIndex() != i)
      return function.emitError() << "output '" << name.getValue()
                                  << "' has no buffer; expected output " << i;
    auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
    if (failed(verifyLocalType(function, result.outputs[*index].type, {}, type,
                               program.mesh,
                               "output '" + name.getValue() + "'")))
      return failure();
    program.outputs.push_back({*index, type, {}});
  }
  return success();
}

LogicalResult Reader::readOp(Program &program, Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return readLoad(program, load);
  if (auto send = dyn_cast<SendOp>(op))
    addSend(send);
  else if (auto recv = dyn_cast<RecvOp>(op))
    intern(result.routes, Route(recv.getPairs()));
  else if (auto axes = op->getAttrOfType<ArrayAttr>("axes"))
    return addCollective(op, op->getAttrOfType<FlatSymbolRefAttr>("mesh"),
                         axes);
  return success();
}

void Reader::addSend(SendOp send) {
  ArrayRef<int64_t> pairs = send.getPairs();
  intern(result.routes, Route(pairs));
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    intern(result.channels,
           Channel{pairs[i], pairs[i + 1], int64_t(send.getTag())});
}

LogicalResult Reader::addCollective(Operation *op, FlatSymbolRefAttr symbol,
                                    ArrayAttr axes) {
  auto mesh =
      symbol ? module.lookupSymbol<MeshOp>(symbol.getValue()) : MeshOp();
  if (!mesh)
    return op->emitOpError() << "names no mesh of the module";
  // Only an index may be along the axis in time.
  bool isIndex = isa<AxisIndexOp>(op);
  for (auto axis : axes.getAsRange<StringAttr>())
    if (mesh.getMesh().getAxisPosition(axis.getValue()) < 0 &&
        !(isIndex && axis.getValue() == MeshAttr::MicroBatchAxis))
      return op->emitOpError() << "is along " << axis << ", of which " << symbol
                               << " has no ranks";
  if (!isIndex)
    intern(result.groups, listGroup(mesh.getMesh(), axes));
  return success();
}

FailureOr<ParamOp> Reader::findParam(Operation *user, StringRef symbol) {
  if (auto param = module.lookupSymbol<ParamOp>(symbol))
    return param;
  return user->emitOpError() << "names no param: '" << symbol << "'";
}

LogicalResult Reader::readLoad(Program &program, LoadOp load) {
  FailureOr<ParamOp> param = findParam(load, load.getSymbol());
  FailureOr<BufferAttr> buffer = getBuffer(load.getResult());
  if (failed(param) || failed(buffer))
    return failure();
  auto whole = cast<RankedTensorType>(param->getType());
  auto local = cast<RankedTensorType>(load.getType());
  if (failed(verifyLocalType(load, whole, param->getShardingAttr(), local,
                             program.mesh, "param '" + load.getSymbol() + "'")))
    return failure();
  if (buffer->getSpace() != BufferSpace::State)
    return load.emitOpError()
           << "is in " << *buffer << "; expected space state";
  size_t index = buffer->getIndex();
  if (index >= program.states.size())
    program.states.resize(index + 1);
  ProgramState &state = program.states[index];
  if (state.param && state.param != *param)
    return load.emitOpError() << "has state index " << index << " of param '"
                              << state.param.getSymName() << "'";
  state.name = load.getSymbol().str();
  state.param = *param;
  state.localType = local;
  return success();
}

LogicalResult Reader::readStore(Program &program, StoreOp store) {
  FailureOr<ParamOp> param = findParam(store, store.getSymbol());
  if (failed(param))
    return failure();
  auto whole = cast<RankedTensorType>(param->getType());
  auto local = cast<RankedTensorType>(store.getValue().getType());
  if (failed(verifyLocalType(store, whole, param->getShardingAttr(), local,
                             program.mesh,
                             "param '" + store.getSymbol() + "'")))
    return failure();
  int64_t index = program.getStateIndex(store.getSymbol());
  if (index < 0) {
    index = program.states.size();
    program.states.push_back({store.getSymbol().str(), *param, local});
  }
  program.states[index].isMutable = true;
  return success();
}

LogicalResult Reader::placeRanks() {
  int64_t world = 0;
  for (const Program &program : result.programs)
    for (int64_t rank : program.mesh.getRanks())
      world = std::max(world, rank + 1);
  result.ranks.resize(world);
  for (auto [number, program] : llvm::enumerate(result.programs)) {
    for (auto [position, rank] : llvm::enumerate(program.mesh.getRanks())) {
      RankPlace &place = result.ranks[rank];
      if (place.program >= 0)
        return program.function.emitError()
               << "rank " << rank << " is in two stages: '"
               << result.programs[place.program].function.getSymName()
               << "' and '" << program.function.getSymName() << "'";
      place.program = number;
      place.coords.assign(result.axes.size(), 0);
      for (auto [axis, coord] :
           llvm::zip_equal(program.axes, program.mesh.getCoords(position)))
        place.coords[axis] = coord;
    }
  }
  for (auto [rank, place] : llvm::enumerate(result.ranks))
    if (place.program < 0)
      return module.emitError()
             << "no stage has rank " << rank << " of " << world;
  return success();
}

//===-- Buckets -----------------------------------------------------------===//

/// Equal for states of which the same ranks keep the same bytes.
static std::string getStateKey(const Program &program,
                               const ProgramState &state) {
  ParamOp param = state.param;
  std::string key;
  llvm::raw_string_ostream stream(key);
  auto whole = cast<RankedTensorType>(param.getType());
  stream << param.getValueAttr().getAsOpaquePointer() << " "
         << whole.getAsOpaquePointer() << " "
         << state.localType.getAsOpaquePointer();
  for (auto [position, rank] : llvm::enumerate(program.mesh.getRanks())) {
    stream << " " << rank;
    for (DimRange range : getShardRange(
             whole.getShape(), param.getShardingAttr(), program.mesh, position))
      stream << "," << range.start << "+" << range.valid;
  }
  return key;
}

/// Other bytes than those of an earlier bucket need another name.
static void nameStates(MutableArrayRef<RankModule> buckets) {
  llvm::StringMap<llvm::StringMap<std::string>> names; // by symbol, then key
  for (auto [bucket, ranks] : llvm::enumerate(buckets))
    for (Program &program : ranks.programs)
      for (ProgramState &state : program.states) {
        auto &known = names[state.name];
        bool isFirst = bucket == 0 || known.empty();
        std::string own = isFirst
                              ? state.name
                              : state.name + "@bucket" + std::to_string(bucket);
        state.name =
            known.try_emplace(getStateKey(program, state), own).first->second;
      }
}

static void shareTables(MutableArrayRef<RankModule> buckets) {
  RankModule &last = buckets.back();
  for (RankModule &ranks : buckets.drop_back()) {
    ranks.axes = last.axes;
    ranks.groups = last.groups;
    ranks.routes = last.routes;
    ranks.channels = last.channels;
    for (RankPlace &place : ranks.ranks)
      place.coords.resize(last.axes.size());
  }
}

FailureOr<std::vector<RankModule>>
cleave::readRankModules(ArrayRef<ModuleOp> modules) {
  std::vector<RankModule> buckets;
  for (auto [number, module] : llvm::enumerate(modules)) {
    FailureOr<RankModule> ranks =
        Reader(module, number, buckets.empty() ? RankModule() : buckets.back())
            .read();
    if (failed(ranks))
      return failure();
    if (number && ranks->getWorld() != buckets.front().getWorld())
      return module->emitError()
             << "the buckets are for different numbers of ranks: "
             << buckets.front().getWorld() << " and " << ranks->getWorld();
    buckets.push_back(std::move(*ranks));
  }
  shareTables(buckets);
  nameStates(buckets);
  return std::move(buckets);
}
