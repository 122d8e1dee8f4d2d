//===- PlanFile.cpp - reads and writes plan.json --------------------------===//
//
// Writing reads attributes only, so that it says what is in force, whoever
// wrote it. Objects are printed with sorted keys: equal plans are equal bytes.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/PlanFile.h"
#include "ir/ScheduleKind.h"
#include "passes/plan/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

static constexpr int64_t kVersion = 1;
static constexpr StringRef kSections[] = {"inputs", "params", "values"};

//===-- Write -------------------------------------------------------------===//

ShardingAttr cleave::getSharding(const Graph &graph, const Tensor &tensor) {
  switch (tensor.kind) {
  case Tensor::Input: {
    unsigned index = cast<BlockArgument>(tensor.value).getArgNumber();
    return graph.main.getArgAttrOfType<ShardingAttr>(index, "cleave.sharding");
  }
  case Tensor::Param:
    return tensor.param.getShardingAttr();
  case Tensor::Value: {
    auto result = cast<OpResult>(tensor.value);
    auto all = result.getOwner()->getAttrOfType<ArrayAttr>("cleave.shardings");
    return all ? dyn_cast<ShardingAttr>(all[result.getResultNumber()])
               : ShardingAttr();
  }
  }
  llvm_unreachable("unknown kind");
}

static llvm::json::Value toJson(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getInt();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    llvm::json::Array array;
    for (Attribute element : list)
      array.push_back(toJson(element));
    return array;
  }
  llvm::json::Object object;
  for (NamedAttribute entry : cast<DictionaryAttr>(attribute))
    object[entry.getName().str()] = toJson(entry.getValue());
  return object;
}

llvm::json::Value cleave::writePlan(ModuleOp module) {
  FailureOr<Graph> graph = Graph::read(module);
  if (failed(graph))
    return nullptr;
  llvm::json::Object plan{{"version", kVersion}};
  llvm::json::Object axes;
  llvm::json::Array stages;
  int64_t microBatches = 1;
  for (MeshOp mesh : module.getOps<MeshOp>()) {
    for (MeshAxisAttr axis : mesh.getMesh().getAxes())
      axes[axis.getName().str()] = axis.getSize();
    microBatches = mesh.getMesh().getMicroBatches();
    llvm::json::Array nodes;
    for (const Node &node : graph->nodes) {
      auto stage = node.op->getAttrOfType<IntegerAttr>("cleave.stage");
      if ((stage ? stage.getInt() : 0) == static_cast<int64_t>(stages.size()))
        nodes.push_back(node.name);
    }
    stages.push_back(llvm::json::Object{
        {"ranks", llvm::json::Array(mesh.getMesh().getRanks())},
        {"nodes", std::move(nodes)}});
  }
  plan["axes"] = std::move(axes);
  plan["microbatches"] = microBatches;
  plan["stages"] = std::move(stages);
  if (auto schedule = module->getAttrOfType<StringAttr>(ScheduleAttrName))
    plan["schedule"] = schedule.getValue();
  for (StringRef section : kSections)
    plan[section] = llvm::json::Object();
  for (const Tensor &tensor : graph->tensors)
    if (ShardingAttr sharding = getSharding(*graph, tensor))
      (*plan.getObject(kSections[tensor.kind]))[tensor.name] =
          printLayout(sharding);
  if (auto predictions =
          module->getAttrOfType<DictionaryAttr>("cleave.predictions"))
    plan["predictions"] = toJson(predictions);
  return plan;
}

//===-- Read --------------------------------------------------------------===//

namespace {

class PlanReader {
public:
  PlanReader(MLIRContext *context, StringRef path)
      : loc(FileLineColLoc::get(context, path, 1, 1)) {
    file.path = path.str();
  }
  FailureOr<PlanFile> readFile();
  FailureOr<PlanFile> read(StringRef text);

private:
  LogicalResult readAxes(const llvm::json::Value &value);
  LogicalResult readStages(const llvm::json::Value &value);
  LogicalResult readSection(const llvm::json::Value &value, int kind);
  LogicalResult readEntry(StringRef key, const llvm::json::Value &value);
  InFlightDiagnostic fail() { return mlir::emitError(loc); }

  Location loc;
  PlanFile file;
};

} // namespace

LogicalResult PlanReader::readAxes(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail() << "'axes' must be an object of sizes";
  for (const auto &[name, size] : *object) {
    std::optional<int64_t> number = size.getAsInteger();
    if (!number || *number < 1)
      return fail() << "size of axis '" << StringRef(name)
                    << "' must be a positive integer";
    file.axes[name.str()] = *number;
  }
  return success();
}

LogicalResult PlanReader::readStages(const llvm::json::Value &value) {
  const llvm::json::Array *list = value.getAsArray();
  if (!list || list->empty())
    return fail() << "'stages' must be a list with at least one stage";
  for (const llvm::json::Value &entry : *list) {
    const llvm::json::Object *stage = entry.getAsObject();
    const llvm::json::Array *nodes = stage ? stage->getArray("nodes") : nullptr;
    if (!stage)
      return fail()
             << "each of 'stages' must be an object with 'nodes' and 'ranks'";
    std::vector<std::string> &names = file.stages.emplace_back();
    for (const llvm::json::Value &node : nodes ? *nodes : llvm::json::Array())
      if (std::optional<StringRef> name = node.getAsString())
        names.push_back(name->str());
      else
        return fail() << "'nodes' of a stage must be names";
  }
  return success();
}

LogicalResult PlanReader::readSection(const llvm::json::Value &value,
                                      int kind) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail() << "'" << kSections[kind] << "' must be an object of layouts";
  for (const auto &[name, layout] : *object) {
    std::optional<StringRef> text = layout.getAsString();
    if (!text)
      return fail() << "layout of '" << StringRef(name)
                    << "' must be a text, as \"-,tp\"";
    file.tensors[kind].push_back({name.str(), text->str()});
  }
  llvm::sort(file.tensors[kind]);
  return success();
}

LogicalResult PlanReader::readEntry(StringRef key,
                                    const llvm::json::Value &value) {
  if (key == "version") {
    if (value.getAsInteger() != kVersion)
      return fail() << "plan has another version, expected " << kVersion;
    return success();
  }
  if (key == "axes")
    return readAxes(value);
  if (key == "stages")
    return readStages(value);
  if (key == "predictions")
    return success();
  if (key == "microbatches") {
    file.microBatches = value.getAsInteger().value_or(0);
    if (file.microBatches < 1)
      return fail() << "'microbatches' must be a positive integer";
    return success();
  }
  if (key == "schedule") {
    file.schedule = value.getAsString().value_or("").str();
    if (!isSchedule(file.schedule))
      return fail() << "'schedule' must be gpipe or 1f1b";
    return success();
  }
  for (auto [kind, section] : llvm::enumerate(kSections))
    if (key == section)
      return readSection(value, kind);
  return fail()
         << "unknown key '" << key
         << "', expected one of version, axes, microbatches, schedule, stages, "
         << llvm::join(ArrayRef<StringRef>(kSections), ", ") << ", predictions";
}

FailureOr<PlanFile> PlanReader::readFile() {
  auto buffer = llvm::MemoryBuffer::getFile(file.path);
  if (!buffer)
    return fail() << "cannot read the plan: " << buffer.getError().message();
  return read((*buffer)->getBuffer());
}

FailureOr<PlanFile> PlanReader::read(StringRef text) {
  llvm::Expected<llvm::json::Value> value = parseJson(text);
  if (!value)
    return fail() << "not valid JSON: " << llvm::toString(value.takeError());
  const llvm::json::Object *object = value->getAsObject();
  if (!object || !object->get("version"))
    return fail() << "not a plan: expected an object with a 'version'";
  std::vector<StringRef> keys;
  for (const auto &entry : *object)
    keys.push_back(entry.first);
  llvm::sort(keys);
  for (StringRef key : keys)
    if (failed(readEntry(key, *object->get(key))))
      return failure();
  if (file.stages.empty())
    return fail() << "the plan has no 'stages'";
  return file;
}

FailureOr<PlanFile> cleave::plan::readPlanFile(MLIRContext *context,
                                               StringRef path) {
  return PlanReader(context, path).readFile();
}

FailureOr<PlanFile> cleave::plan::parsePlan(MLIRContext *context,
                                            StringRef text, StringRef name) {
  return PlanReader(context, name).read(text);
}

//===-- Pins --------------------------------------------------------------===//

static LogicalResult pinSection(Pins &pins, const Graph &graph,
                                const PlanFile &file, int kind,
                                ArrayRef<PlanAxis> axes) {
  llvm::StringMap<size_t> known;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors))
    if (tensor.kind == kind)
      known[tensor.name] = i;
  for (const auto &[name, text] : file.tensors[kind]) {
    auto it = known.find(name);
    if (it == known.end() && file.isBase)
      continue;
    if (it == known.end())
      return graph.module.emitError()
             << "plan '" << file.path << "' names '" << name << "' in '"
             << kSections[kind] << "', which the model does not have";
    std::string source = "plan '" + file.path + "': layout '" + text + "'";
    llvm::Expected<LayoutText> layout = parseLayout(text);
    if (!layout)
      return graph.module.emitError()
             << source << " of '" << name
             << "': " << llvm::toString(layout.takeError());
    // Another bucket may see it under another shape.
    int64_t rank = graph.tensors[it->second].type.getRank();
    if (file.isBase && rank != static_cast<int64_t>(layout->dims.size()))
      continue;
    if (failed(pinTensor(pins, graph, it->second, *layout, axes, source, true)))
      return failure();
  }
  return success();
}

static LogicalResult pinStages(Pins &pins, const Graph &graph,
                               const PlanFile &file) {
  llvm::StringMap<size_t> known;
  for (auto [i, node] : llvm::enumerate(graph.nodes))
    known[node.name] = i;
  int64_t stages = file.stages.size();
  for (auto [stage, names] : llvm::enumerate(file.stages))
    for (const std::string &name : names) {
      auto it = known.find(name);
      if (it == known.end() && file.isBase)
        continue;
      if (it == known.end())
        return graph.module.emitError()
               << "plan '" << file.path << "' puts node '" << name
               << "' in stage " << stage << ", but the model has no such node";
      if (failed(pinStage(pins, graph, it->second, stage, stages,
                          "plan '" + file.path + "'")))
        return failure();
    }
  return success();
}

LogicalResult cleave::plan::pinPlan(Pins &pins, const Graph &graph,
                                    const PlanFile &file,
                                    ArrayRef<PlanAxis> axes) {
  for (int kind : {Tensor::Input, Tensor::Param, Tensor::Value})
    if ((kind == Tensor::Param || !file.isBase) &&
        failed(pinSection(pins, graph, file, kind, axes)))
      return failure();
  return pinStages(pins, graph, file);
}
