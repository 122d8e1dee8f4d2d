//===- BindValues.cpp - inputs that are constants -------------------------===//
//
// Models may take as an input what decides shapes: axes, sizes, a number of
// steps. Given its value, such an input is a constant of the program.
//
//===----------------------------------------------------------------------===//

#include "frontend/BindValues.h"

#include "frontend/BindDims.h"
#include "frontend/ElementTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace cleave;
using namespace mlir;

LogicalResult cleave::parseValue(StringRef text, ImportOptions &options,
                                 std::string &error) {
  auto [name, list] = text.rsplit('=');
  if (name.empty() || !text.contains('=')) {
    error = ("expected INPUT=NUMBER,NUMBER..., found '" + text + "'").str();
    return failure();
  }
  SmallVector<StringRef> parts;
  if (!list.empty())
    list.split(parts, ',');
  auto numbers = llvm::map_to_vector(
      parts, [](StringRef part) { return part.trim().str(); });
  auto [entry, isNew] = options.values.try_emplace(name.str(), numbers);
  if (isNew || entry->second == numbers)
    return success();
  error = ("input '" + name + "' has two values").str();
  return failure();
}

/// Appends one number to the field of the tensor's type.
static LogicalResult addNumber(onnx::TensorProto &tensor, StringRef text) {
  using Onnx = onnx::TensorProto;
  double real;
  int64_t integer;
  switch (tensor.data_type()) {
  case Onnx::FLOAT:
  case Onnx::DOUBLE:
    if (text.getAsDouble(real))
      return failure();
    if (tensor.data_type() == Onnx::FLOAT)
      tensor.add_float_data(static_cast<float>(real));
    else
      tensor.add_double_data(real);
    return success();
  case Onnx::BOOL:
    if (text != "0" && text != "1")
      return failure();
    tensor.add_int32_data(text == "1");
    return success();
  case Onnx::INT32:
  case Onnx::INT64:
    if (text.getAsInteger(10, integer))
      return failure();
    if (tensor.data_type() == Onnx::INT64)
      tensor.add_int64_data(integer);
    else if (llvm::isInt<32>(integer))
      tensor.add_int32_data(static_cast<int32_t>(integer));
    else
      return failure();
    return success();
  default:
    return failure();
  }
}

/// The sizes that the input declares, which must hold `count` elements; a list
/// where its one size is open.
static LogicalResult addDims(Location loc, const onnx::ValueInfoProto &input,
                             int64_t count, onnx::TensorProto &tensor) {
  const auto &shape = input.type().tensor_type().shape();
  int64_t elements = 1;
  bool isOpenList = shape.dim_size() == 1 && (!shape.dim(0).has_dim_value() ||
                                              shape.dim(0).dim_value() < 0);
  for (const auto &dim : shape.dim()) {
    tensor.add_dims(isOpenList ? count : dim.dim_value());
    elements *= tensor.dims(tensor.dims_size() - 1);
  }
  if (input.type().tensor_type().has_shape() && elements == count)
    return success();
  return emitError(loc) << "--value gives input '" << input.name() << "' "
                        << count << " numbers, the model says " << elements;
}

static LogicalResult makeTensor(Location loc, const onnx::ValueInfoProto &input,
                                ArrayRef<std::string> numbers,
                                onnx::TensorProto &tensor) {
  int32_t type = input.type().tensor_type().elem_type();
  tensor.set_data_type(type);
  if (failed(addDims(loc, input, numbers.size(), tensor)))
    return failure();
  for (const std::string &number : numbers)
    if (failed(addNumber(tensor, number)))
      return emitError(loc) << "--value of input '" << input.name()
                            << "' must be of type " << getTypeName(type)
                            << ", one of FLOAT, DOUBLE, INT32, INT64 and BOOL "
                               "(0 or 1), found '"
                            << number << "'";
  return success();
}

/// Puts `node` before all others.
static void prepend(onnx::GraphProto &graph, onnx::NodeProto &&node) {
  *graph.add_node() = std::move(node);
  for (int i = graph.node_size() - 1; i > 0; --i)
    graph.mutable_node()->SwapElements(i, i - 1);
}

LogicalResult cleave::bindValues(MLIRContext *context,
                                 const ImportOptions &options,
                                 LoadedModel &model) {
  onnx::GraphProto &graph = *model.proto.mutable_graph();
  for (const auto &[name, numbers] : options.values) {
    auto trueInputs = getTrueInputs(graph);
    if (llvm::none_of(trueInputs, [&](const onnx::ValueInfoProto *input) {
          return input->name() == name;
        })) {
      auto names = llvm::map_to_vector(trueInputs,
                                       [](const onnx::ValueInfoProto *input) {
                                         return "'" + input->name() + "'";
                                       });
      return emitError(getFileLoc(context, model.path))
             << "--value " << name
             << " names no input, found inputs: " << llvm::join(names, ", ");
    }
    auto input = llvm::find_if(graph.input(), [&](const auto &candidate) {
      return candidate.name() == name;
    });
    onnx::NodeProto node;
    node.set_name(name);
    node.set_op_type("Constant");
    node.add_output(name);
    onnx::AttributeProto *value = node.add_attribute();
    value->set_name("value");
    value->set_type(onnx::AttributeProto::TENSOR);
    if (failed(makeTensor(getNamedLoc(context, model.path, name), *input,
                          numbers, *value->mutable_t())))
      return failure();
    graph.mutable_input()->erase(input);
    prepend(graph, std::move(node));
  }
  return success();
}
