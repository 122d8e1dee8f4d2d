//===- Annotations.cpp - reads ONNX's sharding annotations ----------------===//

#include "frontend/Annotations.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <map>

using namespace cleave;
using namespace mlir;

std::string cleave::getPlanKey(StringRef configuration) {
  return ("cleave.plan." + configuration).str();
}

bool cleave::hasAnnotations(const LoadedModel &model) {
  const onnx::ModelProto &proto = model.proto;
  return proto.configuration_size() > 0 ||
         llvm::any_of(proto.graph().node(), [](const onnx::NodeProto &node) {
           return node.device_configurations_size() > 0;
         });
}

namespace {

class Reader {
public:
  Reader(MLIRContext *context, const LoadedModel &model, const DimSizes &sizes,
         ShapeLookup lookup)
      : context(context), model(model), sizes(sizes), lookup(lookup) {}

  LogicalResult readConfigurations();
  LogicalResult selectConfiguration(const std::string &name);
  LogicalResult readNodes();
  std::vector<Annotations> take() { return std::move(all); }

private:
  using Devices = std::map<int64_t, std::vector<int64_t>>;

  LogicalResult readNode(const onnx::NodeProto &node);
  LogicalResult readSpec(const onnx::NodeProto &node,
                         const onnx::ShardingSpecProto &spec,
                         Annotations &annotations);
  LogicalResult readDim(const onnx::ShardedDimProto &proto,
                        Placement &placement);
  LogicalResult readParts(const onnx::ShardedDimProto &proto, int64_t size,
                          const Placement &placement, ShardedDim &dim);
  LogicalResult readDevices(const onnx::ShardingSpecProto &spec,
                            int64_t devices, Placement &placement);
  LogicalResult readGroups(const onnx::ShardingSpecProto &spec,
                           const Placement &placement, Devices &groups);
  Annotations *find(StringRef name);
  std::string listConfigurations() const;

  InFlightDiagnostic fail(StringRef node) {
    return emitError(getNamedLoc(context, model.path, node)) << "annotation ";
  }
  InFlightDiagnostic fail(const Placement &placement) {
    return fail(placement.node) << "of tensor '" << placement.tensor << "' ";
  }
  InFlightDiagnostic failModel() {
    return emitError(getFileLoc(context, model.path));
  }

  MLIRContext *context;
  const LoadedModel &model;
  const DimSizes &sizes;
  ShapeLookup lookup;
  std::vector<Annotations> all;
  bool isSelected = false; ///< others than the one chosen are passed over
};

} // namespace

//===-- Configurations ----------------------------------------------------===//

Annotations *Reader::find(StringRef name) {
  auto it = llvm::find_if(all, [&](const Annotations &annotations) {
    return annotations.configuration == name;
  });
  return it == all.end() ? nullptr : &*it;
}

std::string Reader::listConfigurations() const {
  std::string list;
  for (const Annotations &annotations : all)
    list += (list.empty() ? "'" : ", '") + annotations.configuration + "'";
  return list.empty() ? "none" : list;
}

LogicalResult Reader::readConfigurations() {
  for (const onnx::DeviceConfigurationProto &proto :
       model.proto.configuration()) {
    Annotations annotations;
    annotations.configuration = proto.name();
    annotations.devices = proto.num_devices();
    if (proto.name().empty())
      return failModel() << "a device configuration has no name";
    if (find(proto.name()))
      return failModel() << "configuration '" << proto.name()
                         << "' is declared twice";
    if (proto.num_devices() < 1)
      return failModel() << "configuration '" << proto.name() << "' has "
                         << proto.num_devices()
                         << " devices, expected at least 1";
    if (proto.device_size() > 0 && proto.device_size() != proto.num_devices())
      return failModel() << "configuration '" << proto.name() << "' has "
                         << proto.num_devices() << " devices, but names "
                         << proto.device_size();
    for (const onnx::StringStringEntryProto &entry :
         model.proto.metadata_props())
      if (entry.key() == getPlanKey(proto.name()))
        annotations.plan = entry.value();
    all.push_back(std::move(annotations));
  }
  return success();
}

LogicalResult Reader::selectConfiguration(const std::string &name) {
  if (name.empty())
    return success();
  if (!find(name))
    return failModel() << "--configuration " << name
                       << ": the model declares no such configuration, found "
                       << listConfigurations();
  isSelected = true;
  llvm::erase_if(all, [&](const Annotations &annotations) {
    return annotations.configuration != name;
  });
  return success();
}

//===-- Nodes -------------------------------------------------------------===//

LogicalResult Reader::readNodes() {
  for (const onnx::NodeProto &node : model.proto.graph().node())
    if (failed(readNode(node)))
      return failure();
  return success();
}

LogicalResult Reader::readNode(const onnx::NodeProto &node) {
  for (const onnx::NodeDeviceConfigurationProto &proto :
       node.device_configurations()) {
    Annotations *annotations = find(proto.configuration_id());
    if (!annotations && isSelected)
      continue;
    if (!annotations)
      return fail(node.name())
             << "is for configuration '" << proto.configuration_id()
             << "', which the model does not declare, found "
             << listConfigurations();
    if (proto.has_pipeline_stage() && proto.pipeline_stage() < 0)
      return fail(node.name())
             << "puts the node in pipeline stage " << proto.pipeline_stage();
    if (proto.has_pipeline_stage())
      annotations->stages.push_back({node.name(), proto.pipeline_stage()});
    for (const onnx::ShardingSpecProto &spec : proto.sharding_spec())
      if (failed(readSpec(node, spec, *annotations)))
        return failure();
  }
  return success();
}

LogicalResult Reader::readSpec(const onnx::NodeProto &node,
                               const onnx::ShardingSpecProto &spec,
                               Annotations &annotations) {
  Placement placement;
  placement.node = node.name();
  placement.tensor = spec.tensor_name();
  placement.isOutput = llvm::is_contained(node.output(), spec.tensor_name());
  bool isInput = llvm::is_contained(node.input(), spec.tensor_name());
  auto shape =
      spec.tensor_name().empty() ? std::nullopt : lookup(spec.tensor_name());
  if (!shape || (!placement.isOutput && !isInput))
    return fail(placement) << "is for no input or output of the node";
  placement.shape = *shape;
  for (const onnx::ShardedDimProto &dim : spec.sharded_dim())
    if (failed(readDim(dim, placement)))
      return failure();
  llvm::sort(placement.dims, [](const ShardedDim &a, const ShardedDim &b) {
    return a.dim < b.dim;
  });
  if (failed(readDevices(spec, annotations.devices, placement)))
    return failure();
  annotations.placements.push_back(std::move(placement));
  return success();
}

//===-- Dims --------------------------------------------------------------===//

LogicalResult Reader::readDim(const onnx::ShardedDimProto &proto,
                              Placement &placement) {
  int64_t rank = placement.shape.size(), axis = proto.axis();
  if (axis < -rank || axis >= rank)
    return fail(placement) << "splits axis " << axis << " of a tensor of rank "
                           << rank;
  ShardedDim dim;
  dim.dim = axis < 0 ? axis + rank : axis;
  for (const ShardedDim &other : placement.dims)
    if (other.dim == dim.dim)
      return fail(placement) << "splits axis " << axis << " twice";
  if (failed(readParts(proto, placement.shape[dim.dim], placement, dim)))
    return failure();
  placement.dims.push_back(std::move(dim));
  return success();
}

/// One part without a size is the whole dim; the sizes of several multiply to
/// its size.
LogicalResult Reader::readParts(const onnx::ShardedDimProto &proto,
                                int64_t size, const Placement &placement,
                                ShardedDim &dim) {
  if (proto.simple_sharding_size() == 0)
    return fail(placement) << "does not say how axis " << proto.axis()
                           << " is split";
  if (size == 0)
    return fail(placement) << "splits axis " << proto.axis() << " of size 0";
  int64_t product = 1;
  bool isKnown = true;
  for (const onnx::SimpleShardedDimProto &part : proto.simple_sharding()) {
    int64_t blocks = part.dim_value();
    if (part.has_dim_param())
      blocks = sizes.lookup(part.dim_param());
    if (part.num_shards() < 1 || blocks < 0)
      return fail(placement)
             << "splits axis " << proto.axis() << " into " << part.num_shards()
             << " shards of " << blocks << " blocks";
    isKnown &= blocks > 0;
    if (blocks > 0 && product > size / blocks)
      product = size + 1; // too large, and so is all that follows
    else
      product *= std::max<int64_t>(blocks, 1);
    dim.parts.push_back({blocks, part.num_shards()});
  }
  bool divides = product <= size && size % product == 0;
  bool isOne = dim.parts.size() == 1;
  if (isKnown && !(isOne ? divides : product == size))
    return fail(placement) << "divides axis " << proto.axis()
                           << " into blocks that do not make up its size "
                           << size;
  if (!isKnown && !isOne)
    return fail(placement) << "gives no sizes for the parts of axis "
                           << proto.axis();
  return success();
}

//===-- Devices -----------------------------------------------------------===//

LogicalResult Reader::readGroups(const onnx::ShardingSpecProto &spec,
                                 const Placement &placement, Devices &groups) {
  for (const onnx::IntIntListEntryProto &entry :
       spec.index_to_device_group_map()) {
    auto [group, isNew] = groups.try_emplace(
        entry.key(),
        std::vector<int64_t>(entry.value().begin(), entry.value().end()));
    if (!isNew)
      return fail(placement)
             << "describes device group " << entry.key() << " twice";
    if (group->second.empty())
      return fail(placement) << "has no device in group " << entry.key();
  }
  return success();
}

/// A list of devices without splits holds copies of the whole tensor.
LogicalResult Reader::readDevices(const onnx::ShardingSpecProto &spec,
                                  int64_t devices, Placement &placement) {
  Devices groups;
  if (failed(readGroups(spec, placement, groups)))
    return failure();
  llvm::SmallSet<int64_t, 16> seen;
  for (int64_t key : spec.device()) {
    auto group = groups.find(key);
    std::vector<int64_t> shard =
        group == groups.end() ? std::vector<int64_t>{key} : group->second;
    for (int64_t device : shard) {
      if (device < 0 || device >= devices)
        return fail(placement)
               << "names device " << device << ", but the configuration has "
               << devices << (devices == 1 ? " device" : " devices")
               << ", numbered from 0";
      if (!seen.insert(device).second)
        return fail(placement) << "gives device " << device << " two shards";
    }
    placement.devices.push_back(std::move(shard));
  }
  int64_t shards = placement.getShards();
  if (shards == 1 && placement.devices.size() > 1) {
    std::vector<int64_t> &whole = placement.devices.front();
    for (const std::vector<int64_t> &more : llvm::drop_begin(placement.devices))
      llvm::append_range(whole, more);
    placement.devices.resize(1);
  }
  if (int64_t(placement.devices.size()) != shards)
    return fail(placement) << "makes " << shards << " shards, but lists "
                           << placement.devices.size()
                           << " devices or groups for them";
  for (std::vector<int64_t> &shard : placement.devices)
    llvm::sort(shard);
  return success();
}

LogicalResult cleave::importAnnotations(ModuleOp module,
                                        const LoadedModel &model,
                                        const ImportOptions &options,
                                        const DimSizes &sizes,
                                        ShapeLookup lookup) {
  Reader reader(module.getContext(), model, sizes, lookup);
  if (failed(reader.readConfigurations()) ||
      failed(reader.selectConfiguration(options.configuration)) ||
      failed(reader.readNodes()))
    return failure();
  setAnnotations(module, reader.take());
  return success();
}
