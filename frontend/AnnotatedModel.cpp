//===- AnnotatedModel.cpp - writes ONNX's sharding annotations ------------===//

#include "frontend/Annotations.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace cleave;
using namespace mlir;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The first version with annotations.
static constexpr int64_t kAnnotatedIrVersion = 11;

//===-- Fields ------------------------------------------------------------===//

template <typename List, typename Fn>
static void dropIf(List &list, Fn isDropped) {
  for (int i = list.size() - 1; i >= 0; --i)
    if (isDropped(list.Get(i)))
      list.DeleteSubrange(i, 1);
}

/// A shard that several devices hold is a group, numbered from -1 downwards.
static void setDevices(onnx::ShardingSpecProto &spec,
                       const Placement &placement) {
  int64_t key = 0;
  for (const std::vector<int64_t> &shard : placement.devices) {
    if (shard.size() == 1) {
      spec.add_device(shard.front());
      continue;
    }
    spec.add_device(--key);
    onnx::IntIntListEntryProto *group = spec.add_index_to_device_group_map();
    group->set_key(key);
    for (int64_t device : shard)
      group->add_value(device);
  }
}

static void setSpec(onnx::ShardingSpecProto &spec, const Placement &placement) {
  spec.set_tensor_name(placement.tensor);
  setDevices(spec, placement);
  for (const ShardedDim &dim : placement.dims) {
    onnx::ShardedDimProto *proto = spec.add_sharded_dim();
    proto->set_axis(dim.dim);
    for (const ShardedPart &part : dim.parts) {
      onnx::SimpleShardedDimProto *simple = proto->add_simple_sharding();
      if (part.blocks)
        simple->set_dim_value(part.blocks);
      simple->set_num_shards(part.shards);
    }
  }
}

namespace {

/// Finds what a plan says of nodes and tensors.
class PlanIndex {
public:
  explicit PlanIndex(const Annotations &plan) : plan(plan) {
    for (const Placement &placement : plan.placements)
      placements[placement.tensor] = &placement;
    for (const auto &[node, stage] : plan.stages) {
      stages[node] = stage;
      count = std::max(count, stage + 1);
    }
  }

  std::optional<int64_t> findStage(StringRef node) const {
    auto it = stages.find(node);
    return it == stages.end() ? std::nullopt : std::optional(it->second);
  }

  /// Where a tensor is when `node` reads it, or makes it. What no node makes
  /// lies alike in each stage that reads it; of a node in several stages, and
  /// of what another node makes, nothing is said.
  std::optional<Placement> find(const std::string &tensor, StringRef node,
                                bool isOutput) const {
    auto it = placements.find(tensor);
    if (it == placements.end() || it->second->isOutput != isOutput)
      return std::nullopt;
    Placement placement = *it->second;
    placement.node = node;
    std::optional<int64_t> stage = findStage(node);
    if (isOutput || count == 1)
      return placement;
    if (!stage)
      return std::nullopt;
    int64_t ranks = plan.devices / count;
    int64_t own = placement.devices.front().front() / ranks;
    for (std::vector<int64_t> &shard : placement.devices)
      for (int64_t &device : shard)
        device += (*stage - own) * ranks;
    return placement;
  }

private:
  llvm::StringMap<const Placement *> placements;
  const Annotations &plan;
  llvm::StringMap<int64_t> stages;
  int64_t count = 1; ///< of stages
};

} // namespace

/// Adds the annotations of the nodes, in place of others of that name.
static void annotateNodes(onnx::GraphProto &graph, const Annotations &plan) {
  PlanIndex index(plan);
  NodeNames names(graph);
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    dropIf(*node.mutable_device_configurations(), [&](const auto &entry) {
      return entry.configuration_id() == plan.configuration;
    });
    std::string name = names.get(node);
    onnx::NodeDeviceConfigurationProto entry;
    entry.set_configuration_id(plan.configuration);
    std::optional<int64_t> stage = index.findStage(name);
    if (stage)
      entry.set_pipeline_stage(static_cast<int32_t>(*stage));
    llvm::StringSet<> seen;
    auto add = [&](const std::string &tensor, bool isOutput) {
      std::optional<Placement> placement = index.find(tensor, name, isOutput);
      if (placement && seen.insert(tensor).second)
        setSpec(*entry.add_sharding_spec(), *placement);
    };
    for (const std::string &input : node.input())
      add(input, false);
    for (const std::string &output : node.output())
      add(output, true);
    if (stage || entry.sharding_spec_size() > 0)
      *node.add_device_configurations() = std::move(entry);
  }
}

static void annotate(onnx::ModelProto &model, const Annotations &plan) {
  model.set_ir_version(std::max(model.ir_version(), kAnnotatedIrVersion));
  dropIf(*model.mutable_configuration(),
         [&](const auto &entry) { return entry.name() == plan.configuration; });
  onnx::DeviceConfigurationProto *configuration = model.add_configuration();
  configuration->set_name(plan.configuration);
  configuration->set_num_devices(static_cast<int32_t>(plan.devices));
  std::string key = getPlanKey(plan.configuration);
  dropIf(*model.mutable_metadata_props(),
         [&](const auto &entry) { return entry.key() == key; });
  onnx::StringStringEntryProto *rest = model.add_metadata_props();
  rest->set_key(key);
  rest->set_value(plan.plan);
  annotateNodes(*model.mutable_graph(), plan);
}

//===-- Files -------------------------------------------------------------===//

/// External data is looked for in the folder of the model.
static LogicalResult verifyFolder(Location loc, const onnx::ModelProto &model,
                                  StringRef from, StringRef to) {
  llvm::SmallString<256> source, target;
  StringRef folder = path::parent_path(to);
  (void)fs::real_path(path::parent_path(from), source);
  (void)fs::real_path(folder.empty() ? "." : folder, target);
  if (source == target)
    return success();
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
      return emitError(loc)
             << "the model's weights are files beside it (such as of '"
             << tensor.name() << "'): write the annotated model to '" << source
             << "'";
  return success();
}

FailureOr<std::string> cleave::annotateModel(MLIRContext *context,
                                             StringRef modelPath,
                                             StringRef output,
                                             const Annotations &plan) {
  Location loc = getFileLoc(context, modelPath);
  onnx::ModelProto model;
  if (failed(readWholeModel(loc, modelPath, model)) ||
      failed(verifyFolder(loc, model, modelPath, output)))
    return failure();
  annotate(model, plan);
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    return emitError(loc) << "the model with its annotations is larger than "
                             "2 GB: move its weights to external data";
  return bytes;
}
