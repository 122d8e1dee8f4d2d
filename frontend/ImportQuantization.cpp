//===- ImportQuantization.cpp - numbers of few bits and their scales ------===//
//
// A quantised number q stands for (q - zero point) * scale. All becomes
// arithmetic on floats and i32. Products of 8-bit integers are exact: f32 holds
// the sum of 256 of them, so that longer sums are cut into parts of that many,
// which are added in i32.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/OperatorTable.h"
#include "frontend/Products.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

//===-- Scales and zero points --------------------------------------------===//

/// A parameter of one value, one a slice along `axis` or one a block of such
/// slices, with the shape of x; null after an error.
static Value spread(NodeContext &node, Value x, Value parameter, int64_t axis,
                    int64_t block) {
  ArrayRef<int64_t> shape = getShape(x), given = getShape(parameter);
  if (getProduct(given) == 1)
    return node.broadcast(node.reshape(parameter, {}), shape);
  bool hasAxis = axis < static_cast<int64_t>(shape.size());
  if (hasAxis && given.size() == 1 && given[0] == shape[axis])
    return node.broadcast(parameter, shape, {axis});
  Shape blocks(shape);
  if (hasAxis && block > 0) {
    block = std::min(block, std::max<int64_t>(shape[axis], 1));
    blocks[axis] = llvm::divideCeil(shape[axis], block);
  }
  if (!hasAxis || block <= 0 || ArrayRef(blocks) != given) {
    node.emitError() << "shapes conflict: scales or zero points "
                     << formatShape(given) << " of " << node.getNode().op_type()
                     << " do not fit " << node.describe(0) << " along axis "
                     << axis;
    return nullptr;
  }
  Shape wide(blocks), dims = getIota(shape.size());
  wide.insert(wide.begin() + axis + 1, block);
  for (int64_t dim = axis + 1, e = dims.size(); dim < e; ++dim)
    ++dims[dim];
  Value repeated = node.broadcast(parameter, wide, dims);
  blocks[axis] *= block;
  repeated = node.reshape(repeated, blocks);
  return repeated ? node.sliceDim(repeated, axis, 0, shape[axis]) : nullptr;
}

namespace {
/// Along what scales and zero points vary.
struct Layout {
  int64_t axis, block;
};
} // namespace

static FailureOr<Layout> getLayout(NodeContext &node, Value x) {
  int64_t axis = node.getInt("axis", 1), rank = getShape(x).size();
  if (axis < -rank || axis > std::max<int64_t>(rank, 1))
    return node.normalizeAxis(axis, rank);
  return Layout{axis < 0 ? axis + rank : axis, node.getInt("block_size", 0)};
}

/// Numbers less their zero point, as i32.
static Value center(NodeContext &node, Value x, Value zeroPoint) {
  Type i32 = node.getBuilder().getI32Type();
  Value wide = node.cast(x, i32);
  return zeroPoint
             ? node.binary(BinaryKind::Sub, wide, node.cast(zeroPoint, i32))
             : wide;
}

/// round(x) + zero point, as near as `type` can hold it; x is of floats.
static Value saturate(NodeContext &node, Value x, Value zeroPoint, Type type) {
  if (!x || !zeroPoint)
    return nullptr;
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger();
  APInt least = isUnsigned ? APInt(width, 0) : APInt::getSignedMinValue(width);
  APInt largest =
      isUnsigned ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width);
  auto toDouble = [&](const APInt &value) {
    return value.roundToDouble(/*isSigned=*/!isUnsigned);
  };
  Value y = node.binary(BinaryKind::Add, node.unary(UnaryKind::Round, x),
                        node.cast(zeroPoint, getElement(x)));
  y = node.binary(BinaryKind::Max, y, toDouble(least));
  y = node.binary(BinaryKind::Min, y, toDouble(largest));
  return node.cast(y, type);
}

/// Integers of 8 or 16 bits.
static LogicalResult verifyQuantized(NodeContext &node, Type type) {
  if (isa<IntegerType>(type) &&
      (type.getIntOrFloatBitWidth() == 8 || type.getIntOrFloatBitWidth() == 16))
    return success();
  return node.emitError() << node.getNode().op_type() << " to " << type
                          << " is not supported: expected integers of 8 or 16 "
                             "bits";
}

//===-- QuantizeLinear, DequantizeLinear ----------------------------------===//

static LogicalResult importQuantize(NodeContext &node) {
  node.ignoreAttribute("saturate"); // Only for 8-bit floats.
  Value x = node.getOperand(0), scale = node.getOperand(1);
  int32_t wanted = node.getInt("output_dtype", 0);
  int32_t precision = node.getInt("precision", 0);
  if (!x || !scale)
    return failure();
  FailureOr<Layout> layout = getLayout(node, x);
  Type computed = precision ? getElementType(node.getContext(), precision)
                            : getElement(scale);
  Type type = getElementType(node.getContext(),
                             wanted ? wanted : onnx::TensorProto::UINT8);
  Value zeroPoint;
  if (node.hasOperand(2)) {
    zeroPoint = node.getOperand(2);
    type = getElement(zeroPoint);
  }
  if (failed(layout) || !type || !computed || !isa<FloatType>(computed))
    return failed(layout) ? failure()
                          : node.emitError()
                                << "QuantizeLinear of these types is not "
                                   "supported";
  if (failed(verifyQuantized(node, type)))
    return failure();
  x = node.cast(x, computed);
  scale =
      spread(node, x, node.cast(scale, computed), layout->axis, layout->block);
  zeroPoint = zeroPoint
                  ? spread(node, x, zeroPoint, layout->axis, layout->block)
                  : node.splat(RankedTensorType::get(getShape(x), type), 0);
  Value y = node.binary(BinaryKind::Div, x, scale);
  return node.setResults(saturate(node, y, zeroPoint, type));
}

static LogicalResult importDequantize(NodeContext &node) {
  Value x = node.getOperand(0), scale = node.getOperand(1);
  if (!x || !scale)
    return failure();
  FailureOr<Layout> layout = getLayout(node, x);
  if (failed(layout))
    return failure();
  Type type = getElement(scale);
  if (int32_t wanted = node.getInt("output_dtype", 0))
    type = getElementType(node.getContext(), wanted);
  if (!type || !isa<FloatType>(type) || !isa<IntegerType>(getElement(x)))
    return node.emitError()
           << "DequantizeLinear of " << node.describe(0) << ", of "
           << getElement(x)
           << ", is not supported: expected integers to floats";
  Value zeroPoint;
  if (node.hasOperand(2)) {
    zeroPoint =
        spread(node, x, node.getOperand(2), layout->axis, layout->block);
    if (!zeroPoint)
      return failure();
  }
  Value y = node.cast(center(node, x, zeroPoint), getElement(scale));
  scale = spread(node, x, scale, layout->axis, layout->block);
  return node.setResults(
      node.cast(node.binary(BinaryKind::Mul, y, scale), type));
}

//===-- Products ----------------------------------------------------------===//

/// Products of two numbers of 9 bits and sign whose sum f32 holds exactly.
static constexpr int64_t ExactTerms = 256;

/// Sums `product(start, size)`, of f32, over the parts of [0, count) with at
/// most `limit` indices, in i32.
static Value
sumParts(NodeContext &node, int64_t count, int64_t limit,
         function_ref<Value(int64_t start, int64_t size)> product) {
  Value sum;
  for (int64_t start = 0; start == 0 || start < count; start += limit) {
    Value part = product(start, std::min(limit, count - start));
    part = node.cast(part, node.getBuilder().getI32Type());
    sum = sum ? node.binary(BinaryKind::Add, sum, part) : part;
    if (!sum)
      return nullptr;
  }
  return sum;
}

/// The matrix product of i32 numbers of at most 9 bits, in i32.
static Value multiplyExactly(NodeContext &node, Value a, Value b) {
  if (!a || !b)
    return nullptr;
  Type f32 = node.getBuilder().getF32Type();
  a = node.cast(a, f32);
  b = node.cast(b, f32);
  int64_t aDim = static_cast<int64_t>(getShape(a).size()) - 1;
  int64_t bDim = std::max<int64_t>(getShape(b).size(), 2) - 2;
  bool fits = aDim >= 0 && !getShape(b).empty() &&
              getShape(a)[aDim] == getShape(b)[bDim];
  if (!fits) // Reports it.
    return multiply(node, a, b);
  return sumParts(node, getShape(a)[aDim], ExactTerms,
                  [&](int64_t start, int64_t size) {
                    return multiply(node, node.sliceDim(a, aDim, start, size),
                                    node.sliceDim(b, bDim, start, size));
                  });
}

/// The convolution of such numbers, in i32: parts have some channels of each
/// group.
static Value convolveExactly(NodeContext &node, Value x, Value weight,
                             unsigned weightAt) {
  if (!x || !weight)
    return nullptr;
  Type f32 = node.getBuilder().getF32Type();
  x = node.cast(x, f32);
  weight = node.cast(weight, f32);
  Shape shape(getShape(x));
  ArrayRef<int64_t> kernel = getShape(weight);
  int64_t groups = node.getInt("group", 1);
  int64_t taps = kernel.size() < 3 ? 1 : getProduct(kernel.drop_front(2));
  bool fits = kernel.size() >= 3 && kernel.size() == shape.size() &&
              groups > 0 && shape[1] == kernel[1] * groups;
  if (!fits || kernel[1] * taps <= ExactTerms) { // Reports what does not fit.
    Value result = convolve(node, x, weight, /*transposed=*/false, weightAt);
    return node.cast(result, node.getBuilder().getI32Type());
  }
  if (taps > ExactTerms) {
    node.emitError() << node.getNode().op_type() << " with a kernel of " << taps
                     << " elements is not supported: expected at most "
                     << ExactTerms;
    return nullptr;
  }
  Shape grouped(shape);
  grouped[1] = groups;
  grouped.insert(grouped.begin() + 2, kernel[1]);
  return sumParts(
      node, kernel[1], ExactTerms / taps, [&](int64_t start, int64_t size) {
        Value part = node.sliceDim(node.reshape(x, grouped), 2, start, size);
        Shape partShape(shape);
        partShape[1] = groups * size;
        return convolve(node, node.reshape(part, partShape),
                        node.sliceDim(weight, 1, start, size),
                        /*transposed=*/false, weightAt);
      });
}

/// One value a row of a matrix, or one for all, as [..., m, 1].
static Value makeColumn(NodeContext &node, Value perRow) {
  Shape shape(getShape(perRow));
  if (getProduct(shape) == 1)
    return node.reshape(perRow, {});
  if (shape.size() == 1)
    shape.push_back(1);
  return node.reshape(perRow, shape);
}

/// One value an output channel of a weight of such a rank, or one for all.
static Value makePerOutput(NodeContext &node, Value perOutput, int64_t rank) {
  if (getProduct(getShape(perOutput)) == 1)
    return node.reshape(perOutput, {});
  Shape shape(rank, 1);
  shape[0] = getProduct(getShape(perOutput));
  return node.reshape(perOutput, shape);
}

static Value getZeroPoint(NodeContext &node, unsigned i) {
  return node.hasOperand(i) ? node.getOperand(i) : Value();
}

/// Zero points of a are one a row, those of b one a column.
static LogicalResult importMatMulInteger(NodeContext &node) {
  Value a = node.getOperand(0), b = node.getOperand(1);
  Value aZero = getZeroPoint(node, 2), bZero = getZeroPoint(node, 3);
  if (!a || !b)
    return failure();
  aZero = aZero ? makeColumn(node, aZero) : aZero;
  return node.setResults(
      multiplyExactly(node, center(node, a, aZero), center(node, b, bZero)));
}

static LogicalResult importConvInteger(NodeContext &node) {
  Value x = node.getOperand(0), weight = node.getOperand(1);
  Value xZero = getZeroPoint(node, 2), weightZero = getZeroPoint(node, 3);
  if (!x || !weight)
    return failure();
  if (weightZero)
    weightZero = makePerOutput(node, weightZero, getShape(weight).size());
  return node.setResults(convolveExactly(node, center(node, x, xZero),
                                         center(node, weight, weightZero), 1));
}

/// sum * (aScale * bScale / yScale), rounded to the type of `zeroPoint`.
static LogicalResult finishProduct(NodeContext &node, Value sum, Value aScale,
                                   Value bScale) {
  Value yScale = node.getOperand(6), zeroPoint = node.getOperand(7);
  if (!sum || !yScale || !zeroPoint)
    return failure();
  Type type = getElement(zeroPoint), f32 = node.getBuilder().getF32Type();
  if (failed(verifyQuantized(node, type)))
    return failure();
  Value scale = node.binary(BinaryKind::Mul, node.cast(aScale, f32),
                            node.cast(bScale, f32));
  scale = node.binary(BinaryKind::Div, scale, node.cast(yScale, f32));
  Value y = node.binary(BinaryKind::Mul, node.cast(sum, f32), scale);
  return node.setResults(saturate(node, y, zeroPoint, type));
}

static LogicalResult importQLinearMatMul(NodeContext &node) {
  SmallVector<Value> v = node.getOperands();
  if (v.empty())
    return failure();
  Value sum = multiplyExactly(node, center(node, v[0], makeColumn(node, v[2])),
                              center(node, v[3], v[5]));
  return finishProduct(node, sum, makeColumn(node, v[1]), v[4]);
}

static LogicalResult importQLinearConv(NodeContext &node) {
  SmallVector<Value> v;
  for (unsigned i = 0; i < 8; ++i)
    v.push_back(node.getOperand(i));
  if (llvm::is_contained(v, Value()))
    return failure();
  int64_t rank = getShape(v[3]).size();
  Value sum =
      convolveExactly(node, center(node, v[0], v[2]),
                      center(node, v[3], makePerOutput(node, v[5], rank)), 3);
  sum = addBias(node, sum, 8);
  // Output channels are dim 1 of the result.
  Value scale = makePerOutput(node, v[4], rank - 1);
  return finishProduct(node, sum, node.reshape(v[1], {}), scale);
}

void cleave::registerQuantization(OperatorTable &table) {
  table.onOp("", "QuantizeLinear", 10, importQuantize);
  table.onOp("", "DequantizeLinear", 10, importDequantize);
  table.onOp("", "MatMulInteger", 10, importMatMulInteger);
  table.onOp("", "ConvInteger", 10, importConvInteger);
  table.onOp("", "QLinearMatMul", 10, importQLinearMatMul);
  table.onOp("", "QLinearConv", 10, importQLinearConv);
}
