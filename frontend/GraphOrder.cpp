//===- GraphOrder.cpp - unique names and topological order ----------------===//

#include "frontend/GraphOrder.h"

#include "frontend/Load.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace cleave;
using namespace mlir;

namespace {

class Sorter {
public:
  Sorter(MLIRContext *context, StringRef path, onnx::GraphProto &graph)
      : context(context), path(path), graph(graph) {}

  LogicalResult run() {
    if (failed(collectNames()))
      return failure();
    state.assign(graph.node_size(), New);
    for (int i = 0, e = graph.node_size(); i < e; ++i)
      if (state[i] == New && failed(visit(i)))
        return failure();
    reorder();
    return success();
  }

private:
  enum State : uint8_t { New, Open, Done };
  /// Who defines a value: a node, or an input or initializer.
  static constexpr int notANode = -1;

  Location locate(StringRef name) { return getNamedLoc(context, path, name); }

  LogicalResult collectNames() {
    llvm::StringSet<> initializers;
    for (const onnx::ValueInfoProto &input : graph.input())
      if (!producers.try_emplace(input.name(), notANode).second)
        return emitError(locate(input.name()))
               << "two inputs have the name '" << input.name() << "'";
    for (const onnx::TensorProto &tensor : graph.initializer()) {
      if (!initializers.insert(tensor.name()).second)
        return emitError(locate(tensor.name()))
               << "two initializers have the name '" << tensor.name() << "'";
      producers.try_emplace(tensor.name(), notANode);
    }
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
      producers.try_emplace(tensor.values().name(), notANode);
    for (int i = 0, e = graph.node_size(); i < e; ++i)
      for (const std::string &name : graph.node(i).output())
        if (failed(addOutput(i, name)))
          return failure();
    return success();
  }

  LogicalResult addOutput(int node, const std::string &name) {
    if (name.empty())
      return success();
    auto [entry, isNew] = producers.try_emplace(name, node);
    if (isNew)
      return success();
    InFlightDiagnostic error = emitError(locate(getNodeName(graph.node(node))))
                               << "value '" << name << "' is defined twice: ";
    if (entry->second == notANode)
      return error << "it is an input or initializer already";
    return error << "node '" << getNodeName(graph.node(entry->second))
                 << "' defines it too";
  }

  /// Names that the node reads, those of its bodies included.
  static void collectUses(const onnx::NodeProto &node,
                          SmallVectorImpl<StringRef> &uses) {
    for (const std::string &name : node.input())
      if (!name.empty())
        uses.push_back(name);
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectCaptures(attribute.g(), uses);
      for (const onnx::GraphProto &body : attribute.graphs())
        collectCaptures(body, uses);
    }
  }

  static void collectCaptures(const onnx::GraphProto &body,
                              SmallVectorImpl<StringRef> &uses) {
    llvm::StringSet<> local;
    for (const onnx::ValueInfoProto &input : body.input())
      local.insert(input.name());
    for (const onnx::TensorProto &tensor : body.initializer())
      local.insert(tensor.name());
    SmallVector<StringRef> inner;
    for (const onnx::NodeProto &node : body.node()) {
      collectUses(node, inner);
      for (const std::string &name : node.output())
        local.insert(name);
    }
    for (const onnx::ValueInfoProto &output : body.output())
      inner.push_back(output.name());
    for (StringRef name : inner)
      if (!local.contains(name))
        uses.push_back(name);
  }

  /// Depth-first from node `root`, with an explicit stack: chains of nodes are
  /// long. A node is placed after all that it reads.
  LogicalResult visit(int root) {
    struct Frame {
      int node;
      SmallVector<StringRef> uses;
      size_t next = 0;
    };
    SmallVector<Frame> stack;
    auto open = [&](int node) {
      state[node] = Open;
      stack.push_back({node, {}});
      collectUses(graph.node(node), stack.back().uses);
    };
    open(root);
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (frame.next == frame.uses.size()) {
        state[frame.node] = Done;
        order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      StringRef name = frame.uses[frame.next++];
      auto producer = producers.find(name);
      if (producer == producers.end())
        return emitError(locate(getNodeName(graph.node(frame.node))))
               << "reads '" << name << "', which nothing defines";
      if (producer->second == notANode || state[producer->second] == Done)
        continue;
      if (state[producer->second] == New) {
        open(producer->second);
        continue;
      }
      SmallVector<int> path;
      for (const Frame &open : stack)
        path.push_back(open.node);
      return emitCycle(path, producer->second);
    }
    return success();
  }

  LogicalResult emitCycle(ArrayRef<int> path, int first) {
    while (path.front() != first)
      path = path.drop_front();
    InFlightDiagnostic error = emitError(locate(getNodeName(graph.node(first))))
                               << "nodes form a cycle: ";
    for (int node : path)
      error << "'" << getNodeName(graph.node(node)) << "' reads ";
    return error << "'" << getNodeName(graph.node(first)) << "'";
  }

  void reorder() {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
    sorted.Reserve(order.size());
    for (int node : order)
      sorted.Add()->Swap(graph.mutable_node(node));
    graph.mutable_node()->Swap(&sorted);
  }

  MLIRContext *context;
  StringRef path;
  onnx::GraphProto &graph;
  llvm::StringMap<int> producers;
  std::vector<State> state;
  std::vector<int> order;
};

} // namespace

LogicalResult cleave::sortGraph(MLIRContext *context, StringRef path,
                                onnx::GraphProto &graph) {
  return Sorter(context, path, graph).run();
}
