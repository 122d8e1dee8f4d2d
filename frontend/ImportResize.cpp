//===- ImportResize.cpp - interpolation -----------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <algorithm>
#include <cmath>

using namespace cleave;
using namespace mlir;

namespace {
/// Per dim of the operand.
struct Target {
  Shape sizes;
  SmallVector<double> scales;
};
} // namespace

static FailureOr<ResizeKind> getKind(NodeContext &node) {
  std::string mode = node.getString("mode", "nearest");
  if (mode == "nearest")
    return ResizeKind::Nearest;
  if (mode == "linear" || mode == "bilinear")
    return ResizeKind::Linear;
  if (mode == "cubic")
    return ResizeKind::Cubic;
  return node.emitError() << "mode '" << mode << "' of "
                          << node.getNode().op_type() << " is not supported";
}

/// Sizes from scales are rounded down in single precision, as ONNX does.
static Target fromScales(ArrayRef<int64_t> shape, ArrayRef<double> scales) {
  Target target{Shape(shape), SmallVector<double>(scales)};
  for (auto [size, scale] : llvm::zip(target.sizes, scales))
    size = static_cast<int64_t>(
        std::floor(static_cast<float>(size) * static_cast<float>(scale)));
  return target;
}

static Target fromSizes(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes) {
  Target target{Shape(sizes), {}};
  for (auto [from, to] : llvm::zip(shape, sizes))
    target.scales.push_back(from ? static_cast<double>(to) / from : 1.0);
  return target;
}

/// Makes given sizes keep the aspect ratio of their dims: all get the least
/// scale
/// ("not_larger") or the largest ("not_smaller").
static void keepAspectRatio(NodeContext &node, ArrayRef<int64_t> shape,
                            Target &target) {
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  Shape axes = node.getInts("axes").value_or(getIota(shape.size()));
  if (policy == "stretch" || axes.empty())
    return;
  auto getScale = [&](int64_t axis) {
    return target.scales[axis < 0 ? axis + shape.size() : axis];
  };
  double scale = getScale(axes.front());
  for (int64_t axis : axes)
    scale = policy == "not_larger" ? std::min(scale, getScale(axis))
                                   : std::max(scale, getScale(axis));
  for (int64_t axis : axes) {
    size_t dim = axis < 0 ? axis + shape.size() : axis;
    target.scales[dim] = scale;
    target.sizes[dim] =
        static_cast<int64_t>(std::floor(scale * shape[dim] + 0.5));
  }
}

/// Spreads values for `axes` over all dims, the others having `otherwise`.
template <typename T>
static FailureOr<SmallVector<T>> spread(NodeContext &node, ArrayRef<T> values,
                                        ArrayRef<T> otherwise) {
  int64_t rank = otherwise.size();
  Shape axes = node.getInts("axes").value_or(getIota(rank));
  SmallVector<T> result(otherwise);
  if (values.size() != axes.size())
    return node.emitError() << "scales or sizes of " << node.getNode().op_type()
                            << " must be one per axis, found " << values.size()
                            << " for " << axes.size() << " axes";
  for (auto [axis, value] : llvm::zip(axes, values)) {
    FailureOr<int64_t> dim = node.normalizeAxis(axis, rank);
    if (failed(dim))
      return failure();
    result[*dim] = value;
  }
  return result;
}

/// Operands that some exporters leave empty count as left out.
static FailureOr<Target> getTarget(NodeContext &node, Value x,
                                   unsigned scalesAt, unsigned sizesAt) {
  ArrayRef<int64_t> shape = getShape(x);
  auto isEmpty = [&](unsigned i) {
    return !node.hasOperand(i) ||
           getTensorType(node.getOperand(i)).getNumElements() == 0;
  };
  if (!isEmpty(sizesAt)) {
    FailureOr<Shape> given = node.getConstantInts(sizesAt, "sizes");
    if (failed(given))
      return failure();
    FailureOr<Shape> sizes = spread<int64_t>(node, *given, shape);
    if (failed(sizes))
      return failure();
    (void)isEmpty(scalesAt);
    Target target = fromSizes(shape, *sizes);
    keepAspectRatio(node, shape, target);
    return target;
  }
  std::optional<SmallVector<double>> attribute = node.getFloats("scales");
  if (isEmpty(scalesAt) && !attribute)
    return node.emitError()
           << node.getNode().op_type() << " has neither scales nor sizes";
  FailureOr<SmallVector<double>> given =
      attribute ? *attribute : node.getConstantFloats(scalesAt, "scales");
  if (failed(given))
    return failure();
  FailureOr<SmallVector<double>> scales =
      spread<double>(node, *given, SmallVector<double>(shape.size(), 1.0));
  if (failed(scales))
    return failure();
  return fromScales(shape, *scales);
}

static LogicalResult makeResize(NodeContext &node, Value x,
                                const Target &target, ResizeKind kind,
                                StringRef coordinates, StringRef nearestMode) {
  if (llvm::any_of(target.sizes, [](int64_t size) { return size < 0; }))
    return node.emitError()
           << "sizes of " << node.getNode().op_type()
           << " must not be negative, found " << formatShape(target.sizes);
  auto type = RankedTensorType::get(target.sizes, getElement(x));
  return node.setResults(node.create<ResizeOp>(
      type, x, kind, target.scales, coordinates, nearestMode,
      APFloat(node.getFloat("cubic_coeff_a", -0.75))));
}

/// What changes the values and has no counterpart in the IR.
static LogicalResult verifyPlain(NodeContext &node, StringRef coordinates) {
  if (failed(node.requireInt("antialias", 0)) ||
      failed(node.requireInt("exclude_outside", 0)))
    return failure();
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (!llvm::is_contained({"stretch", "not_larger", "not_smaller"}, policy))
    return node.emitError() << "keep_aspect_ratio_policy '" << policy
                            << "' of Resize is not supported";
  if (!llvm::is_contained(
          {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"},
          coordinates))
    return node.emitError() << "coordinate_transformation_mode '" << coordinates
                            << "' of Resize is not supported";
  return success();
}

/// Operands: x, roi (only for a mode that is not supported), scales, sizes.
static LogicalResult importResize(NodeContext &node) {
  Value x = node.getOperand(0);
  FailureOr<ResizeKind> kind = getKind(node);
  if (!x || failed(kind))
    return failure();
  std::string coordinates =
      node.getString("coordinate_transformation_mode", "half_pixel");
  std::string nearest = node.getString("nearest_mode", "round_prefer_floor");
  if (failed(verifyPlain(node, coordinates)))
    return failure();
  node.ignoreOperand(1);
  node.ignoreAttribute("extrapolation_value"); // Only with a roi.
  FailureOr<Target> target = getTarget(node, x, 2, 3);
  if (failed(target))
    return failure();
  return makeResize(node, x, *target, *kind, coordinates, nearest);
}

/// Upsample, and Resize of opset 10: coordinates are divided by the scale, and
/// rounded down. Smaller results had no common meaning then.
static LogicalResult importUpsample(NodeContext &node) {
  Value x = node.getOperand(0);
  FailureOr<ResizeKind> kind = getKind(node);
  if (!x || failed(kind))
    return failure();
  FailureOr<Target> target = getTarget(node, x, 1, 2);
  if (failed(target))
    return failure();
  if (llvm::any_of(target->scales, [](double scale) { return scale < 1; }))
    return node.emitError()
           << node.getNode().op_type()
           << " by less than 1 is not supported before opset 11";
  return makeResize(node, x, *target, *kind, "asymmetric", "floor");
}

void cleave::registerResize(OperatorTable &table) {
  table.onOp("", "Upsample", 7, importUpsample);
  table.onOp("", "Resize", 10, importUpsample);
  table.onOp("", "Resize", 11, importResize);
}
