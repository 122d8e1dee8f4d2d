//===- Pins.cpp - patterns and layouts as pins ----------------------------===//
//
// A parameter may be seen under another shape than the user's ([384, 1152] as
// [384, 3, 6, 64]); a pattern may speak of either. Of the user's shape, dim 1
// is the group of view dims 3, 6, 64, and "tp" there may split any of them:
// which one is left to the search.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Pins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- Text --------------------------------------------------------------===//

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// "dp+tp:64" or "-".
static llvm::Expected<DimText> parseDim(StringRef text) {
  DimText dim;
  if (text == "-")
    return dim;
  auto [names, block] = text.split(':');
  if (text.contains(':') &&
      (block.getAsInteger(10, dim.block) || dim.block < 1))
    return makeError("block '" + block + "' is not a positive integer");
  for (StringRef name : llvm::split(names, '+')) {
    if (name.empty())
      return makeError("found '" + text +
                       "' for a dim, expected an axis, axes joined by +, or -");
    dim.axes.push_back(name.str());
  }
  return dim;
}

llvm::Expected<LayoutText> cleave::plan::parseLayout(StringRef text) {
  LayoutText layout;
  auto [dims, partial] = text.split(';');
  if (!dims.empty())
    for (StringRef part : llvm::split(dims, ',')) {
      llvm::Expected<DimText> dim = parseDim(part.trim());
      if (!dim)
        return dim.takeError();
      layout.dims.push_back(*dim);
    }
  if (!text.contains(';'))
    return layout;
  auto [kindText, axes] = partial.split(" over ");
  std::optional<ReduceKind> kind = symbolizeReduceKind(kindText.trim());
  if (!kind || axes.trim().empty())
    return makeError("found ';" + partial + "', expected '; sum over AXIS'");
  layout.partialKind = *kind;
  for (StringRef axis : llvm::split(axes.trim(), '+'))
    layout.partialAxes.push_back(axis.str());
  return layout;
}

static std::string joinAxes(ArrayRef<StringAttr> axes) {
  return llvm::join(llvm::map_range(axes, [](StringAttr a) { return a.str(); }),
                    "+");
}

std::string cleave::plan::printLayout(ShardingAttr sharding) {
  std::string text;
  for (auto [i, dim] : llvm::enumerate(sharding.getDims())) {
    text += i ? "," : "";
    text += dim.getAxes().empty() ? "-" : joinAxes(dim.getAxes());
    if (dim.getBlock() != 1)
      text += ":" + std::to_string(dim.getBlock());
  }
  if (sharding.isPartial())
    text += ("; " + stringifyReduceKind(sharding.getPartialKind()) + " over ")
                .str() +
            joinAxes(sharding.getPartialAxes());
  return text;
}

bool cleave::plan::matchesGlob(StringRef pattern, StringRef text) {
  size_t p = 0, t = 0, star = StringRef::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != StringRef::npos) { // let the last * take one more
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

//===-- Pins --------------------------------------------------------------===//

SmallVector<std::string> PlanAxis::getMeshAxes() const {
  SmallVector<std::string> axes;
  if (microBatches > 1)
    axes.push_back(MeshAttr::MicroBatchAxis.str());
  if (ranks > 1)
    axes.push_back(name);
  return axes;
}

bool PlanAxis::isNamed(StringRef axis) const {
  return axis == name || (microBatches > 1 && axis == MeshAttr::MicroBatchAxis);
}

bool StatePin::allows(const AxisState &state, ArrayRef<int64_t> shape,
                      int64_t parts) const {
  switch (state.kind) {
  case AxisState::Split:
    return llvm::is_contained(dims, state.dim) &&
           (block == 0 || getChunk(shape[state.dim], block, parts) ==
                              getChunk(shape[state.dim], state.block, parts));
  case AxisState::Partial:
    return dims.empty() && (!isExact || partial == state.reduction);
  case AxisState::Replicated:
    return dims.empty() && !(isExact && partial);
  }
  llvm_unreachable("unknown state");
}

const StatePin *Pins::find(size_t tensor, StringRef axis) const {
  auto it = states.find(tensor);
  if (it == states.end())
    return nullptr;
  auto pin = it->second.find(axis.str());
  return pin == it->second.end() ? nullptr : &pin->second;
}

const StatePin *Pins::findUse(size_t node, size_t tensor,
                              StringRef axis) const {
  auto it = uses.find({node, tensor});
  if (it == uses.end())
    return nullptr;
  auto pin = it->second.find(axis.str());
  return pin == it->second.end() ? nullptr : &pin->second;
}

SmallVector<SmallVector<int64_t>>
cleave::plan::groupDims(ArrayRef<int64_t> trueShape, ArrayRef<int64_t> view) {
  SmallVector<SmallVector<int64_t>> groups(trueShape.size());
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(trueShape)) {
    int64_t product = 1;
    while (next < view.size() && (product < size || view[next] == 1)) {
      product *= view[next];
      groups[dim].push_back(next++);
    }
    if (product != size)
      return {};
  }
  return groups;
}

/// View dims that each dim of a layout speaks of; empty if the layout has
/// another number of dims than the tensor.
static SmallVector<SmallVector<int64_t>> getLayoutDims(const Tensor &tensor,
                                                       size_t count) {
  SmallVector<SmallVector<int64_t>> own;
  for (int64_t dim = 0; dim < tensor.type.getRank(); ++dim)
    own.push_back({dim});
  if (own.size() == count)
    return own;
  if (tensor.kind == Tensor::Param && tensor.trueShape.size() == count)
    return groupDims(tensor.trueShape, tensor.type.getShape());
  return {};
}

static StringRef getKindName(const Tensor &tensor) {
  switch (tensor.kind) {
  case Tensor::Input:
    return "input";
  case Tensor::Param:
    return "param";
  case Tensor::Value:
    return "value";
  }
  llvm_unreachable("unknown kind");
}

static Location getLoc(const Graph &graph, const Tensor &tensor) {
  if (tensor.kind == Tensor::Param)
    return tensor.param.getLoc();
  return tensor.kind == Tensor::Value ? tensor.value.getLoc()
                                      : graph.main.getLoc();
}

/// Axes of the layout must exist and be used once.
static LogicalResult verifyAxes(const Graph &graph, const LayoutText &layout,
                                ArrayRef<PlanAxis> axes, StringRef source) {
  std::vector<std::string> used(layout.partialAxes);
  for (const DimText &dim : layout.dims)
    llvm::append_range(used, dim.axes);
  for (size_t i = 0; i < used.size(); ++i) {
    auto isKnown = [&](const PlanAxis &axis) { return axis.isNamed(used[i]); };
    auto names =
        llvm::map_range(axes, [](const PlanAxis &axis) { return axis.name; });
    if (llvm::none_of(axes, isKnown))
      return mlir::emitError(graph.module.getLoc())
             << source << " names axis '" << used[i] << "', expected one of "
             << llvm::join(names, ", ");
    if (llvm::is_contained(ArrayRef(used).take_front(i), used[i]))
      return mlir::emitError(graph.module.getLoc())
             << source << " uses axis '" << used[i] << "' twice";
  }
  return success();
}

/// What both pins allow; none if they contradict each other.
static std::optional<StatePin> intersect(const StatePin &a, const StatePin &b) {
  StatePin both = a.isExact ? a : b;
  both.dims.clear();
  llvm::copy_if(a.dims, std::back_inserter(both.dims),
                [&](int64_t dim) { return llvm::is_contained(b.dims, dim); });
  both.block = a.block ? a.block : b.block;
  bool isSplit = !both.dims.empty();
  if (isSplit == a.dims.empty() || isSplit == b.dims.empty() ||
      (b.block && b.block != both.block))
    return std::nullopt;
  return both;
}

LogicalResult cleave::plan::addPin(AxisPins &pins, const Graph &graph,
                                   size_t index, StringRef axis,
                                   const StatePin &pin) {
  const Tensor &tensor = graph.tensors[index];
  auto [it, isNew] = pins.try_emplace(axis.str(), pin);
  if (isNew)
    return success();
  std::optional<StatePin> both = intersect(it->second, pin);
  if (!both)
    return mlir::emitError(getLoc(graph, tensor))
           << pin.source << " and " << it->second.source
           << " contradict each other on " << getKindName(tensor) << " '"
           << tensor.name << "'";
  it->second = std::move(*both);
  return success();
}

LogicalResult cleave::plan::pinTensor(Pins &pins, const Graph &graph,
                                      size_t index, const LayoutText &layout,
                                      ArrayRef<PlanAxis> axes, StringRef source,
                                      bool isExact) {
  const Tensor &tensor = graph.tensors[index];
  if (failed(verifyAxes(graph, layout, axes, source)))
    return failure();
  auto groups = getLayoutDims(tensor, layout.dims.size());
  if (groups.empty() && tensor.type.getRank() != 0)
    return mlir::emitError(getLoc(graph, tensor))
           << source << " has " << layout.dims.size() << " dims, but "
           << getKindName(tensor) << " '" << tensor.name << "' is "
           << tensor.type;
  for (const PlanAxis &axis : axes) {
    StatePin pin;
    pin.source = source.str();
    pin.isExact = isExact;
    auto isNamed = [&](const std::string &name) { return axis.isNamed(name); };
    for (auto [dim, dims] : llvm::zip(layout.dims, groups))
      if (llvm::any_of(dim.axes, isNamed)) {
        pin.dims = dims;
        pin.block = dim.block ? dim.block : isExact ? 1 : 0;
      }
    if (llvm::any_of(layout.partialAxes, isNamed))
      pin.partial = layout.partialKind;
    if (failed(addPin(pins.states[index], graph, index, axis.name, pin)))
      return failure();
  }
  return success();
}

LogicalResult cleave::plan::pinStage(Pins &pins, const Graph &graph,
                                     size_t node, int64_t stage, int64_t stages,
                                     StringRef source) {
  if (stage < 0 || stage >= stages)
    return mlir::emitError(graph.module.getLoc())
           << source << " names stage " << stage << ", but the plan has "
           << stages << (stages == 1 ? " stage" : " stages, numbered from 0");
  auto [it, isNew] = pins.stages.try_emplace(node, stage);
  if (!isNew && it->second != stage)
    return graph.nodes[node].op->emitError()
           << source << " puts node '" << graph.nodes[node].name
           << "' in stage " << stage << ", another pin puts it in stage "
           << it->second;
  return success();
}

//===-- Patterns ----------------------------------------------------------===//

static LogicalResult readShard(Pins &pins, const Graph &graph,
                               StringRef pattern, ArrayRef<PlanAxis> axes) {
  std::string source = ("shard pattern '" + pattern + "'").str();
  auto [glob, text] = pattern.rsplit('=');
  auto fail = [&] { return mlir::emitError(graph.module.getLoc()) << source; };
  llvm::Expected<LayoutText> layout = parseLayout(text);
  if (!layout)
    return fail() << ": " << llvm::toString(layout.takeError());
  if (!pattern.contains('=') || text.empty())
    return fail() << " must be GLOB=DIMS, as 'w*=-,tp'";
  size_t fitting = 0;
  const Tensor *other = nullptr;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors)) {
    if (!matchesGlob(glob, tensor.name) && !matchesGlob(glob, tensor.givenName))
      continue;
    if (getLayoutDims(tensor, layout->dims.size()).empty()) {
      other = &tensor;
      continue;
    }
    ++fitting;
    if (failed(pinTensor(pins, graph, i, *layout, axes, source, false)))
      return failure();
  }
  if (fitting)
    return success();
  if (other)
    return fail() << " has " << layout->dims.size()
                  << " dims, but what it names has not: '" << other->name
                  << "' is " << other->type;
  return fail() << " fits no input, parameter or value of the model";
}

static LogicalResult readStage(Pins &pins, const Graph &graph,
                               StringRef pattern, int64_t stages) {
  std::string source = ("stage pattern '" + pattern + "'").str();
  auto [glob, text] = pattern.rsplit('=');
  int64_t stage;
  if (text.getAsInteger(10, stage))
    return mlir::emitError(graph.module.getLoc())
           << source << " must be NODE-GLOB=STAGE, as 'layer.3.*=1'";
  bool fits = false;
  for (auto [i, node] : llvm::enumerate(graph.nodes)) {
    auto matches = [&](const std::string &name) {
      return matchesGlob(glob, name);
    };
    if (!matches(node.name) && llvm::none_of(node.givenNames, matches))
      continue;
    fits = true;
    if (failed(pinStage(pins, graph, i, stage, stages, source)))
      return failure();
  }
  if (!fits)
    return mlir::emitError(graph.module.getLoc())
           << source << " fits no node of the model";
  return success();
}

LogicalResult cleave::plan::readPatterns(Pins &pins, const Graph &graph,
                                         const PlanOptions &options,
                                         int64_t stages,
                                         ArrayRef<PlanAxis> axes) {
  for (const std::string &pattern : options.shards)
    if (failed(readShard(pins, graph, pattern, axes)))
      return failure();
  for (const std::string &pattern : options.stages)
    if (failed(readStage(pins, graph, pattern, stages)))
      return failure();
  return success();
}
