//===- ImportResize.cpp - interpolation -----------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"
#include "frontend/Resample.h"

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

/// A size that was computed. What no integer holds becomes one that no memory
/// does, which is refused where the tensor is made.
static int64_t toSize(double size) {
  return static_cast<int64_t>(std::min(std::floor(size), 0x1p62));
}

/// Sizes from scales are rounded down in single precision, as ONNX does.
static Target fromScales(ArrayRef<int64_t> shape, ArrayRef<double> scales) {
  Target target{Shape(shape), SmallVector<double>(scales)};
  for (auto [size, scale] : llvm::zip(target.sizes, scales))
    size = toSize(static_cast<float>(size) * static_cast<float>(scale));
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
    target.sizes[dim] = toSize(scale * shape[dim] + 0.5);
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
  for (double scale : *scales)
    if (!(scale > 0) || std::isinf(scale))
      return node.emitError()
             << "scales of " << node.getNode().op_type()
             << " must be positive and finite, found " << std::to_string(scale);
  return fromScales(shape, *scales);
}

static LogicalResult verifySizes(NodeContext &node, ArrayRef<int64_t> sizes) {
  if (llvm::none_of(sizes, [](int64_t size) { return size < 0; }))
    return success();
  return node.emitError() << "sizes of " << node.getNode().op_type()
                          << " must not be negative, found "
                          << formatShape(sizes);
}

static LogicalResult makeResize(NodeContext &node, Value x,
                                const Target &target, ResizeKind kind,
                                StringRef coordinates, StringRef nearestMode) {
  auto type = RankedTensorType::get(target.sizes, getElement(x));
  return node.setResults(node.create<ResizeOp>(
      type, x, kind, target.scales, coordinates, nearestMode,
      APFloat(node.getFloat("cubic_coeff_a", -0.75))));
}

/// Start and end per dim from operand 1, which has all starts, then all ends.
static LogicalResult readRoi(NodeContext &node, int64_t rank, Resampling &how) {
  FailureOr<SmallVector<double>> roi = node.getConstantFloats(1, "roi");
  if (failed(roi))
    return failure();
  size_t half = roi->size() / 2;
  FailureOr<SmallVector<double>> starts = spread<double>(
      node, ArrayRef(*roi).take_front(half), SmallVector<double>(rank, 0.0));
  FailureOr<SmallVector<double>> ends = spread<double>(
      node, ArrayRef(*roi).drop_front(half), SmallVector<double>(rank, 1.0));
  if (failed(starts) || failed(ends))
    return failure();
  for (auto [start, end] : llvm::zip(*starts, *ends))
    how.roi.push_back({start, end});
  return success();
}

static FailureOr<Resampling> getResampling(NodeContext &node, Value x) {
  FailureOr<ResizeKind> kind = getKind(node);
  if (failed(kind))
    return failure();
  Resampling how{*kind,
                 node.getString("coordinate_transformation_mode", "half_pixel"),
                 node.getString("nearest_mode", "round_prefer_floor"),
                 node.getFloat("cubic_coeff_a", -0.75),
                 node.getFloat("extrapolation_value", 0),
                 node.getInt("antialias", 0) != 0,
                 node.getInt("exclude_outside", 0) != 0,
                 {}};
  std::string policy = node.getString("keep_aspect_ratio_policy", "stretch");
  if (!llvm::is_contained({"stretch", "not_larger", "not_smaller"}, policy))
    return node.emitError() << "keep_aspect_ratio_policy '" << policy
                            << "' of Resize is not supported";
  if (!llvm::is_contained({"half_pixel", "pytorch_half_pixel", "align_corners",
                           "asymmetric", "half_pixel_symmetric",
                           "tf_crop_and_resize"},
                          how.coordinates))
    return node.emitError()
           << "coordinate_transformation_mode '" << how.coordinates
           << "' of Resize is not supported";
  node.ignoreOperand(1);
  if (how.coordinates == "tf_crop_and_resize" &&
      failed(readRoi(node, getShape(x).size(), how)))
    return failure();
  return how;
}

/// What the IR's resize does not have.
static bool needsMatrices(const Resampling &how) {
  return how.antialias || how.excludeOutside ||
         how.coordinates == "half_pixel_symmetric" ||
         how.coordinates == "tf_crop_and_resize";
}

/// Operands: x, roi, scales, sizes.
static LogicalResult importResize(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  FailureOr<Resampling> how = getResampling(node, x);
  if (failed(how))
    return failure();
  FailureOr<Target> target = getTarget(node, x, 2, 3);
  if (failed(target) || failed(verifySizes(node, target->sizes)))
    return failure();
  if (needsMatrices(*how))
    return node.setResults(
        resample(node, x, target->sizes, target->scales, *how));
  return makeResize(node, x, *target, how->kind, how->coordinates,
                    how->nearestMode);
}

/// Upsample, and Resize of opset 10: coordinates are divided by the scale, and
/// rounded down. Smaller results had no common meaning then.
static LogicalResult importUpsample(NodeContext &node) {
  Value x = node.getOperand(0);
  FailureOr<ResizeKind> kind = getKind(node);
  if (!x || failed(kind))
    return failure();
  FailureOr<Target> target = getTarget(node, x, 1, 2);
  if (failed(target) || failed(verifySizes(node, target->sizes)))
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
