//===- Annotations.cpp - to and from attributes ---------------------------===//

#include "ir/Annotations.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace cleave;
using namespace mlir;

int64_t Placement::getShards() const {
  constexpr int64_t kMost = int64_t(1) << 40; // more are never devices
  int64_t shards = 1;
  for (const ShardedDim &dim : dims)
    for (const ShardedPart &part : dim.parts)
      shards = part.shards > kMost / shards ? kMost : shards * part.shards;
  return shards;
}

//===-- Write -------------------------------------------------------------===//

static ArrayAttr encode(Builder &b, const std::vector<ShardedDim> &dims) {
  SmallVector<Attribute> all;
  for (const ShardedDim &dim : dims) {
    SmallVector<int64_t> numbers = {dim.dim};
    for (const ShardedPart &part : dim.parts) {
      numbers.push_back(part.blocks);
      numbers.push_back(part.shards);
    }
    all.push_back(b.getDenseI64ArrayAttr(numbers));
  }
  return b.getArrayAttr(all);
}

static Attribute encode(Builder &b, const Placement &placement) {
  SmallVector<Attribute> devices;
  for (const std::vector<int64_t> &shard : placement.devices)
    devices.push_back(b.getDenseI64ArrayAttr(shard));
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("node", b.getStringAttr(placement.node)),
      b.getNamedAttr("tensor", b.getStringAttr(placement.tensor)),
      b.getNamedAttr("shape", b.getDenseI64ArrayAttr(placement.shape)),
      b.getNamedAttr("dims", encode(b, placement.dims)),
      b.getNamedAttr("devices", b.getArrayAttr(devices))};
  if (placement.isOutput)
    entries.push_back(b.getNamedAttr("output", b.getUnitAttr()));
  return b.getDictionaryAttr(entries);
}

static Attribute encode(Builder &b, const Annotations &annotations) {
  SmallVector<Attribute> placements, stages;
  for (const Placement &placement : annotations.placements)
    placements.push_back(encode(b, placement));
  for (const auto &[node, stage] : annotations.stages)
    stages.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("node", b.getStringAttr(node)),
         b.getNamedAttr("stage", b.getI64IntegerAttr(stage))}));
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("configuration",
                     b.getStringAttr(annotations.configuration)),
      b.getNamedAttr("devices", b.getI64IntegerAttr(annotations.devices)),
      b.getNamedAttr("placements", b.getArrayAttr(placements)),
      b.getNamedAttr("stages", b.getArrayAttr(stages))};
  if (!annotations.plan.empty())
    entries.push_back(
        b.getNamedAttr("plan", b.getStringAttr(annotations.plan)));
  return b.getDictionaryAttr(entries);
}

void cleave::setAnnotations(ModuleOp module, ArrayRef<Annotations> all) {
  Builder b(module.getContext());
  SmallVector<Attribute> list;
  for (const Annotations &annotations : all)
    list.push_back(encode(b, annotations));
  module->setAttr(AnnotationsAttrName, b.getArrayAttr(list));
}

//===-- Read --------------------------------------------------------------===//

namespace {

/// Reads entries of a dictionary; `isValid` falls when one is missing or of
/// another kind.
class Entries {
public:
  Entries(Attribute attribute, bool &isValid)
      : dictionary(dyn_cast<DictionaryAttr>(attribute)), isValid(isValid) {
    isValid &= dictionary != nullptr;
  }

  bool has(StringRef name) const { return dictionary && dictionary.get(name); }
  std::string getText(StringRef name) {
    auto text = get<StringAttr>(name);
    return text ? text.str() : "";
  }
  int64_t getInt(StringRef name) {
    auto number = get<IntegerAttr>(name);
    return number ? number.getInt() : 0;
  }
  ArrayRef<int64_t> getInts(StringRef name) {
    auto list = get<DenseI64ArrayAttr>(name);
    return list ? list.asArrayRef() : ArrayRef<int64_t>();
  }
  ArrayRef<Attribute> getList(StringRef name) {
    auto list = get<ArrayAttr>(name);
    return list ? list.getValue() : ArrayRef<Attribute>();
  }
  ArrayRef<int64_t> toInts(Attribute attribute) {
    auto list = dyn_cast<DenseI64ArrayAttr>(attribute);
    isValid &= list != nullptr;
    return list ? list.asArrayRef() : ArrayRef<int64_t>();
  }

private:
  template <typename T> T get(StringRef name) {
    auto entry = dictionary ? dictionary.getAs<T>(name) : T();
    isValid &= entry != nullptr;
    return entry;
  }

  DictionaryAttr dictionary;
  bool &isValid;
};

} // namespace

static ShardedDim decodeDim(ArrayRef<int64_t> numbers, bool &isValid) {
  ShardedDim dim;
  isValid &= numbers.size() >= 3 && numbers.size() % 2 == 1;
  if (!isValid)
    return dim;
  dim.dim = numbers.front();
  for (size_t i = 1; i < numbers.size(); i += 2)
    dim.parts.push_back({numbers[i], numbers[i + 1]});
  return dim;
}

static Placement decodePlacement(Attribute attribute, bool &isValid) {
  Entries entries(attribute, isValid);
  Placement placement;
  placement.node = entries.getText("node");
  placement.tensor = entries.getText("tensor");
  placement.isOutput = entries.has("output");
  placement.shape = llvm::to_vector(entries.getInts("shape"));
  for (Attribute dim : entries.getList("dims")) {
    placement.dims.push_back(decodeDim(entries.toInts(dim), isValid));
    isValid &= placement.dims.back().dim >= 0 &&
               placement.dims.back().dim < int64_t(placement.shape.size());
  }
  for (Attribute shard : entries.getList("devices"))
    placement.devices.push_back(entries.toInts(shard).vec());
  isValid &= placement.getShards() == int64_t(placement.devices.size());
  return placement;
}

static Annotations decode(Attribute attribute, bool &isValid) {
  Entries entries(attribute, isValid);
  Annotations annotations;
  annotations.configuration = entries.getText("configuration");
  annotations.devices = entries.getInt("devices");
  isValid &= annotations.devices > 0;
  for (Attribute placement : entries.getList("placements"))
    annotations.placements.push_back(decodePlacement(placement, isValid));
  for (Attribute stage : entries.getList("stages")) {
    Entries fields(stage, isValid);
    annotations.stages.push_back(
        {fields.getText("node"), fields.getInt("stage")});
  }
  if (entries.has("plan"))
    annotations.plan = entries.getText("plan");
  return annotations;
}

FailureOr<std::vector<Annotations>> cleave::getAnnotations(ModuleOp module) {
  std::vector<Annotations> all;
  Attribute attribute = module->getAttr(AnnotationsAttrName);
  if (!attribute)
    return all;
  auto list = dyn_cast<ArrayAttr>(attribute);
  bool isValid = list != nullptr;
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>())
    all.push_back(decode(entry, isValid));
  if (!isValid)
    return module.emitError() << "'" << AnnotationsAttrName
                              << "' has not the form of ir/Annotations.h";
  return all;
}

//===-- Names of tensors --------------------------------------------------===//

/// Marks names of tensors among those of a location.
static constexpr StringRef kTensorMark = "tensor ";

Location cleave::addTensorName(Location loc, StringRef name) {
  auto node = dyn_cast<NameLoc>(loc);
  if (!node)
    return loc;
  auto mark = StringAttr::get(loc.getContext(), kTensorMark + name);
  return NameLoc::get(node.getName(), NameLoc::get(mark, node.getChildLoc()));
}

SmallVector<StringRef, 1> cleave::getTensorNames(Location loc) {
  SmallVector<StringRef, 1> names;
  auto node = dyn_cast<NameLoc>(loc);
  while (node && (node = dyn_cast<NameLoc>(node.getChildLoc())))
    if (StringRef name = node.getName().getValue();
        name.consume_front(kTensorMark))
      names.push_back(name);
  return names;
}
