//===- NodeImporter.cpp - imports the nodes of graphs, bodies, functions --===//

#include "frontend/NodeImporter.h"

#include "frontend/FunctionBodies.h"

#include <map>

using namespace cleave;
using namespace mlir;

//===-- What is supported -------------------------------------------------===//

std::string cleave::getDomain(const onnx::NodeProto &node) {
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

/// Adds to `unsupported`, by operator, the nodes of a graph and its bodies.
static void findUnsupported(const onnx::GraphProto &graph, const Opsets &opsets,
                            const OperatorTable &table,
                            std::map<std::string, std::string> &unsupported) {
  for (const onnx::NodeProto &node : graph.node()) {
    if (!isSupported(node, opsets, table)) {
      std::string &nodes = unsupported[describeOperator(node, opsets)];
      nodes += (nodes.empty() ? "'" : ", '") + getNodeName(node) + "'";
    }
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        findUnsupported(attribute.g(), opsets, table, unsupported);
      for (const onnx::GraphProto &body : attribute.graphs())
        findUnsupported(body, opsets, table, unsupported);
    }
  }
}

LogicalResult cleave::verifySupported(MLIRContext *context,
                                      const LoadedModel &model,
                                      const OperatorTable &table) {
  std::map<std::string, std::string> unsupported;
  findUnsupported(model.proto.graph(), model.opsets, table, unsupported);
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

//===-- Names -------------------------------------------------------------===//

/// Null values are those of failed nodes.
static FailureOr<Value> toResult(Value value) {
  if (!value)
    return failure();
  return value;
}

static bool isAbsent(const std::string &name, const Scope &scope) {
  for (const Scope *s = &scope; s; s = s->outer)
    if (s->values.contains(name) || s->absent.contains(name))
      return s->absent.contains(name);
  return name.empty();
}

FailureOr<Value>
NodeImporter::importInitializer(const onnx::TensorProto &tensor, Scope &scope) {
  Value value = tensors.importInitializer(builder, locate(tensor.name()),
                                          tensor, tensor.name());
  scope.values[tensor.name()] = value;
  return toResult(value);
}

FailureOr<Value> NodeImporter::lookup(const std::string &name, Scope &scope) {
  for (Scope *s = &scope; s; s = s->outer) {
    if (auto missing = s->unsupported.find(name);
        missing != s->unsupported.end()) {
      emitError(missing->second.first) << missing->second.second;
      s->unsupported.erase(missing); // Told once.
      return failure();
    }
    if (auto known = s->values.find(name); known != s->values.end())
      return toResult(known->second);
    if (auto tensor = s->initializers.find(name);
        tensor != s->initializers.end())
      return importInitializer(*tensor->second, *s);
  }
  return failure();
}

//===-- Nodes -------------------------------------------------------------===//

LogicalResult NodeImporter::importNodes(const onnx::GraphProto &graph,
                                        Scope &scope) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    scope.initializers[tensor.name()] = &tensor;
  bool succeeded = true;
  for (const onnx::NodeProto &node : graph.node())
    succeeded &= mlir::succeeded(importNode(node, scope));
  return success(succeeded);
}

FailureOr<SmallVector<Value>>
NodeImporter::lookupOperands(const onnx::NodeProto &node, Scope &scope) {
  SmallVector<Value> operands;
  for (const std::string &name : node.input()) {
    FailureOr<Value> value =
        isAbsent(name, scope) ? FailureOr<Value>(Value()) : lookup(name, scope);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  return operands;
}

LogicalResult NodeImporter::importNode(const onnx::NodeProto &node,
                                       Scope &scope) {
  Location loc = scope.loc.value_or(locate(getNodeName(node)));
  for (const std::string &output : node.output())
    if (!output.empty())
      scope.values[output] = nullptr;
  FailureOr<SmallVector<Value>> operands = lookupOperands(node, scope);
  if (failed(operands))
    return failure();
  FailureOr<SmallVector<Value>> results =
      importResults(node, *operands, scope, loc);
  if (failed(results))
    return failure();
  for (auto [i, output] : llvm::enumerate(node.output())) {
    if (i < results->size() && (*results)[i])
      scope.values[output] = (*results)[i];
    else if (!output.empty())
      scope.unsupported.try_emplace(output, loc,
                                    ("result " + Twine(i) + " ('" + output +
                                     "') of " + node.op_type() +
                                     " is not supported")
                                        .str());
  }
  return success();
}

FailureOr<SmallVector<Value>>
NodeImporter::importResults(const onnx::NodeProto &node,
                            ArrayRef<Value> operands, Scope &scope,
                            Location loc) {
  int64_t version = scope.opsets.lookup(getDomain(node));
  if (const OpHandler *handler =
          table.find(getDomain(node), node.op_type(), version)) {
    auto importBody = [&](const onnx::GraphProto &body,
                          ArrayRef<Value> values) {
      return this->importBody(body, values, scope);
    };
    NodeContext context(builder, loc, node, operands, tensors, importBody);
    if (failed((*handler)(context)) || failed(context.verifyAllRead()))
      return failure();
    return SmallVector<Value>(context.getResults());
  }
  if (std::optional<onnx::FunctionProto> body =
          getFunctionBody(node, version, operands))
    return importFunction(*body, operands, scope.opsets, loc);
  return emitError(loc) << "operator " << describeOperator(node, scope.opsets)
                        << " is not supported for these operands";
}

//===-- Bodies ------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
NodeImporter::importFunction(const onnx::FunctionProto &body,
                             ArrayRef<Value> operands, const Opsets &opsets,
                             Location loc) {
  Scope scope;
  scope.loc = loc;
  scope.opsets = opsets;
  for (const auto &own : getOpsets(body.opset_import()))
    scope.opsets[own.first()] = own.second;
  for (auto [i, name] : llvm::enumerate(body.input())) {
    if (i < operands.size() && operands[i])
      scope.values[name] = operands[i];
    else
      scope.absent.insert(name);
  }
  for (const onnx::NodeProto &node : body.node())
    if (failed(importNode(node, scope)))
      return failure();
  SmallVector<Value> results;
  for (const std::string &name : body.output())
    results.push_back(scope.values.lookup(name));
  return results;
}

FailureOr<SmallVector<Value>>
NodeImporter::importBody(const onnx::GraphProto &body, ArrayRef<Value> operands,
                         Scope &outer) {
  Scope scope;
  scope.outer = &outer;
  scope.opsets = outer.opsets;
  scope.loc = outer.loc;
  for (auto [input, value] : llvm::zip_equal(body.input(), operands))
    scope.values[input.name()] = value;
  if (failed(importNodes(body, scope)))
    return failure();
  SmallVector<Value> results;
  for (const onnx::ValueInfoProto &output : body.output()) {
    FailureOr<Value> value = lookup(output.name(), scope);
    if (failed(value))
      return failure();
    results.push_back(*value);
  }
  return results;
}
