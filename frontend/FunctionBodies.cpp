//===- FunctionBodies.cpp - operators that ONNX defines by others ---------===//

#include "frontend/FunctionBodies.h"

#include "frontend/ElementTypes.h"
#include "frontend/TensorBuilder.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#include "onnx/defs/schema.h"
#pragma clang diagnostic pop

#include <algorithm>

using namespace cleave;
using namespace mlir;

static const onnx::OpSchema *findSchema(const onnx::NodeProto &node,
                                        int64_t opset) {
  std::string domain = isStandardDomain(node.domain()) ? "" : node.domain();
  return onnx::OpSchemaRegistry::Schema(node.op_type(), opset, domain);
}

bool cleave::hasFunctionBody(const onnx::NodeProto &node, int64_t opset) {
  const onnx::OpSchema *schema = findSchema(node, opset);
  return schema &&
         (schema->HasFunction() || schema->HasContextDependentFunction());
}

static onnx::TypeProto makeType(Value value) {
  onnx::TypeProto type;
  if (!value)
    return type;
  auto *tensor = type.mutable_tensor_type();
  tensor->set_elem_type(getOnnxType(getElement(value)));
  auto *shape = tensor->mutable_shape();
  for (int64_t size : getShape(value))
    shape->add_dim()->set_dim_value(size);
  return type;
}

/// A body that ONNX builds for the node's attributes and operand types.
/// Builders exist from some opset on; the first serves older models too,
/// because a body says itself which opset its nodes are of.
static std::optional<onnx::FunctionProto>
buildBody(const onnx::OpSchema &schema, const onnx::NodeProto &node,
          int64_t opset, ArrayRef<Value> operands) {
  std::vector<onnx::TypeProto> types;
  for (Value operand : operands)
    types.push_back(makeType(operand));
  std::vector<int> versions =
      schema.context_dependent_function_opset_versions();
  int first = *std::min_element(versions.begin(), versions.end());
  onnx::FunctionProto body;
  try {
    onnx::FunctionBodyBuildContextImpl context(node, types);
    if (!schema.BuildContextDependentFunction(
            context, body, std::max<int>(first, static_cast<int>(opset))))
      return std::nullopt;
  } catch (const std::exception &) {
    return std::nullopt;
  }
  return body;
}

/// Replaces references to attributes of the function by the node's, or by the
/// operator's defaults; those that have neither are left out. Nodes in bodies
/// of `inner` refer to them too.
static void bindAttributes(onnx::NodeProto &inner, const onnx::NodeProto &node,
                           const onnx::OpSchema &schema) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
  for (onnx::AttributeProto &attribute : *inner.mutable_attribute()) {
    const std::string &reference = attribute.ref_attr_name();
    if (reference.empty()) {
      if (attribute.has_g())
        for (onnx::NodeProto &nested : *attribute.mutable_g()->mutable_node())
          bindAttributes(nested, node, schema);
      bound.Add()->Swap(&attribute);
      continue;
    }
    const onnx::AttributeProto *value = nullptr;
    for (const onnx::AttributeProto &given : node.attribute())
      if (given.name() == reference)
        value = &given;
    auto known = schema.attributes().find(reference);
    if (!value && known != schema.attributes().end() &&
        known->second.default_value.type() != onnx::AttributeProto::UNDEFINED)
      value = &known->second.default_value;
    if (!value)
      continue;
    onnx::AttributeProto *copy = bound.Add();
    *copy = *value;
    copy->set_name(attribute.name());
  }
  inner.mutable_attribute()->Swap(&bound);
}

std::optional<onnx::FunctionProto>
cleave::getFunctionBody(const onnx::NodeProto &node, int64_t opset,
                        ArrayRef<Value> operands) {
  const onnx::OpSchema *schema = findSchema(node, opset);
  if (!schema)
    return std::nullopt;
  std::optional<onnx::FunctionProto> body;
  if (schema->HasFunction())
    body = *schema->GetFunction();
  else if (schema->HasContextDependentFunction())
    body = buildBody(*schema, node, opset, operands);
  if (!body)
    return std::nullopt;
  for (onnx::NodeProto &inner : *body->mutable_node())
    bindAttributes(inner, node, *schema);
  return body;
}
