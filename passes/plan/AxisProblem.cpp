//===- AxisProblem.cpp - variables, costs and edges of one axis -----------===//

#include "passes/plan/AxisProblem.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

/// Costs of the problem are microseconds.
static constexpr double kMicroseconds = 1e6;
/// Gathering the batch again is this many times as costly as it is: data
/// parallelism was asked for by number, so only an op that cannot be split may.
static constexpr double kBatchGatherPenalty = 1000;

namespace {
/// Price of weights, in reads of them from memory (see Objective).
struct WeightPrice {
  double whole;   ///< per byte of a weight that the axis leaves whole
  double perByte; ///< per byte that a rank holds
};
} // namespace

static WeightPrice getPrice(Objective objective) {
  constexpr double kTieBreak = 1e-3;
  switch (objective) {
  case Objective::Automatic: // the planner has settled it
  case Objective::Balanced:
    return {30, kTieBreak};
  case Objective::Time:
    return {0, kTieBreak};
  case Objective::Memory:
    return {0, 1e6};
  }
  llvm_unreachable("unknown objective");
}

AxisProblem::AxisProblem(const Graph &graph, const LocalGraph &local,
                         const CostModel &costs, const Pins &pins,
                         const AxisOptions &axis)
    : graph(graph), local(local), costs(costs), pins(pins), axis(axis),
      blocks(findBlocks(graph, pins, axis.name)), users(graph.getUsers()),
      isOutput(graph.tensors.size(), false), made(graph.tensors.size()) {
  for (size_t output : graph.outputs)
    isOutput[output] = true;
}

LogicalResult AxisProblem::build() {
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    if (graph.tensors[t].kind != Tensor::Value && failed(addStates(t)))
      return failure();
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (failed(addNode(n)))
      return failure();
  sources = made;
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    if (graph.tensors[t].kind != Tensor::Param && countConsumers(t) > 1)
      addPair(t);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    for (size_t user : users[t])
      addUse(t, user);
    if (isOutput[t])
      addOutput(t);
  }
  for (const Store &store : graph.stores)
    addStore(store);
  return success();
}

//===-- Variables ---------------------------------------------------------===//

size_t AxisProblem::countConsumers(size_t tensor) const {
  size_t stores = llvm::count_if(graph.stores, [&](const Store &store) {
    return store.value == tensor || store.param == tensor;
  });
  return users[tensor].size() + stores + isOutput[tensor];
}

double AxisProblem::getWeightCost(size_t tensor, const AxisState &state) const {
  if (graph.tensors[tensor].kind != Tensor::Param)
    return 0;
  WeightPrice price = getPrice(axis.objective);
  double reads =
      price.perByte * local.tensors[tensor].getBytes(state, axis.link.size);
  if (state.kind == AxisState::Replicated)
    reads += price.whole * local.tensors[tensor].getBytes();
  return kMicroseconds * reads / costs.getMemoryBandwidth();
}

/// Inputs and parameters: any state that their pin allows.
LogicalResult AxisProblem::addStates(size_t index) {
  const Tensor &tensor = graph.tensors[index];
  const StatePin *pin = pins.find(index, axis.name);
  auto isTaken = [&](int64_t dim) {
    bool isAsked = pin && llvm::is_contained(pin->dims, dim);
    return !isAsked && local.isSplit(index, dim);
  };
  SmallVector<AxisState> states = {AxisState::getReplicated()};
  if (pin || countConsumers(index) > 0)
    states =
        getStates(local.tensors[index], blocks[index], axis.link.size, isTaken);
  if (pin)
    llvm::erase_if(states, [&](const AxisState &state) {
      return !pin->allows(state, local.tensors[index].shape, axis.link.size);
    });
  if (states.empty()) {
    Location loc = tensor.kind == Tensor::Param ? tensor.param.getLoc()
                                                : graph.main.getLoc();
    return mlir::emitError(loc)
           << pin->source << ": '" << tensor.name << "' of type " << tensor.type
           << " cannot be laid over axis '" << axis.name << "' of size "
           << axis.link.size << " like this";
  }
  std::vector<double> unary;
  for (const AxisState &state : states) {
    unary.push_back(getWeightCost(index, state));
    made[index].forms.push_back({state, state});
  }
  made[index].variable = problem.addVariable(tensor.name, std::move(unary));
  return success();
}

/// The pin that a strategy of a node breaks; null if none.
const StatePin *AxisProblem::findBroken(size_t index,
                                        const Strategy &strategy) const {
  const Node &node = graph.nodes[index];
  auto breaks = [&](const StatePin *pin, size_t tensor,
                    const AxisState &state) {
    return pin &&
           !pin->allows(state, local.tensors[tensor].shape, axis.link.size);
  };
  for (auto [result, state] : llvm::zip(node.results, strategy.results))
    if (const StatePin *pin = pins.find(result, axis.name);
        breaks(pin, result, state))
      return pin;
  for (auto [operand, state] : llvm::zip(node.operands, strategy.operands))
    if (const StatePin *pin = pins.findUse(index, operand, axis.name);
        breaks(pin, operand, state))
      return pin;
  return nullptr;
}

/// Nodes: any strategy whose results and operands the pins allow.
LogicalResult AxisProblem::addNode(size_t index) {
  const Node &node = graph.nodes[index];
  int64_t parts = axis.link.size;
  std::vector<Strategy> all = getStrategies(graph, local, index, blocks, parts);
  const StatePin *bound = nullptr;
  llvm::erase_if(all, [&](const Strategy &strategy) {
    const StatePin *pin = findBroken(index, strategy);
    bound = pin ? pin : bound;
    return pin != nullptr;
  });
  if (all.empty()) {
    bool isMade = llvm::any_of(node.results, [&](size_t result) {
      return pins.find(result, axis.name) == bound;
    });
    return node.op->emitError()
           << bound->source << ": "
           << (isMade ? "the result of '" : "what is read by '") << node.name
           << "' cannot be laid over axis '" << axis.name << "' of size "
           << parts << " like this";
  }
  std::vector<double> unary;
  for (const Strategy &strategy : all) {
    Work work = getLocalWork(graph, local, index, strategy, parts);
    Type element = node.results.empty()
                       ? Type(Float32Type::get(node.op->getContext()))
                       : graph.tensors[node.results[0]].type.getElementType();
    unary.push_back(kMicroseconds * costs.getOpTime(work, element));
  }
  size_t variable = problem.addVariable(node.name, std::move(unary));
  nodeVariables.push_back(variable);
  for (auto [i, result] : llvm::enumerate(node.results)) {
    made[result].variable = variable;
    for (const Strategy &strategy : all)
      made[result].forms.push_back({strategy.results[i], strategy.results[i]});
  }
  strategies.push_back(std::move(all));
  return success();
}

/// States that any user could want of a tensor.
SmallVector<AxisState> AxisProblem::getWanted(size_t tensor) const {
  SmallVector<AxisState> wanted;
  auto add = [&](const AxisState &state) {
    if (state.kind != AxisState::Partial && !llvm::is_contained(wanted, state))
      wanted.push_back(state);
  };
  if (isOutput[tensor])
    add(AxisState::getReplicated());
  for (size_t user : users[tensor])
    for (const Strategy &strategy : strategies[user])
      llvm::for_each(getNeeds(user, tensor, strategy), add);
  for (const Store &store : graph.stores)
    if (store.value == tensor)
      for (const Forms &forms : made[store.param].forms)
        add(forms.made);
  return wanted;
}

/// A value of several users: what it is made as, and what it is converted to
/// once.
void AxisProblem::addPair(size_t tensor) {
  Source pair;
  std::vector<double> unary;
  auto add = [&](const AxisState &from, const AxisState &to, double cost) {
    pair.forms.push_back({from, to});
    unary.push_back(cost);
  };
  SmallVector<AxisState> wanted = getWanted(tensor), seen;
  for (const Forms &forms : made[tensor].forms) {
    const AxisState &from = forms.made;
    if (llvm::is_contained(seen, from))
      continue;
    seen.push_back(from);
    add(from, from, 0);
    // Slices of a whole value are no conversions worth sharing.
    if (from.kind == AxisState::Replicated)
      continue;
    for (const AxisState &to : wanted)
      if (to != from)
        add(from, to, getCost(tensor, from, to, false));
  }
  pair.variable = problem.addVariable("forms of " + graph.tensors[tensor].name,
                                      std::move(unary));
  addEdge(made[tensor], pair.variable, pair.forms.size(),
          [&](const Forms &forms, size_t value) {
            return forms.made == pair.forms[value].made ? 0 : kForbidden;
          });
  sources[tensor] = std::move(pair);
}

//===-- Edges -------------------------------------------------------------===//

bool AxisProblem::isPinned(size_t tensor) const {
  return pins.find(tensor, axis.name) != nullptr;
}

/// A parameter is stored as it is used: that it is gathered at each use is for
/// the user to ask. A value stays partial within its stage. What micro-batches
/// have parts of is summed as a whole: there is no scattering over time.
double AxisProblem::getCost(size_t tensor, const AxisState &from,
                            const AxisState &to, bool crossesStage) const {
  const LocalTensor &shape = local.tensors[tensor];
  if (to.kind == AxisState::Partial && crossesStage)
    return kForbidden;
  if (axis.microBatches > 1 && from.kind == AxisState::Partial &&
      to.kind == AxisState::Split)
    return kForbidden;
  if (isSameLayout(from, to, shape.shape, axis.link.size))
    return 0;
  bool isSplit = from.kind == AxisState::Split;
  if (graph.tensors[tensor].kind == Tensor::Param && isSplit &&
      !isPinned(tensor))
    return kForbidden;
  double penalty = axis.isBatch && isSplit ? kBatchGatherPenalty : 1;
  return kMicroseconds * penalty *
         costs.getConversionTime(from, to, shape, axis.link);
}

double AxisProblem::getCost(size_t tensor, const Forms &forms,
                            const AxisState &to, bool crossesStage) const {
  return std::min(getCost(tensor, forms.made, to, crossesStage),
                  getCost(tensor, forms.converted, to, crossesStage));
}

SmallVector<AxisState, 2>
AxisProblem::getNeeds(size_t node, size_t tensor,
                      const Strategy &strategy) const {
  SmallVector<AxisState, 2> needs;
  for (auto [operand, state] :
       llvm::zip(graph.nodes[node].operands, strategy.operands))
    if (operand == tensor && !llvm::is_contained(needs, state))
      needs.push_back(state);
  return needs;
}

void AxisProblem::addEdge(
    const Source &from, size_t to, size_t domain,
    llvm::function_ref<double(const Forms &, size_t)> cost) {
  std::vector<double> table;
  for (const Forms &forms : from.forms)
    for (size_t value = 0; value < domain; ++value)
      table.push_back(cost(forms, value));
  if (llvm::any_of(table, [](double entry) { return entry != 0; }))
    problem.addEdge(from.variable, to, std::move(table));
}

bool AxisProblem::crosses(size_t tensor, size_t node) const {
  return graph.tensors[tensor].kind == Tensor::Value &&
         graph.tensors[tensor].stage != graph.nodes[node].stage;
}

void AxisProblem::addUse(size_t tensor, size_t node) {
  bool crossing = crosses(tensor, node);
  addEdge(sources[tensor], nodeVariables[node], strategies[node].size(),
          [&](const Forms &forms, size_t value) {
            double cost = 0;
            for (const AxisState &need :
                 getNeeds(node, tensor, strategies[node][value]))
              cost += getCost(tensor, forms, need, crossing);
            return cost;
          });
}

/// What is stored takes the layout of its parameter.
void AxisProblem::addStore(const Store &store) {
  const Source &param = made[store.param];
  if (sources[store.value].variable == param.variable)
    return;
  addEdge(sources[store.value], param.variable, param.forms.size(),
          [&](const Forms &forms, size_t value) {
            return getCost(store.value, forms, param.forms[value].made, false);
          });
}

double AxisProblem::getOutputCost(size_t tensor, const Forms &forms) const {
  bool isSplit = forms.made.kind == AxisState::Split ||
                 forms.converted.kind == AxisState::Split;
  if (axis.isBatch && isSplit)
    return 0;
  return getCost(tensor, forms, AxisState::getReplicated(), false);
}

/// The model's outputs are wanted whole.
void AxisProblem::addOutput(size_t tensor) {
  const Source &source = sources[tensor];
  for (auto [value, forms] : llvm::enumerate(source.forms))
    problem.variables[source.variable].costs[value] +=
        getOutputCost(tensor, forms);
}

//===-- Reading the solution ----------------------------------------------===//

const Strategy &AxisProblem::getStrategy(size_t node,
                                         const Solution &solution) const {
  return strategies[node][solution.values[nodeVariables[node]]];
}

AxisState AxisProblem::getState(size_t tensor, const Solution &solution) const {
  return made[tensor].forms[solution.values[made[tensor].variable]].made;
}

void AxisProblem::forEachConversion(
    const Solution &solution,
    llvm::function_ref<void(size_t, const AxisState &, const AxisState &)>
        visit) const {
  auto isSame = [&](size_t tensor, const AxisState &a, const AxisState &b) {
    return isSameLayout(a, b, local.tensors[tensor].shape, axis.link.size);
  };
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Forms &forms = sources[t].forms[solution.values[sources[t].variable]];
    if (!isSame(t, forms.made, forms.converted))
      visit(t, forms.made, forms.converted);
    auto convert = [&](const AxisState &to) {
      if (isSame(t, forms.made, to) || isSame(t, forms.converted, to))
        return;
      bool direct = getCost(t, forms.made, to, false) <
                    getCost(t, forms.converted, to, false);
      visit(t, direct ? forms.made : forms.converted, to);
    };
    for (size_t user : users[t])
      for (const AxisState &need :
           getNeeds(user, t, getStrategy(user, solution)))
        convert(need);
    for (const Store &store : graph.stores)
      if (store.value == t)
        convert(getState(store.param, solution));
    if (isOutput[t])
      convert(AxisState::getReplicated());
  }
}
