//===- NodeContext.cpp - one node while it is imported --------------------===//

#include "frontend/NodeContext.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

NodeContext::NodeContext(OpBuilder &builder, Location loc,
                         const onnx::NodeProto &node, ArrayRef<Value> operands,
                         TensorImporter &tensors, BodyImporter bodyImporter)
    : TensorBuilder(builder, loc), node(node), operands(operands),
      tensors(tensors), bodyImporter(std::move(bodyImporter)),
      readOperands(operands.size()), readAttributes(node.attribute_size()) {}

//===-- Operands ----------------------------------------------------------===//

/// The elements of an operand that must be known at compile time. That a model
/// is trained makes a param of the initializer it may be; its elements are
/// known all the same.
static DenseElementsAttr getKnown(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load)
    return getConstant(value);
  auto param =
      SymbolTable::lookupNearestSymbolFrom<ParamOp>(load, load.getSymbolAttr());
  return param ? dyn_cast_or_null<DenseElementsAttr>(param.getValueAttr())
               : nullptr;
}

Value NodeContext::getOperand(unsigned i) {
  ignoreOperand(i);
  if (hasOperand(i))
    return operands[i];
  emitError() << node.op_type() << " needs operand " << i
              << ", which is left out";
  return nullptr;
}

SmallVector<Value> NodeContext::getOperands() {
  SmallVector<Value> values;
  for (unsigned i = 0; i < operands.size(); ++i) {
    values.push_back(getOperand(i));
    if (!values.back())
      return {};
  }
  return values;
}

void NodeContext::ignoreOperand(unsigned i) {
  if (i < readOperands.size())
    readOperands.set(i);
}

FailureOr<Shape> NodeContext::getConstantInts(unsigned i, StringRef what) {
  Value value = getOperand(i);
  if (!value)
    return failure();
  DenseElementsAttr elements = getKnown(value);
  if (!elements || !isa<IntegerType>(elements.getElementType()))
    return emitError() << "the " << what << " of " << node.op_type()
                       << " must be integers known at compile time, found "
                       << describe(i);
  Shape values;
  for (const APInt &element : elements.getValues<APInt>())
    values.push_back(element.getSExtValue());
  return values;
}

FailureOr<double> NodeContext::getConstantScalar(unsigned i, StringRef what) {
  Value value = getOperand(i);
  if (!value)
    return failure();
  DenseElementsAttr elements = getKnown(value);
  if (!elements || elements.getNumElements() != 1)
    return emitError() << "the " << what << " of " << node.op_type()
                       << " must be one value known at compile time, found "
                       << describe(i);
  Attribute element = *elements.value_begin<Attribute>();
  if (auto real = dyn_cast<FloatAttr>(element))
    return real.getValueAsDouble();
  APInt integer = cast<IntegerAttr>(element).getValue();
  if (integer.getBitWidth() == 1)
    return static_cast<double>(integer.getZExtValue());
  // Beyond 2^53 a double is not exact.
  if (integer.getSignificantBits() > 53)
    return emitError() << "the " << what << " of " << node.op_type()
                       << " must be at most 2^53, found " << describe(i);
  return static_cast<double>(integer.getSExtValue());
}

FailureOr<SmallVector<double>> NodeContext::getConstantFloats(unsigned i,
                                                              StringRef what) {
  Value value = getOperand(i);
  if (!value)
    return failure();
  DenseElementsAttr elements = getKnown(value);
  if (!elements || !isa<FloatType>(elements.getElementType()))
    return emitError() << "the " << what << " of " << node.op_type()
                       << " must be floats known at compile time, found "
                       << describe(i);
  SmallVector<double> values;
  for (Attribute element : elements.getValues<Attribute>())
    values.push_back(cast<FloatAttr>(element).getValueAsDouble());
  return values;
}

std::string NodeContext::describe(unsigned i) {
  std::string text = "'" + node.input(i) + "'";
  Value value = operands[i];
  text += " " + formatShape(getShape(value));
  if (isa<BlockArgument>(value))
    return text + " (an input)";
  if (auto name = dyn_cast<NameLoc>(value.getLoc()))
    text += " from '" + name.getName().str() + "'";
  return text;
}

//===-- Attributes --------------------------------------------------------===//

const onnx::AttributeProto *NodeContext::getAttribute(StringRef name) {
  for (int i = 0, e = node.attribute_size(); i < e; ++i)
    if (node.attribute(i).name() == name) {
      readAttributes.set(i);
      return &node.attribute(i);
    }
  return nullptr;
}

bool NodeContext::hasAttribute(StringRef name) const {
  return llvm::any_of(node.attribute(), [&](const onnx::AttributeProto &a) {
    return a.name() == name;
  });
}

int64_t NodeContext::getInt(StringRef name, int64_t otherwise) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  return attribute ? attribute->i() : otherwise;
}
double NodeContext::getFloat(StringRef name, double otherwise) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  return attribute ? attribute->f() : otherwise;
}
std::string NodeContext::getString(StringRef name, StringRef otherwise) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  return attribute ? attribute->s() : otherwise.str();
}
std::optional<Shape> NodeContext::getInts(StringRef name) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  if (!attribute)
    return std::nullopt;
  return Shape(attribute->ints().begin(), attribute->ints().end());
}
std::optional<SmallVector<double>> NodeContext::getFloats(StringRef name) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  if (!attribute)
    return std::nullopt;
  return SmallVector<double>(attribute->floats().begin(),
                             attribute->floats().end());
}
const onnx::TensorProto *NodeContext::getTensor(StringRef name) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  return attribute && attribute->has_t() ? &attribute->t() : nullptr;
}

FailureOr<SmallVector<Value>> NodeContext::importBody(StringRef name,
                                                      ArrayRef<Value> inputs) {
  const onnx::AttributeProto *attribute = getAttribute(name);
  if (!attribute || !attribute->has_g())
    return emitError() << node.op_type() << " has no body '" << name << "'";
  size_t expected = attribute->g().input_size();
  if (expected != inputs.size())
    return emitError() << "body '" << name << "' of " << node.op_type()
                       << " has " << expected << " inputs, expected "
                       << inputs.size();
  return bodyImporter(attribute->g(), inputs);
}

LogicalResult NodeContext::requireInt(StringRef name, int64_t value) {
  int64_t found = getInt(name, value);
  if (found == value)
    return success();
  return emitError() << "attribute '" << name << "' of " << node.op_type()
                     << " is supported with value " << value << ", found "
                     << found;
}

FailureOr<std::optional<Shape>> NodeContext::getList(unsigned i,
                                                     StringRef name) {
  if (std::optional<Shape> list = getInts(name))
    return list;
  if (!hasOperand(i))
    return std::optional<Shape>();
  FailureOr<Shape> list = getConstantInts(i, name);
  if (failed(list))
    return failure();
  return std::optional<Shape>(*list);
}

FailureOr<int64_t> NodeContext::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  return emitError() << "axis " << axis << " of " << node.op_type()
                     << " is out of range for rank " << rank;
}

FailureOr<Shape> NodeContext::normalizeAxes(ArrayRef<int64_t> axes,
                                            int64_t rank) {
  Shape result;
  for (int64_t axis : axes) {
    FailureOr<int64_t> positive = normalizeAxis(axis, rank);
    if (failed(positive))
      return failure();
    result.push_back(*positive);
  }
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

//===-- Results -----------------------------------------------------------===//

LogicalResult NodeContext::setResults(ArrayRef<Value> values) {
  results.assign(values.begin(), values.end());
  return success(!llvm::is_contained(values, Value()));
}

LogicalResult NodeContext::verifyAllRead() {
  bool allRead = true;
  for (int i = 0, e = node.attribute_size(); i < e; ++i)
    if (!readAttributes.test(i)) {
      emitError() << "attribute '" << node.attribute(i).name() << "' of "
                  << node.op_type() << " is not supported";
      allRead = false;
    }
  for (unsigned i = 0; i < operands.size(); ++i)
    if (operands[i] && !readOperands.test(i)) {
      emitError() << "operand " << i << " of " << node.op_type()
                  << " is not supported, found " << describe(i);
      allRead = false;
    }
  return success(allRead);
}
