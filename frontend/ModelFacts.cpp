//===- ModelFacts.cpp - what a model file says of itself ------------------===//

#include "frontend/ModelFacts.h"

#include "frontend/BindDims.h"
#include "frontend/ElementTypes.h"
#include "frontend/Load.h"
#include "frontend/NodeImporter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace cleave;
using namespace mlir;

static std::string describeDim(const onnx::TensorShapeProto::Dimension &dim) {
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return std::to_string(dim.dim_value());
  return dim.dim_param().empty() ? "?" : dim.dim_param();
}

static ModelFacts::Tensor describe(MLIRContext *context,
                                   const onnx::ValueInfoProto &info) {
  ModelFacts::Tensor tensor;
  tensor.name = info.name();
  tensor.type = "?";
  if (!info.type().has_tensor_type())
    return tensor;
  const auto &type = info.type().tensor_type();
  if (Type element = getElementType(context, type.elem_type())) {
    tensor.type.clear();
    llvm::raw_string_ostream(tensor.type) << element;
  } else {
    tensor.type = getTypeName(type.elem_type());
  }
  tensor.hasShape = type.has_shape();
  for (const auto &dim : type.shape().dim())
    tensor.dims.push_back(describeDim(dim));
  return tensor;
}

static void countOperators(const onnx::GraphProto &graph, ModelFacts &facts) {
  for (const onnx::NodeProto &node : graph.node()) {
    std::string domain = getDomain(node);
    ++facts.operators[(domain.empty() ? "" : domain + ".") + node.op_type()];
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        countOperators(attribute.g(), facts);
      for (const onnx::GraphProto &body : attribute.graphs())
        countOperators(body, facts);
    }
  }
}

static void addConfigurations(const onnx::ModelProto &model,
                              ModelFacts &facts) {
  for (const onnx::DeviceConfigurationProto &declared : model.configuration()) {
    ModelFacts::Configuration configuration;
    configuration.name = declared.name();
    configuration.devices = declared.num_devices();
    std::set<int64_t> stages;
    for (const onnx::NodeProto &node : model.graph().node())
      for (const auto &said : node.device_configurations()) {
        if (said.configuration_id() != declared.name())
          continue;
        ++configuration.nodes;
        if (said.has_pipeline_stage())
          stages.insert(said.pipeline_stage());
      }
    configuration.stages = static_cast<int64_t>(stages.size());
    facts.configurations.push_back(std::move(configuration));
  }
}

bool ModelFacts::isOpen() const {
  return llvm::any_of(inputs, [](const Tensor &input) {
    return !input.hasShape || llvm::any_of(input.dims, [](llvm::StringRef dim) {
      return !llvm::all_of(dim, llvm::isDigit);
    });
  });
}

FailureOr<ModelFacts> cleave::readModelFacts(MLIRContext *context,
                                             StringRef path) {
  LoadedModel model;
  if (failed(loadModel(context, path, model)))
    return failure();
  const onnx::GraphProto &graph = model.proto.graph();
  ModelFacts facts;
  facts.irVersion = model.proto.ir_version();
  for (const auto &opset : model.opsets)
    facts.opsets[opset.first().str()] = opset.second;
  for (const onnx::ValueInfoProto *input : getTrueInputs(graph))
    facts.inputs.push_back(describe(context, *input));
  for (const onnx::ValueInfoProto &output : graph.output())
    facts.outputs.push_back(describe(context, output));
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    ++facts.initializers;
    facts.initializerBytes +=
        static_cast<int64_t>(getTensorBytes(tensor).value_or(0));
  }
  countOperators(graph, facts);
  addConfigurations(model.proto, facts);
  return facts;
}
