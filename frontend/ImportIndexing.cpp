//===- ImportIndexing.cpp - operators that cut, add or mark elements ------===//

#include "frontend/ElementTypes.h"
#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

//===-- Slice -------------------------------------------------------------===//

namespace {
/// What Slice takes of one dim.
struct Range {
  int64_t start, size, step;
};
} // namespace

/// ONNX's rule: negative bounds count from the end, then bounds are clamped to
/// [0, size] for positive and [-1, size - 1] for negative steps.
static Range resolveRange(int64_t start, int64_t end, int64_t step,
                          int64_t size) {
  auto fromEnd = [&](int64_t bound) {
    return bound < 0 ? bound + size : bound;
  };
  if (step > 0) {
    start = std::clamp<int64_t>(fromEnd(start), 0, size);
    end = std::clamp<int64_t>(fromEnd(end), 0, size);
    return {start,
            std::max<int64_t>(llvm::divideCeilSigned(end - start, step), 0),
            step};
  }
  start = std::clamp<int64_t>(fromEnd(start), -1, size - 1);
  end = std::clamp<int64_t>(fromEnd(end), -1, size - 1);
  return {start,
          std::max<int64_t>(llvm::divideCeilSigned(end - start, step), 0),
          step};
}

/// Fails where a program would have to list more indices than is sensible.
static LogicalResult verifyListed(NodeContext &node, int64_t count) {
  constexpr int64_t kMost = 1 << 24;
  if (count <= kMost)
    return success();
  return node.emitError() << node.getNode().op_type() << " needs a list of "
                          << count << " indices; at most " << kMost
                          << " are supported";
}

/// A negative step takes indices: the IR's slice goes forward.
static Value takeBackward(NodeContext &node, Value x, int64_t dim,
                          Range range) {
  if (failed(verifyListed(node, range.size)))
    return nullptr;
  Shape indices;
  for (int64_t i = 0; i < range.size; ++i)
    indices.push_back(range.start + i * range.step);
  return node.gather(x, node.constant(indices), dim);
}

static LogicalResult importSlice(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  std::optional<Shape> lists[4];
  const char *names[] = {"starts", "ends", "axes", "steps"};
  for (unsigned i = 0; i < 4; ++i) {
    FailureOr<std::optional<Shape>> list = node.getList(i + 1, names[i]);
    if (failed(list))
      return failure();
    lists[i] = *list;
  }
  if (!lists[0] || !lists[1])
    return node.emitError() << "Slice has no starts or ends";
  size_t count = lists[0]->size();
  Shape axes = lists[2].value_or(getIota(count));
  Shape steps = lists[3].value_or(Shape(count, 1));
  if (lists[1]->size() != count || axes.size() != count ||
      steps.size() != count || llvm::is_contained(steps, 0))
    return node.emitError()
           << "Slice needs equally many starts, ends, axes and "
              "steps, none of them 0";
  int64_t rank = getShape(x).size();
  Shape starts(rank, 0), sizes(getShape(x)), strides(rank, 1);
  for (size_t i = 0; i < count; ++i) {
    FailureOr<int64_t> dim = node.normalizeAxis(axes[i], rank);
    if (failed(dim))
      return failure();
    Range range = resolveRange((*lists[0])[i], (*lists[1])[i], steps[i],
                               getShape(x)[*dim]);
    if (steps[i] < 0) {
      x = takeBackward(node, x, *dim, range);
      if (!x)
        return failure();
      range = {0, range.size, 1};
    }
    starts[*dim] = range.size ? range.start : 0;
    sizes[*dim] = range.size;
    strides[*dim] = range.step;
  }
  return node.setResults(node.slice(x, starts, sizes, strides));
}

//===-- Pad ---------------------------------------------------------------===//

/// Operand indices of a padded dim, where padding repeats elements.
static Shape getPadIndices(StringRef mode, int64_t size, int64_t low,
                           int64_t high) {
  Shape indices;
  int64_t period = std::max<int64_t>(2 * (size - 1), 1);
  for (int64_t i = -low; i < size + high; ++i) {
    if (mode == "edge")
      indices.push_back(std::clamp<int64_t>(i, 0, size - 1));
    else if (mode == "wrap")
      indices.push_back((i % size + size) % size);
    else
      indices.push_back(size - 1 -
                        std::abs(size - 1 - (i % period + period) % period));
  }
  return indices;
}

/// Low and high pads per dim; negative ones cut. Axes default to all.
static LogicalResult getPads(NodeContext &node, int64_t rank, Shape &low,
                             Shape &high) {
  FailureOr<std::optional<Shape>> pads = node.getList(1, "pads");
  FailureOr<std::optional<Shape>> list = node.getList(3, "axes");
  if (failed(pads) || failed(list))
    return failure();
  Shape axes = list->value_or(getIota(rank));
  if (!*pads || (*pads)->size() != 2 * axes.size())
    return node.emitError() << "Pad needs two pads per axis, found "
                            << (*pads ? (*pads)->size() : 0) << " for "
                            << axes.size() << " axes";
  low.assign(rank, 0);
  high.assign(rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    FailureOr<int64_t> dim = node.normalizeAxis(axis, rank);
    if (failed(dim))
      return failure();
    low[*dim] = (**pads)[i];
    high[*dim] = (**pads)[axes.size() + i];
  }
  return success();
}

/// Pads may cut no more than there is, and add no more than can be counted.
static LogicalResult verifyPads(NodeContext &node, ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  constexpr int64_t kMost = int64_t{1} << 40;
  for (auto [size, l, h] : llvm::zip(shape, low, high))
    if (l < -size || h < -size || l > kMost || h > kMost || size + l + h < 0)
      return node.emitError() << "Pad by " << l << " and " << h
                              << " does not fit " << node.describe(0);
  return success();
}

/// Cuts what negative pads cut; the pads that remain are not negative.
static Value crop(NodeContext &node, Value x, Shape &low, Shape &high) {
  Shape starts, sizes(getShape(x)), strides(low.size(), 1);
  for (auto [l, h, size] : llvm::zip(low, high, sizes)) {
    starts.push_back(std::max<int64_t>(-l, 0));
    size -= std::max<int64_t>(-l, 0) + std::max<int64_t>(-h, 0);
    l = std::max<int64_t>(l, 0);
    h = std::max<int64_t>(h, 0);
  }
  return node.slice(x, starts, sizes, strides);
}

static LogicalResult importPad(NodeContext &node) {
  Value x = node.getOperand(0);
  std::string mode = node.getString("mode", "constant");
  double value = node.getFloat("value", 0);
  Shape low, high;
  if (!x || failed(getPads(node, getShape(x).size(), low, high)) ||
      failed(verifyPads(node, getShape(x), low, high)))
    return failure();
  if (node.hasOperand(2)) {
    FailureOr<double> scalar = node.getConstantScalar(2, "constant_value");
    if (failed(scalar))
      return failure();
    value = *scalar;
  }
  x = crop(node, x, low, high);
  if (mode == "constant")
    return node.setResults(node.pad(x, low, high, value));
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return node.emitError() << "mode '" << mode << "' of Pad is not supported";
  for (auto [dim, l, h] : llvm::enumerate(low, high)) {
    if (l == 0 && h == 0)
      continue;
    if (x && getShape(x)[dim] == 0)
      return node.emitError()
             << "Pad cannot repeat elements of empty dim " << dim;
    if (x && failed(verifyListed(node, getShape(x)[dim] + l + h)))
      return failure();
    x = node.gather(
        x, node.constant(getPadIndices(mode, getShape(x)[dim], l, h)), dim);
    if (!x)
      return failure();
  }
  return node.setResults(x);
}

//===-- Comparisons with indices ------------------------------------------===//

static Value makeIndices(NodeContext &node, ArrayRef<int64_t> shape,
                         int64_t dim) {
  return node.iota(RankedTensorType::get(shape, node.getBuilder().getI64Type()),
                   dim);
}

/// Keeps row + k <= column (upper) or row + k >= column (lower), else 0.
static LogicalResult importTrilu(NodeContext &node) {
  Value x = node.getOperand(0);
  bool isUpper = node.getInt("upper", 1) != 0;
  FailureOr<double> k =
      node.hasOperand(1) ? node.getConstantScalar(1, "k") : 0.0;
  if (!x || failed(k))
    return failure();
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2)
    return node.emitError()
           << "Trilu needs rank 2 or more, found " << node.describe(0);
  ArrayRef<int64_t> matrix = shape.take_back(2);
  Value row = node.binary(BinaryKind::Add, makeIndices(node, matrix, 0), *k);
  Value column = makeIndices(node, matrix, 1);
  Value keep =
      node.compare(isUpper ? CompareKind::Le : CompareKind::Ge, row, column);
  return node.setResults(node.select(keep, x, node.splat(x, 0.0)));
}

/// 1 where column = row + k, else 0.
static LogicalResult importEyeLike(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x || getShape(x).size() != 2)
    return x ? node.emitError()
                   << "EyeLike needs a matrix, found " << node.describe(0)
             : failure();
  int32_t wanted = node.getInt("dtype", getOnnxType(getElement(x)));
  Type element = getElementType(node.getContext(), wanted);
  if (!element)
    return node.emitError()
           << "EyeLike of type " << getTypeName(wanted) << " is not supported";
  Value row = node.binary(BinaryKind::Add, makeIndices(node, getShape(x), 0),
                          node.getInt("k", 0));
  Value isOne =
      node.compare(CompareKind::Eq, row, makeIndices(node, getShape(x), 1));
  return node.setResults(node.cast(isOne, element));
}

/// values = [off, on]; indices out of [-depth, depth) give off everywhere.
static LogicalResult importOneHot(NodeContext &node) {
  Value indices = node.getOperand(0), values = node.getOperand(2);
  FailureOr<double> depth = node.getConstantScalar(1, "depth");
  if (!indices || !values || failed(depth))
    return failure();
  int64_t rank = getShape(indices).size();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), rank + 1);
  if (failed(axis))
    return failure();
  Type i64 = node.getBuilder().getI64Type();
  Value index = node.cast(indices, i64);
  Value wrapped = node.binary(BinaryKind::Add, index, *depth);
  index =
      node.select(node.compare(CompareKind::Lt, index, 0.0), wrapped, index);
  Shape shape(getShape(indices)), narrow(shape);
  shape.insert(shape.begin() + *axis, static_cast<int64_t>(*depth));
  narrow.insert(narrow.begin() + *axis, 1);
  Value isOn = node.compare(CompareKind::Eq, node.reshape(index, narrow),
                            makeIndices(node, shape, *axis));
  Value off = node.reshape(node.sliceDim(values, 0, 0, 1), {});
  Value on = node.reshape(node.sliceDim(values, 0, 1, 1), {});
  return node.setResults(node.select(isOn, on, off));
}

void cleave::registerIndexing(OperatorTable &table) {
  table.onOp("", "Slice", 1, importSlice);
  table.onOp("", "Pad", 2, importPad);
  table.onOp("", "Trilu", 14, importTrilu);
  table.onOp("", "EyeLike", 9, importEyeLike);
  table.onOp("", "OneHot", 9, importOneHot);
}
