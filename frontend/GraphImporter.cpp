//===- GraphImporter.cpp - from a checked model to @main ------------------===//

#include "frontend/GraphImporter.h"

#include "frontend/ElementTypes.h"
#include "frontend/FunctionBodies.h"
#include "frontend/NodeContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace cleave;
using namespace mlir;

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

//===-- What is supported -------------------------------------------------===//

static std::string getDomain(const onnx::NodeProto &node) {
  return isStandardDomain(node.domain()) ? "" : node.domain();
}

/// "Foo of opset 18", "com.acme.Foo".
static std::string describeOperator(const onnx::NodeProto &node,
                                    const Opsets &opsets) {
  std::string domain = getDomain(node);
  std::string text = (domain.empty() ? "" : domain + ".") + node.op_type();
  auto version = opsets.find(domain);
  if (version == opsets.end())
    return text + " (of a domain that the model does not declare)";
  return text + " of opset " + std::to_string(version->second);
}

static bool isSupported(const onnx::NodeProto &node, const Opsets &opsets,
                        const OperatorTable &table) {
  auto version = opsets.find(getDomain(node));
  return version != opsets.end() &&
         (table.find(getDomain(node), node.op_type(), version->second) ||
          hasFunctionBody(node, version->second));
}

LogicalResult cleave::verifySupported(MLIRContext *context,
                                      const LoadedModel &model,
                                      const OperatorTable &table) {
  std::map<std::string, std::string> unsupported;
  for (const onnx::NodeProto &node : model.proto.graph().node())
    if (!isSupported(node, model.opsets, table)) {
      std::string &nodes = unsupported[describeOperator(node, model.opsets)];
      nodes += (nodes.empty() ? "'" : ", '") + getNodeName(node) + "'";
    }
  if (unsupported.empty())
    return success();
  InFlightDiagnostic error = emitError(getFileLoc(context, model.path))
                             << "operators are not supported: ";
  StringRef separator = "";
  for (const auto &[name, nodes] : unsupported) {
    error << separator << name << " (nodes " << nodes << ")";
    separator = "; ";
  }
  return error;
}

//===-- Import ------------------------------------------------------------===//

namespace {

/// Values by name in one graph or function body. A null value is one whose node
/// failed, after an error.
using Scope = llvm::StringMap<Value>;

class GraphImporter {
public:
  GraphImporter(ModuleOp module, const LoadedModel &model,
                const OperatorTable &table, const DimSizes &sizes, bool train)
      : module(module), model(model), graph(model.proto.graph()), table(table),
        sizes(sizes), builder(module.getContext()), function(createFunction()),
        tensors(module, function, model, train) {}

  LogicalResult run() {
    if (failed(createArguments()))
      return failure();
    for (const onnx::TensorProto &tensor : graph.initializer())
      initializers[tensor.name()] = &tensor;
    bool succeeded = true;
    for (const onnx::NodeProto &node : graph.node())
      succeeded &= mlir::succeeded(
          importNode(node, values, model.opsets, locate(getNodeName(node))));
    return success(succeeded && mlir::succeeded(createReturn()));
  }

private:
  Location locate(StringRef name) {
    return getNamedLoc(module.getContext(), model.path, name);
  }

  //===-- Function --------------------------------------------------------===//

  func::FuncOp createFunction() {
    builder.setInsertionPointToEnd(module.getBody());
    auto type = builder.getFunctionType({}, {});
    Location loc = getFileLoc(module.getContext(), model.path);
    auto main = builder.create<func::FuncOp>(loc, "main", type);
    builder.setInsertionPointToEnd(main.addEntryBlock());
    return main;
  }

  LogicalResult createArguments() {
    bool succeeded = true;
    for (const onnx::ValueInfoProto *input : getTrueInputs(graph)) {
      RankedTensorType type = getInputType(*input);
      succeeded &= type != nullptr;
      if (!type)
        continue;
      unsigned index = function.getNumArguments();
      auto name = builder.getNamedAttr(NameAttrName,
                                       builder.getStringAttr(input->name()));
      function.insertArgument(index, type, builder.getDictionaryAttr(name),
                              locate(input->name()));
      values[input->name()] = function.getArgument(index);
    }
    return success(succeeded);
  }

  RankedTensorType getInputType(const onnx::ValueInfoProto &input) {
    if (!input.type().has_tensor_type()) {
      emitError(locate(input.name()))
          << "input '" << input.name()
          << "' is no tensor, which is not supported";
      return nullptr;
    }
    const auto &tensor = input.type().tensor_type();
    Type element = getElementType(module.getContext(), tensor.elem_type());
    if (!element) {
      emitError(locate(input.name()))
          << "input '" << input.name() << "' has element type "
          << getTypeName(tensor.elem_type()) << ", which is not supported";
      return nullptr;
    }
    Shape shape;
    for (const auto &dim : tensor.shape().dim())
      shape.push_back(dim.dim_value());
    return RankedTensorType::get(shape, element);
  }

  LogicalResult createReturn() {
    SmallVector<Value> results;
    SmallVector<Attribute> names;
    for (const onnx::ValueInfoProto &output : graph.output()) {
      FailureOr<Value> value = lookup(output.name(), values);
      if (failed(value) || failed(verifyOutput(output, *value)))
        return failure();
      results.push_back(*value);
      names.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
          NameAttrName, builder.getStringAttr(output.name()))));
    }
    builder.create<func::ReturnOp>(function.getLoc(), results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(names));
    eraseDeadOps();
    return success();
  }

  /// What the model declares of an output must agree with what was inferred.
  LogicalResult verifyOutput(const onnx::ValueInfoProto &output, Value value) {
    const auto &declared = output.type().tensor_type();
    RankedTensorType found = getTensorType(value);
    std::string text;
    bool agrees =
        !declared.has_shape() || declared.shape().dim_size() == found.getRank();
    for (int i = 0, e = declared.shape().dim_size(); i < e; ++i) {
      const auto &dim = declared.shape().dim(i);
      int64_t size = sizes.lookup(dim.dim_param());
      bool isKnown = dim.has_dim_value() ? dim.dim_value() >= 0
                                         : sizes.contains(dim.dim_param());
      size = dim.has_dim_value() ? dim.dim_value() : size;
      agrees &= !isKnown || i >= found.getRank() || found.getDimSize(i) == size;
      text += (i ? ", " : "") + dim.dim_param() +
              (isKnown && !dim.has_dim_value() ? "=" : "") +
              (isKnown ? std::to_string(size) : "");
    }
    std::string producer = "an input";
    if (auto name = dyn_cast<NameLoc>(value.getLoc()))
      producer = "'" + name.getName().str() + "'";
    if (!agrees)
      return emitError(value.getLoc())
             << "shapes conflict: output '" << output.name()
             << "' is declared as [" << text << "], " << producer << " gives "
             << formatShape(found.getShape());
    Type element = getElementType(module.getContext(), declared.elem_type());
    if (element != found.getElementType())
      return emitError(value.getLoc())
             << "types conflict: output '" << output.name()
             << "' is declared as " << getTypeName(declared.elem_type()) << ", "
             << producer << " gives " << found.getElementType();
    return success();
  }

  /// Shape arithmetic leaves constants and ops that nothing uses.
  void eraseDeadOps() {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  //===-- Nodes -----------------------------------------------------------===//

  /// Null values are those of failed nodes.
  static FailureOr<Value> toResult(Value value) {
    if (!value)
      return failure();
    return value;
  }

  /// The value of a name; failure when its node failed or has no such result.
  FailureOr<Value> lookup(const std::string &name, Scope &scope) {
    auto known = scope.find(name);
    if (known != scope.end())
      return toResult(known->second);
    auto initializer = initializers.find(name);
    if (&scope != &values || initializer == initializers.end())
      return failure();
    OpBuilder::InsertionGuard guard(builder);
    Value value = tensors.importInitializer(builder, locate(name),
                                            *initializer->second, name);
    values[name] = value;
    return toResult(value);
  }

  LogicalResult importNode(const onnx::NodeProto &node, Scope &scope,
                           const Opsets &opsets, Location loc) {
    for (const std::string &output : node.output())
      if (!output.empty())
        scope[output] = nullptr;
    SmallVector<Value> operands;
    for (const std::string &name : node.input()) {
      FailureOr<Value> value =
          name.empty() ? FailureOr<Value>(Value()) : lookup(name, scope);
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    FailureOr<SmallVector<Value>> results =
        importResults(node, operands, opsets, loc);
    if (failed(results))
      return failure();
    for (auto [i, output] : llvm::enumerate(node.output())) {
      if (i < results->size())
        scope[output] = (*results)[i];
      else if (!output.empty() && isUsed(output))
        return emitError(loc) << "result " << i << " ('" << output << "') of "
                              << node.op_type() << " is not supported";
    }
    return success();
  }

  FailureOr<SmallVector<Value>> importResults(const onnx::NodeProto &node,
                                              ArrayRef<Value> operands,
                                              const Opsets &opsets,
                                              Location loc) {
    int64_t version = opsets.lookup(getDomain(node));
    if (const OpHandler *handler =
            table.find(getDomain(node), node.op_type(), version)) {
      NodeContext context(builder, loc, node, operands, tensors);
      if (failed((*handler)(context)) || failed(context.verifyAllRead()))
        return failure();
      return SmallVector<Value>(context.getResults());
    }
    if (std::optional<onnx::FunctionProto> body =
            getFunctionBody(node, version, operands))
      return importBody(*body, operands, opsets, loc);
    return emitError(loc) << "operator " << describeOperator(node, opsets)
                          << " is not supported for these operands";
  }

  /// Imports the body of an operator at its node's location.
  FailureOr<SmallVector<Value>> importBody(const onnx::FunctionProto &body,
                                           ArrayRef<Value> operands,
                                           Opsets opsets, Location loc) {
    Scope scope;
    for (auto [i, name] : llvm::enumerate(body.input()))
      if (i < operands.size() && operands[i])
        scope[name] = operands[i];
    for (const auto &own : getOpsets(body.opset_import()))
      opsets[own.first()] = own.second;
    for (onnx::NodeProto node : body.node()) {
      for (std::string &name : *node.mutable_input())
        if (!scope.contains(name)) // An optional operand that is left out.
          name.clear();
      if (failed(importNode(node, scope, opsets, loc)))
        return failure();
    }
    SmallVector<Value> results;
    for (const std::string &name : body.output())
      results.push_back(scope.lookup(name));
    return results;
  }

  /// Whether a node or the model itself uses a value.
  bool isUsed(const std::string &name) {
    if (used.empty()) {
      for (const onnx::NodeProto &node : graph.node())
        used.insert(node.input().begin(), node.input().end());
      for (const onnx::ValueInfoProto &output : graph.output())
        used.insert(output.name());
    }
    return used.contains(name);
  }

  ModuleOp module;
  const LoadedModel &model;
  const onnx::GraphProto &graph;
  const OperatorTable &table;
  const DimSizes &sizes;
  OpBuilder builder;
  func::FuncOp function;
  TensorImporter tensors;
  Scope values;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringSet<> used;
};

} // namespace

LogicalResult cleave::importGraph(ModuleOp module, const LoadedModel &model,
                                  const OperatorTable &table,
                                  const DimSizes &sizes, bool train) {
  return GraphImporter(module, model, table, sizes, train).run();
}
