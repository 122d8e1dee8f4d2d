//===- ImportShape.cpp - constants and questions about shapes -------------===//
//
// All shapes are static here, so questions about them are constants.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <algorithm>
#include <cmath>

using namespace cleave;
using namespace mlir;

//===-- Constants ---------------------------------------------------------===//

static LogicalResult importConstant(NodeContext &node) {
  Builder &b = node.getBuilder();
  if (const onnx::TensorProto *tensor = node.getTensor("value"))
    return node.setResults(node.getTensors().import(
        node.getBuilder(), node.getLoc(), *tensor, node.getNode().output(0)));
  if (const auto *value = node.getAttribute("value_int"))
    return node.setResults(
        node.splat(RankedTensorType::get({}, b.getI64Type()), value->i()));
  if (const auto *value = node.getAttribute("value_float"))
    return node.setResults(
        node.splat(RankedTensorType::get({}, b.getF32Type()), value->f()));
  if (std::optional<Shape> values = node.getInts("value_ints"))
    return node.setResults(node.constant(*values));
  if (const auto *value = node.getAttribute("value_floats")) {
    auto type = RankedTensorType::get(value->floats_size(), b.getF32Type());
    ArrayRef<float> floats(value->floats().data(), value->floats_size());
    return node.setResults(node.constant(DenseElementsAttr::get(type, floats)));
  }
  return node.emitError() << "Constant has no value of a supported kind: "
                             "expected a tensor, numbers or a number";
}

/// A splat of the one element of `value`, by default the float 0.
static LogicalResult importConstantOfShape(NodeContext &node) {
  FailureOr<Shape> shape = node.getConstantInts(0, "shape");
  if (failed(shape))
    return failure();
  DenseElementsAttr value = DenseElementsAttr::get(
      RankedTensorType::get({1}, node.getBuilder().getF32Type()), 0.0f);
  if (const onnx::TensorProto *tensor = node.getTensor("value"))
    value = node.getTensors().readElements(node.getLoc(), *tensor);
  if (!value)
    return failure();
  if (value.getNumElements() != 1 ||
      llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return node.emitError()
           << "ConstantOfShape needs one value and sizes that are "
              "not negative, found "
           << value.getNumElements() << " values and shape "
           << formatShape(*shape);
  auto type = RankedTensorType::get(*shape, value.getElementType());
  if (type.getNumElements() == 0)
    return node.setResults(
        node.constant(DenseElementsAttr::get(type, ArrayRef<Attribute>())));
  return node.setResults(node.constant(
      DenseElementsAttr::get(type, *value.value_begin<Attribute>())));
}

//===-- Shape, Size -------------------------------------------------------===//

static LogicalResult importShape(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rank = shape.size();
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = clamp(node.getInt("end", rank));
  return node.setResults(
      node.constant(shape.slice(start, std::max<int64_t>(end - start, 0))));
}

static LogicalResult importSize(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  auto type = RankedTensorType::get({}, node.getBuilder().getI64Type());
  return node.setResults(node.constant(
      DenseElementsAttr::get(type, getTensorType(x).getNumElements())));
}

//===-- Range -------------------------------------------------------------===//

/// start + i delta for i in [0, ceil((limit - start) / delta)), not less than
/// 0.
static LogicalResult importRange(NodeContext &node) {
  double bounds[3];
  const char *names[] = {"start", "limit", "delta"};
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<double> value = node.getConstantScalar(i, names[i]);
    if (failed(value))
      return failure();
    bounds[i] = *value;
  }
  auto [start, limit, delta] = bounds;
  if (delta == 0)
    return node.emitError() << "the delta of Range must not be 0";
  auto count =
      static_cast<int64_t>(std::max(std::ceil((limit - start) / delta), 0.0));
  Type element = getElement(node.getOperand(0));
  auto type = RankedTensorType::get({count}, element);
  if (isa<IntegerType>(element) && count <= MaxIntegerElements) {
    SmallVector<APInt> values;
    for (int64_t i = 0; i < count; ++i)
      values.emplace_back(
          element.getIntOrFloatBitWidth(),
          static_cast<int64_t>(start) + i * static_cast<int64_t>(delta), true);
    return node.setResults(node.constant(DenseElementsAttr::get(type, values)));
  }
  auto indexType =
      RankedTensorType::get({count}, node.getBuilder().getI64Type());
  Value index = node.cast(node.iota(indexType, 0), element);
  Value scaled = node.binary(BinaryKind::Mul, index, delta);
  return node.setResults(node.binary(BinaryKind::Add, scaled, start));
}

void cleave::registerShape(OperatorTable &table) {
  table.onOp("", "Constant", 1, importConstant);
  table.onOp("", "ConstantOfShape", 9, importConstantOfShape);
  table.onOp("", "Shape", 1, importShape);
  table.onOp("", "Size", 1, importSize);
  table.onOp("", "Range", 11, importRange);
}
