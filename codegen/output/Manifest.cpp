//===- Manifest.cpp - manifest.json of OUT --------------------------------===//
//
// One function per kind of entry; the layout is that of runtime/Format.h.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/Manifest.h"

#include "codegen/Dtypes.h"
#include "codegen/host/Collectives.h"
#include "ir/Origin.h"
#include "runtime/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace cleave;
using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

/// {"name", "dtype", "shape"}.
static FailureOr<Object> printTensor(Operation *user, StringRef name,
                                     RankedTensorType type) {
  FailureOr<CleaveDtype> dtype = getDtype(user, type.getElementType());
  if (failed(dtype))
    return failure();
  return Object{{"name", name},
                {"dtype", getManifestName(*dtype)},
                {"shape", Array(type.getShape())}};
}

static FailureOr<Array> printUserTensors(const RankModule &ranks,
                                         ArrayRef<UserTensor> tensors) {
  Array list;
  for (const UserTensor &tensor : tensors) {
    FailureOr<Object> entry =
        printTensor(ranks.programs.front().function, tensor.name, tensor.type);
    if (failed(entry))
      return failure();
    list.push_back(std::move(*entry));
  }
  return list;
}

/// Index of an axis in the manifest's table.
static int64_t getAxis(const Program &program, StringRef name) {
  return program.axes[program.mesh.getAxisPosition(name)];
}

/// For each dim the axes that cut it, and the items of a part.
static Array printSplit(const Program &program, RankedTensorType local,
                        ShardingAttr sharding) {
  Array split;
  for (int64_t dim = 0; dim < local.getRank(); ++dim) {
    Array axes;
    if (sharding)
      for (StringAttr axis : sharding.getDims()[dim].getAxes())
        axes.push_back(getAxis(program, axis.getValue()));
    split.push_back(
        Object{{"axes", std::move(axes)}, {"chunk", local.getDimSize(dim)}});
  }
  return split;
}

static Object printPort(const Program &program, const ProgramTensor &tensor) {
  return Object{
      {"index", tensor.index},
      {"shape", Array(tensor.localType.getShape())},
      {"split", printSplit(program, tensor.localType, tensor.sharding)}};
}

static Array printPorts(const Program &program, ArrayRef<ProgramTensor> ports) {
  Array list;
  for (const ProgramTensor &port : ports)
    list.push_back(printPort(program, port));
  return list;
}

static FailureOr<Object> printState(const Program &program,
                                    const ProgramState &state) {
  ParamOp param = state.param;
  FailureOr<Object> entry = printTensor(param, state.name, state.localType);
  if (failed(entry))
    return failure();
  (*entry)["mutable"] = state.isMutable;
  if (auto setting = param->getAttrOfType<DictionaryAttr>("cleave.setting"))
    (*entry)["setting"] =
        Object{{"kind", setting.getAs<StringAttr>("kind").getValue()},
               {"base", setting.getAs<FloatAttr>("base").getValueAsDouble()}};
  if (auto role = param->getAttrOfType<StringAttr>(RoleAttrName))
    (*entry)["role"] = role.getValue();
  if (auto name = param->getAttrOfType<StringAttr>("cleave.name"))
    (*entry)["trueName"] = name.getValue();
  else if (param.getSymName() != state.name)
    (*entry)["trueName"] = param.getSymName();
  (*entry)["whole"] = Array(cast<RankedTensorType>(param.getType()).getShape());
  if (auto shape = param.getTrueShape(); shape && !shape->empty())
    (*entry)["trueShape"] = Array(*shape);
  (*entry)["split"] =
      printSplit(program, state.localType, param.getShardingAttr());
  return entry;
}

/// How many kernels, by kind, and collectives, by name, a step has.
static Object countOps(func::FuncOp function) {
  std::map<std::string, int64_t> counts;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<PrepareOp>(op))
      return WalkResult::skip();
    if (auto kernel = dyn_cast<KernelOp>(op))
      ++counts[stringifyKernelKind(kernel.getKind()).str()];
    else if (isCollective(op) && !isa<DoneOp>(op))
      ++counts[op->getName().stripDialect().str()];
    return WalkResult::advance();
  });
  Object object;
  for (auto &[name, count] : counts)
    object[name] = count;
  return object;
}

/// FLOPs of the products of a step, on one rank.
static double countFlops(const Program &program) {
  double flops = 0;
  func::FuncOp function = program.function;
  function.walk([&](WorkOpInterface op) {
    Work work = op.getWork();
    bool isInChunk = op->getParentOfType<ChunkOp>() != nullptr;
    if (work.isProduct && !op->getParentOfType<PrepareOp>())
      flops += work.flops * (isInChunk ? program.mesh.getMicroBatches() : 1);
  });
  return flops;
}

/// The loops of a step over its micro-batches; none without any.
static Array printSchedule(func::FuncOp function) {
  Array loops;
  function.walk([&](ScheduleOp schedule) {
    for (auto loop : schedule.getLoops().getAsRange<LoopAttr>()) {
      Array chunks;
      for (ChunkCallAttr call : loop.getCalls())
        chunks.push_back(call.getChunk());
      loops.push_back(
          Object{{"count", loop.getCount()}, {"chunks", std::move(chunks)}});
    }
  });
  return loops;
}

static Object printDevice(const DeviceFigures &device) {
  Object binaries;
  for (const BinaryFigures &binary : device.binaries) {
    Array kernels;
    for (const KernelFigures &kernel : binary.kernels)
      kernels.push_back(Object{{"name", kernel.name},
                               {"registers", kernel.registers},
                               {"spillBytes", kernel.spillBytes},
                               {"stackBytes", kernel.stackBytes},
                               {"sharedBytes", kernel.sharedBytes},
                               {"narrowLoads", kernel.narrowLoads}});
    binaries[binary.arch] = std::move(kernels);
  }
  return Object{{"launches", device.launches},
                {"binaries", std::move(binaries)}};
}

static FailureOr<Object> printProgram(const RankModule &ranks,
                                      const Program &program,
                                      const ProgramFigures &figures) {
  Array states;
  for (const ProgramState &state : program.states) {
    FailureOr<Object> entry = printState(program, state);
    if (failed(entry))
      return failure();
    states.push_back(std::move(*entry));
  }
  Object object{{"name", program.name},
                {"file", figures.file},
                {"identity", figures.identity},
                {"counts", countOps(program.function)},
                {"flops", countFlops(program)},
                {"schedule", printSchedule(program.function)},
                {"inputs", printPorts(program, program.inputs)},
                {"outputs", printPorts(program, program.outputs)},
                {"state", std::move(states)}};
  if (!figures.device.binaries.empty())
    object["device"] = printDevice(figures.device);
  return object;
}

/// The first rank of the stage that makes an output.
static int64_t getOwner(const RankModule &ranks, int64_t output) {
  for (const Program &program : ranks.programs)
    for (const ProgramTensor &tensor : program.outputs)
      if (tensor.index == output)
        return program.mesh.getRanks().front();
  return -1;
}

static LogicalResult addOwners(const RankModule &ranks, Array &outputs) {
  for (auto [i, entry] : llvm::enumerate(outputs)) {
    int64_t owner = getOwner(ranks, i);
    func::FuncOp first = ranks.programs.front().function;
    if (owner < 0)
      return first.emitError()
             << "no stage makes the output '" << ranks.outputs[i].name << "'";
    (*entry.getAsObject())["owner"] = owner;
  }
  return success();
}

/// The model's nodes that make the outputs.
static void addOrigins(const RankModule &ranks, Array &outputs) {
  func::FuncOp first = ranks.programs.front().function;
  auto signature = first->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
      "cleave.outputs");
  for (auto [entry, described] :
       llvm::zip_equal(outputs, signature.getAsRange<DictionaryAttr>())) {
    Object &output = *entry.getAsObject();
    std::optional<Origin> origin =
        readOrigin(described.getAs<DictionaryAttr>("origin"));
    if (!origin)
      continue;
    output["node"] = origin->node;
    output["op"] = origin->op;
    output["position"] = origin->position;
    if (origin->isKept)
      output["kept"] = true;
  }
}

static Array printRanks(const RankModule &ranks, ArrayRef<std::string> files) {
  Array list;
  for (auto [place, weights] : llvm::zip_equal(ranks.ranks, files)) {
    Object entry{{"program", place.program}, {"coords", Array(place.coords)}};
    if (!weights.empty())
      entry["weights"] = weights;
    list.push_back(std::move(entry));
  }
  return list;
}

static Array printGroups(const RankModule &ranks) {
  Array groups;
  for (const RankGroup &group : ranks.groups) {
    Array lists;
    for (ArrayRef<int64_t> members : group)
      lists.push_back(Array(members));
    groups.push_back(std::move(lists));
  }
  return groups;
}

static Array printRoutes(const RankModule &ranks) {
  Array routes;
  for (const Route &route : ranks.routes) {
    Array pairs;
    for (size_t i = 0; i + 1 < route.size(); i += 2)
      pairs.push_back(Array{route[i], route[i + 1]});
    routes.push_back(std::move(pairs));
  }
  return routes;
}

static Array printChannels(const RankModule &ranks) {
  Array channels;
  for (const Channel &channel : ranks.channels)
    channels.push_back(Array(channel));
  return channels;
}

/// The ranks that need a file which not all of them do, by its path.
static std::map<std::string, SmallVector<int64_t>>
findReaders(const ManifestInfo &info) {
  std::map<std::string, SmallVector<int64_t>> readers;
  for (auto [rank, weights] : llvm::enumerate(info.weights)) {
    readers[format::RankPrefix + std::to_string(rank)].push_back(rank);
    for (const BucketInfo &bucket : info.buckets)
      readers[bucket.programs[bucket.ranks.ranks[rank].program].file].push_back(
          rank);
    if (!weights.empty())
      readers[weights].push_back(rank);
  }
  return readers;
}

static Array printFiles(const std::map<std::string, OutFile> &files,
                        const ManifestInfo &info) {
  auto readers = findReaders(info);
  Array list;
  for (const auto &[path, file] : files) {
    Object entry{
        {"path", path}, {"bytes", file.bytes}, {"sha256", file.digest}};
    if (auto found = readers.find(path); found != readers.end())
      entry["ranks"] = Array(found->second);
    list.push_back(std::move(entry));
  }
  return list;
}

/// A world of one needs no MPI.
static Object printRequirements(const RankModule &ranks,
                                const Requirements &requirements) {
  Object object{{"glibc", requirements.glibc.getAsString()}};
  if (ranks.getWorld() > 1)
    object["mpi"] = requirements.mpi;
  if (!requirements.cudaArchs.empty())
    object["cuda"] = Array(requirements.cudaArchs);
  return object;
}

/// What the memory phase found; a program written by hand has its arena.
static int64_t getLiveBytes(const ProgramFigures &figures,
                            func::FuncOp function) {
  auto live = function->getAttrOfType<IntegerAttr>("cleave.live_bytes");
  return live ? live.getInt() : figures.arenaBytes;
}

/// What differs between buckets.
static FailureOr<Object> printBucket(const BucketInfo &bucket,
                                     ArrayRef<std::string> weights) {
  const RankModule &ranks = bucket.ranks;
  Array programs, arenas, live;
  for (auto [program, figures] :
       llvm::zip_equal(ranks.programs, bucket.programs)) {
    FailureOr<Object> entry = printProgram(ranks, program, figures);
    if (failed(entry))
      return failure();
    programs.push_back(std::move(*entry));
    arenas.push_back(figures.arenaBytes);
    live.push_back(getLiveBytes(figures, program.function));
  }
  FailureOr<Array> inputs = printUserTensors(ranks, ranks.inputs);
  FailureOr<Array> outputs = printUserTensors(ranks, ranks.outputs);
  if (failed(inputs) || failed(outputs) || failed(addOwners(ranks, *outputs)))
    return failure();
  addOrigins(ranks, *outputs);
  return Object{
      {"programs", std::move(programs)}, {"ranks", printRanks(ranks, weights)},
      {"inputs", std::move(*inputs)},    {"outputs", std::move(*outputs)},
      {"arenaBytes", std::move(arenas)}, {"liveBytes", std::move(live)}};
}

FailureOr<std::string>
cleave::printManifest(const ManifestInfo &info,
                      const std::map<std::string, OutFile> &files) {
  const RankModule &tables = info.buckets.front().ranks;
  FailureOr<Object> first = printBucket(info.buckets.front(), info.weights);
  if (failed(first))
    return failure();
  Object manifest = std::move(*first);
  Array others, axes, axisSizes;
  for (const BucketInfo &bucket : ArrayRef(info.buckets).drop_front()) {
    FailureOr<Object> entry = printBucket(bucket, info.weights);
    if (failed(entry))
      return failure();
    others.push_back(std::move(*entry));
  }
  for (const WorldAxis &axis : tables.axes) {
    axes.push_back(axis.name);
    axisSizes.push_back(axis.size);
  }
  manifest["format"] = format::Version;
  manifest["build"] = info.build;
  manifest["plan"] = info.plan;
  manifest["model"] = info.model;
  manifest["world"] = tables.getWorld();
  manifest["axes"] = std::move(axes);
  manifest["axisSizes"] = std::move(axisSizes);
  manifest["groups"] = printGroups(tables);
  manifest["routes"] = printRoutes(tables);
  manifest["channels"] = printChannels(tables);
  manifest["files"] = printFiles(files, info);
  manifest["requires"] = printRequirements(tables, info.requirements);
  if (!others.empty())
    manifest["buckets"] = std::move(others);
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(manifest))).str();
}
