//===- Graph.cpp - reads tensors and nodes of a logical module ------------===//

#include "passes/plan/Graph.h"
#include "passes/cost/CostModel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

namespace {

class GraphReader {
public:
  GraphReader(ModuleOp module, func::FuncOp main) {
    graph.module = module;
    graph.main = main;
  }
  FailureOr<Graph> read();

private:
  size_t addTensor(Tensor tensor);
  void readInputs();
  void readParams();
  LogicalResult readOp(Operation *op);
  LogicalResult readNode(Operation *op);
  std::string makeUnique(const std::string &name);

  Graph graph;
  llvm::DenseMap<mlir::Value, size_t> tensorOf;
  llvm::StringMap<size_t> paramOf;
  llvm::StringMap<int64_t> uses; ///< of node names
};

} // namespace

/// Names of a location: a fused one has several.
static void collectNames(Location loc, std::vector<std::string> &names) {
  if (auto named = dyn_cast<NameLoc>(loc)) {
    if (!llvm::is_contained(names, named.getName().getValue()))
      names.push_back(named.getName().str());
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      collectNames(part, names);
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    collectNames(call.getCallee(), names);
}

size_t GraphReader::addTensor(Tensor tensor) {
  if (tensor.value)
    tensorOf[tensor.value] = graph.tensors.size();
  graph.tensors.push_back(std::move(tensor));
  return graph.tensors.size() - 1;
}

void GraphReader::readInputs() {
  for (BlockArgument argument : graph.main.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto name = graph.main.getArgAttrOfType<StringAttr>(index, "cleave.name");
    std::string text = name ? name.str() : "input" + std::to_string(index);
    addTensor({Tensor::Input,
               text,
               text,
               cast<RankedTensorType>(argument.getType()),
               {},
               argument,
               {}});
  }
}

void GraphReader::readParams() {
  for (ParamOp param : graph.module.getOps<ParamOp>()) {
    auto type = cast<RankedTensorType>(param.getType());
    Tensor tensor{Tensor::Param,
                  param.getSymName().str(),
                  param.getSymName().str(),
                  type,
                  {},
                  {},
                  param};
    tensor.trueShape = param.getTrueShape()
                           ? llvm::to_vector(*param.getTrueShape())
                           : llvm::to_vector(type.getShape());
    paramOf[param.getSymName()] = addTensor(std::move(tensor));
  }
}

/// The first use of a name keeps it; the next are name#1, name#2.
std::string GraphReader::makeUnique(const std::string &name) {
  int64_t count = uses[name]++;
  return count == 0 ? name : name + "#" + std::to_string(count);
}

LogicalResult GraphReader::readNode(Operation *op) {
  auto rule = dyn_cast<ShardingRuleOpInterface>(op);
  if (!rule || !isa<WorkOpInterface>(op))
    return op->emitOpError(
        "cannot be planned: it states no sharding rule or no work");
  Node node{op, {}, {}, rule.getShardingRule(), getFusedWork(op), {}, {}};
  collectNames(op->getLoc(), node.givenNames);
  if (node.givenNames.empty())
    node.givenNames.push_back(op->getName().stripDialect().str());
  node.name = makeUnique(node.givenNames.front());
  for (mlir::Value operand : op->getOperands())
    node.operands.push_back(tensorOf.at(operand));
  for (OpResult result : op->getResults()) {
    std::string suffix = result.getResultNumber() == 0
                             ? ""
                             : ":" + std::to_string(result.getResultNumber());
    node.results.push_back(addTensor({Tensor::Value,
                                      node.name + suffix,
                                      node.givenNames.front(),
                                      cast<RankedTensorType>(result.getType()),
                                      {},
                                      result,
                                      {}}));
  }
  graph.nodes.push_back(std::move(node));
  return success();
}

LogicalResult GraphReader::readOp(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    tensorOf[load.getResult()] = paramOf.at(load.getSymbol());
    return success();
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    graph.stores.push_back(
        {store, tensorOf.at(store.getValue()), paramOf.at(store.getSymbol())});
    return success();
  }
  if (isa<func::ReturnOp>(op)) {
    for (mlir::Value value : op->getOperands())
      graph.outputs.push_back(tensorOf.at(value));
    return success();
  }
  return readNode(op);
}

FailureOr<Graph> GraphReader::read() {
  readInputs();
  readParams();
  for (Operation &op : graph.main.getBody().front())
    if (failed(readOp(&op)))
      return failure();
  return std::move(graph);
}

FailureOr<Graph> Graph::read(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return module.emitError(
        "nothing to plan: the module has no function @main");
  return GraphReader(module, main).read();
}

std::vector<std::vector<size_t>> Graph::getUsers() const {
  std::vector<std::vector<size_t>> users(tensors.size());
  for (auto [n, node] : llvm::enumerate(nodes))
    for (size_t operand : node.operands)
      if (users[operand].empty() || users[operand].back() != n)
        users[operand].push_back(n);
  return users;
}
