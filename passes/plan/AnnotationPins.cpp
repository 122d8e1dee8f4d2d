//===- AnnotationPins.cpp - from devices and shards to axes and pins ------===//

#include "passes/plan/AnnotationPins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- Choice of a configuration -----------------------------------------===//

static std::string list(ArrayRef<Annotations> all) {
  std::string text;
  for (const Annotations &annotations : all)
    text += (text.empty() ? "'" : ", '") + annotations.configuration + "' (" +
            std::to_string(annotations.devices) +
            (annotations.devices == 1 ? " device)" : " devices)");
  return text;
}

/// How many ranks will run; 0 if nobody says: sizes of 1 alone do not.
static int64_t getSaidRanks(const PlanOptions &options,
                            const std::optional<Cluster> &cluster) {
  if (options.ranks)
    return options.ranks;
  if (cluster)
    return cluster->getRankCount();
  auto orOne = [](int64_t size) { return std::max<int64_t>(size, 1); };
  int64_t ranks = orOne(options.dp) * orOne(options.tp) * orOne(options.pp);
  bool isFixed = options.dp && options.tp && options.pp;
  return ranks > 1 || isFixed ? ranks : 0;
}

FailureOr<std::optional<Annotations>>
cleave::plan::chooseAnnotations(ModuleOp module, const PlanOptions &options,
                                const std::optional<Cluster> &cluster) {
  FailureOr<std::vector<Annotations>> all = getAnnotations(module);
  if (failed(all))
    return failure();
  const std::string &name = options.configuration;
  if (!name.empty())
    llvm::erase_if(*all, [&](const Annotations &annotations) {
      return annotations.configuration != name;
    });
  if (!name.empty() && all->empty())
    return module.emitError()
           << "there are no annotations for configuration '" << name << "'";
  if (all->empty() || !options.planFile.empty())
    return std::optional<Annotations>();
  int64_t ranks = getSaidRanks(options, cluster);
  std::vector<Annotations> fitting;
  for (const Annotations &annotations : *all)
    if (ranks == 0 || annotations.devices == ranks)
      fitting.push_back(annotations);
  if (fitting.size() == 1)
    return std::optional(std::move(fitting.front()));
  if (fitting.size() > 1)
    return module.emitError()
           << "the model is annotated for several configurations: "
           << list(fitting)
           << "; choose one with --configuration, or none with "
              "--ignore-annotations";
  if (!name.empty())
    return module.emitError()
           << "configuration " << list(*all)
           << " is for another number of ranks: there are " << ranks;
  mlir::emitWarning(module.getLoc())
      << "the model's annotations are not used: they are for " << list(*all)
      << ", the plan has " << ranks << (ranks == 1 ? " rank" : " ranks");
  return std::optional<Annotations>();
}

//===-- Names -------------------------------------------------------------===//

/// Whether a tensor of the graph is the model's tensor of this name.
static bool isNamed(const Tensor &tensor, StringRef name) {
  if (tensor.kind != Tensor::Value)
    return tensor.givenName == name;
  Location loc = tensor.value.getLoc();
  return llvm::is_contained(getTensorNames(loc), name);
}

/// An op that became several has left its name on all of them: the last is the
/// one that others read.
std::optional<size_t> cleave::plan::findTensor(const Graph &graph,
                                               StringRef name,
                                               ArrayRef<int64_t> shape) {
  std::optional<size_t> found;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors))
    if (isNamed(tensor, name) &&
        groupDims(shape, tensor.type.getShape()).size() == shape.size())
      found = i;
  return found;
}

static SmallVector<size_t> findNodes(const Graph &graph, StringRef name) {
  SmallVector<size_t> found;
  for (auto [i, node] : llvm::enumerate(graph.nodes))
    if (llvm::is_contained(node.givenNames, name))
      found.push_back(i);
  return found;
}

/// Exporters number stages from 0 or from 1.
static void resolveStages(const Graph &graph, const Annotations &annotations,
                          ResolvedAnnotations &resolved) {
  if (annotations.stages.empty())
    return;
  auto [least, most] = std::minmax_element(
      annotations.stages.begin(), annotations.stages.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  resolved.stageCount = most->second - least->second + 1;
  for (const auto &[name, stage] : annotations.stages)
    for (size_t node : findNodes(graph, name))
      if (!graph.nodes[node].isSource())
        resolved.stages.push_back({node, stage - least->second});
}

static void warnOfMissing(const Graph &graph, const Annotations &annotations,
                          ArrayRef<std::string> missing) {
  constexpr size_t kMostNames = 4;
  if (missing.empty())
    return;
  mlir::emitWarning(graph.module.getLoc())
      << "annotations of configuration '" << annotations.configuration
      << "' for " << missing.size()
      << (missing.size() == 1 ? " tensor bind" : " tensors bind")
      << " nothing, as the program computes them inside of other operations: "
      << llvm::join(missing.take_front(kMostNames), ", ")
      << (missing.size() > kMostNames ? ", ..." : "");
}

FailureOr<ResolvedAnnotations>
cleave::plan::resolveAnnotations(const Graph &graph, Annotations annotations) {
  ResolvedAnnotations resolved;
  resolved.configuration = annotations.configuration;
  resolveStages(graph, annotations, resolved);
  std::vector<std::string> missing;
  for (Placement &placement : annotations.placements) {
    std::optional<size_t> tensor =
        findTensor(graph, placement.tensor, placement.shape);
    if (!tensor) {
      std::string quoted = "'" + placement.tensor + "'";
      if (!llvm::is_contained(missing, quoted))
        missing.push_back(quoted);
      continue;
    }
    SmallVector<size_t> nodes = findNodes(graph, placement.node);
    llvm::erase_if(nodes, [&](size_t node) {
      return graph.nodes[node].isSource() ||
             !llvm::is_contained(placement.isOutput
                                     ? graph.nodes[node].results
                                     : graph.nodes[node].operands,
                                 *tensor);
    });
    resolved.placements.push_back(
        {std::move(placement), *tensor, std::move(nodes)});
  }
  warnOfMissing(graph, annotations, missing);
  return resolved;
}

//===-- Axes of a placement -----------------------------------------------===//

namespace {

/// A part of a dim that is split: outer blocks before it, its own, elements in
/// each.
struct Split {
  int64_t dim, shards;
  int64_t outer, blocks; ///< blocks 0: not said
};

/// Where the ranks of a stage are along its axes.
class StageRanks {
public:
  explicit StageRanks(ArrayRef<PlanAxis> axes) : axes(axes) {
    for (const PlanAxis &axis : axes)
      count *= axis.ranks;
  }

  int64_t getCount() const { return count; }
  /// Index along axis `index` of the rank at `position` of a stage.
  int64_t getIndex(int64_t position, size_t index) const {
    for (size_t i = axes.size() - 1; i > index; --i)
      position /= axes[i].ranks;
    return position % axes[index].ranks;
  }

private:
  ArrayRef<PlanAxis> axes;
  int64_t count = 1;
};

} // namespace

static SmallVector<Split> getSplits(const Placement &placement) {
  SmallVector<Split> splits;
  for (const ShardedDim &dim : placement.dims) {
    int64_t outer = 1;
    for (const ShardedPart &part : dim.parts) {
      if (part.shards > 1)
        splits.push_back({dim.dim, part.shards, outer, part.blocks});
      outer *= std::max<int64_t>(part.blocks, 1);
    }
  }
  return splits;
}

/// Whether every rank of the stage holds the shard that the axes give it, if
/// axis i splits splits[choice[i]] (-1: none).
static bool isKept(const Placement &placement, ArrayRef<Split> splits,
                   ArrayRef<int64_t> choice, const StageRanks &ranks,
                   ArrayRef<PlanAxis> axes, int64_t first) {
  std::vector<std::vector<int64_t>> expected(placement.devices.size());
  for (int64_t position = 0; position < ranks.getCount(); ++position) {
    int64_t shard = 0;
    for (auto [s, split] : llvm::enumerate(splits)) {
      int64_t index = 0, parts = 1;
      for (auto [a, axis] : llvm::enumerate(axes))
        if (choice[a] == static_cast<int64_t>(s)) {
          index = index * axis.ranks + ranks.getIndex(position, a);
          parts *= axis.ranks;
        }
      if (parts != split.shards)
        return false;
      shard = shard * split.shards + index;
    }
    expected[shard].push_back(first + position);
  }
  return expected == placement.devices;
}

/// What each axis splits; none if no choice keeps the placement.
static std::optional<SmallVector<int64_t>> findAxes(const Placement &placement,
                                                    ArrayRef<Split> splits,
                                                    ArrayRef<PlanAxis> axes,
                                                    int64_t first) {
  StageRanks ranks(axes);
  int64_t base = splits.size() + 1, choices = 1;
  for (size_t i = 0; i < axes.size(); ++i)
    choices *= base;
  for (int64_t number = 0; number < choices; ++number) {
    SmallVector<int64_t> choice;
    int64_t rest = number;
    bool isIdle = false; // an axis of one rank splits nothing
    for (const PlanAxis &axis : axes) {
      choice.push_back(rest % base - 1);
      rest /= base;
      isIdle |= axis.ranks == 1 && choice.back() >= 0;
    }
    if (!isIdle && isKept(placement, splits, choice, ranks, axes, first))
      return choice;
  }
  return std::nullopt;
}

//===-- Pins of a placement -----------------------------------------------===//

namespace {

/// A placement, and what it means on each axis.
struct PlacedPins {
  const ResolvedPlacement *resolved;
  AxisPins pins;
};

class Pinner {
public:
  Pinner(Pins &pins, const Graph &graph, int64_t stages,
         ArrayRef<PlanAxis> axes)
      : pins(pins), graph(graph), stages(stages), axes(axes),
        ranks(StageRanks(axes).getCount()) {}

  LogicalResult pinStages(const ResolvedAnnotations &annotations);
  LogicalResult pin(const ResolvedAnnotations &annotations);

private:
  std::string describe(const Placement &placement) const {
    return "annotation of tensor '" + placement.tensor + "' at node '" +
           placement.node + "'";
  }
  InFlightDiagnostic fail(const ResolvedPlacement &resolved) const;
  LogicalResult pinDevices(const ResolvedPlacement &resolved);
  LogicalResult pinMade(ArrayRef<PlacedPins> placed);
  LogicalResult pinReaders(ArrayRef<PlacedPins> placed);
  FailureOr<AxisPins> getPins(const ResolvedPlacement &resolved) const;
  LogicalResult setDims(StatePin &pin, const Split &split,
                        const ResolvedPlacement &resolved) const;
  LogicalResult add(AxisPins &to, size_t tensor, const AxisPins &from);
  bool isConstant(size_t tensor) const;

  Pins &pins;
  const Graph &graph;
  int64_t stages;
  ArrayRef<PlanAxis> axes;
  int64_t ranks; ///< of a stage
};

} // namespace

InFlightDiagnostic Pinner::fail(const ResolvedPlacement &resolved) const {
  Location loc = resolved.nodes.empty()
                     ? graph.module.getLoc()
                     : graph.nodes[resolved.nodes.front()].op->getLoc();
  return mlir::emitError(loc) << describe(resolved.placement) << " ";
}

LogicalResult Pinner::pinStages(const ResolvedAnnotations &annotations) {
  if (annotations.stageCount != 0 && annotations.stageCount != stages)
    return graph.module.emitError()
           << "--pp " << stages << ": configuration '"
           << annotations.configuration << "' has " << annotations.stageCount
           << (annotations.stageCount == 1 ? " stage" : " stages");
  for (const auto &[node, stage] : annotations.stages)
    if (failed(pinStage(pins, graph, node, stage, stages,
                        "annotation of node '" +
                            graph.nodes[node].givenNames.front() + "'")))
      return failure();
  return success();
}

/// All devices are of one stage, which is the node's.
LogicalResult Pinner::pinDevices(const ResolvedPlacement &resolved) {
  const Placement &placement = resolved.placement;
  int64_t stage = placement.devices.front().front() / ranks;
  for (const std::vector<int64_t> &shard : placement.devices)
    for (int64_t device : shard)
      if (device / ranks != stage || stage >= stages)
        return fail(resolved)
               << "has devices of several stages: of this plan each has "
               << ranks << (ranks == 1 ? " rank" : " ranks");
  if (stages == 1)
    return success();
  for (size_t node : resolved.nodes)
    if (failed(pinStage(pins, graph, node, stage, stages, describe(placement))))
      return failure();
  return success();
}

/// The dims of the tensor as the program has it, which may be unflattened.
LogicalResult Pinner::setDims(StatePin &pin, const Split &split,
                              const ResolvedPlacement &resolved) const {
  const Tensor &tensor = graph.tensors[resolved.tensor];
  ArrayRef<int64_t> view = tensor.type.getShape();
  const Placement &placement = resolved.placement;
  int64_t outer = 1, size = placement.shape[split.dim];
  int64_t elements =
      split.blocks ? size / (split.outer * split.blocks) : 1; // in a block
  auto groups = groupDims(placement.shape, view);
  for (int64_t dim : groups[split.dim]) {
    int64_t inner = size == 0 ? 1 : size / (outer * view[dim]);
    bool isSame = split.blocks && outer == split.outer && elements >= inner &&
                  elements % inner == 0 &&
                  view[dim] % (elements / inner) == 0 &&
                  view[dim] / (elements / inner) == split.blocks;
    if (!split.blocks || isSame)
      pin.dims.push_back(dim);
    if (isSame)
      pin.block = elements / inner;
    outer *= view[dim];
  }
  if (pin.dims.empty())
    return fail(resolved) << "splits axis " << split.dim << " into "
                          << split.blocks << " blocks, but the program has '"
                          << tensor.name << "' as " << tensor.type;
  return success();
}

FailureOr<AxisPins> Pinner::getPins(const ResolvedPlacement &resolved) const {
  const Placement &placement = resolved.placement;
  SmallVector<Split> splits = getSplits(placement);
  int64_t first = placement.devices.front().front() / ranks * ranks;
  auto choice = findAxes(placement, splits, axes, first);
  if (!choice) {
    std::string sizes;
    for (const PlanAxis &axis : axes)
      sizes += (sizes.empty() ? "" : " x ") + std::to_string(axis.ranks);
    return fail(resolved) << "gives its devices shards that no axis of "
                          << sizes
                          << " ranks gives (dp x tp, a rank is d * tp + t)";
  }
  AxisPins own;
  for (auto [axis, split] : llvm::zip(axes, *choice)) {
    if (axis.ranks == 1)
      continue;
    StatePin &pin = own[axis.name];
    pin.source = describe(placement);
    if (split >= 0 && failed(setDims(pin, splits[split], resolved)))
      return failure();
  }
  return own;
}

LogicalResult Pinner::add(AxisPins &to, size_t tensor, const AxisPins &from) {
  for (const auto &[axis, pin] : from)
    if (failed(addPin(to, graph, tensor, axis, pin)))
      return failure();
  return success();
}

/// Each rank has all of a constant, and takes the part that it needs.
bool Pinner::isConstant(size_t tensor) const {
  return llvm::any_of(graph.nodes, [&](const Node &node) {
    return node.isSource() && llvm::is_contained(node.results, tensor);
  });
}

static bool isSame(const AxisPins &a, const AxisPins &b) {
  return llvm::equal(a, b, [](const auto &x, const auto &y) {
    return x.first == y.first && x.second.dims == y.second.dims &&
           x.second.block == y.second.block;
  });
}

/// Where tensors are made: outputs of nodes, and of inputs and parameters what
/// all their readers say.
LogicalResult Pinner::pinMade(ArrayRef<PlacedPins> placed) {
  std::map<size_t, const AxisPins *> stored; // null: readers do not agree
  for (const auto &[resolved, own] : placed) {
    size_t tensor = resolved->tensor;
    bool isValue = graph.tensors[tensor].kind == Tensor::Value;
    if (resolved->placement.isOutput) {
      if (!isConstant(tensor) && failed(add(pins.states[tensor], tensor, own)))
        return failure();
    } else if (!isValue) {
      auto [first, isNew] = stored.try_emplace(tensor, &own);
      if (!isNew && first->second && !isSame(*first->second, own))
        first->second = nullptr;
    }
  }
  for (const auto &[tensor, own] : stored)
    if (own && failed(add(pins.states[tensor], tensor, *own)))
      return failure();
  return success();
}

/// What nodes need in another form than it is made in.
LogicalResult Pinner::pinReaders(ArrayRef<PlacedPins> placed) {
  for (const auto &[resolved, own] : placed) {
    size_t tensor = resolved->tensor;
    auto made = pins.states.find(tensor);
    bool isAsMade = made != pins.states.end() && isSame(made->second, own);
    if (resolved->placement.isOutput || isAsMade)
      continue;
    for (size_t node : resolved->nodes)
      if (failed(add(pins.uses[{node, tensor}], tensor, own)))
        return failure();
  }
  return success();
}

LogicalResult Pinner::pin(const ResolvedAnnotations &annotations) {
  std::vector<PlacedPins> placed;
  for (const ResolvedPlacement &resolved : annotations.placements) {
    FailureOr<AxisPins> own = failure();
    if (failed(pinDevices(resolved)) || failed(own = getPins(resolved)))
      return failure();
    placed.push_back({&resolved, std::move(*own)});
  }
  return failure(failed(pinMade(placed)) || failed(pinReaders(placed)));
}

LogicalResult
cleave::plan::pinAnnotations(Pins &pins, const Graph &graph,
                             const ResolvedAnnotations &annotations,
                             int64_t stages, ArrayRef<PlanAxis> axes) {
  Pinner pinner(pins, graph, stages, axes);
  return failure(failed(pinner.pinStages(annotations)) ||
                 failed(pinner.pin(annotations)));
}
