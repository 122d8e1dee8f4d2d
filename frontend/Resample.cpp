//===- Resample.cpp - interpolation by matrices ---------------------------===//
//
// Each element of the result is a weighted sum of elements along a dim. Weights
// and coordinates: ONNX's text of Resize; the filter that is stretched when a
// result is smaller (antialias) is that of PIL.
//
//===----------------------------------------------------------------------===//

#include "frontend/Resample.h"

#include <algorithm>
#include <cmath>

using namespace cleave;
using namespace mlir;

namespace {

/// One dim: `from` elements become `to`.
struct Axis {
  int64_t from, to;
  double scale;
  std::pair<double, double> roi;
};

} // namespace

/// Where element i of the result lies among those of the operand.
static double getCoordinate(const Axis &axis, StringRef mode, int64_t i) {
  double last = axis.from - 1.0;
  double center = (i + 0.5) / axis.scale - 0.5;
  if (mode == "align_corners")
    return axis.to > 1 ? i * last / (axis.to - 1.0) : 0;
  if (mode == "asymmetric")
    return i / axis.scale;
  if (mode == "pytorch_half_pixel")
    return axis.to > 1 ? center : 0;
  if (mode == "half_pixel_symmetric") {
    double adjustment = axis.to / (axis.scale * axis.from);
    return axis.from / 2.0 * (1 - adjustment) + center;
  }
  if (mode == "tf_crop_and_resize") {
    auto [start, end] = axis.roi;
    return axis.to > 1
               ? start * last + i * (end - start) * last / (axis.to - 1.0)
               : 0.5 * (start + end) * last;
  }
  return center; // half_pixel
}

/// Keys' cubic filter, or a triangle, at a distance from its middle.
static double getFilter(const Resampling &how, double distance) {
  double d = std::abs(distance), a = how.cubicCoeff;
  if (how.kind == ResizeKind::Linear)
    return std::max(1 - d, 0.0);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static int64_t getNearest(StringRef mode, double x) {
  if (mode == "floor")
    return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil")
    return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(mode == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                          : std::ceil(x - 0.5));
}

/// Weights of all elements for the coordinate x. Beyond the ends the last
/// element is repeated, or left out.
static SmallVector<double> getWeights(const Axis &axis, const Resampling &how,
                                      double x) {
  SmallVector<double> weights(axis.from, 0.0);
  auto clamp = [&](int64_t i) {
    return std::clamp<int64_t>(i, 0, axis.from - 1);
  };
  if (how.kind == ResizeKind::Nearest) {
    weights[clamp(getNearest(how.nearestMode, x))] = 1;
    return weights;
  }
  double stretch = how.antialias ? std::min(axis.scale, 1.0) : 1.0;
  double radius = (how.kind == ResizeKind::Linear ? 1 : 2) / stretch;
  double sum = 0;
  for (auto i = static_cast<int64_t>(std::floor(x - radius));
       i <= std::ceil(x + radius); ++i) {
    if (how.excludeOutside && (i < 0 || i >= axis.from))
      continue;
    double weight = getFilter(how, (i - x) * stretch);
    weights[clamp(i)] += weight;
    sum += weight;
  }
  for (double &weight : weights)
    weight /= sum;
  return weights;
}

/// A matrix has at most this many elements.
static constexpr int64_t MaxMatrixElements = 1 << 24;

/// [to, from]; null after an error.
static Value makeMatrix(NodeContext &node, const Axis &axis,
                        const Resampling &how, FloatType element) {
  if (axis.to > MaxMatrixElements / axis.from) {
    node.emitError() << "Resize of " << axis.from << " elements to " << axis.to
                     << " is not supported with these attributes";
    return nullptr;
  }
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < axis.to; ++i)
    for (double weight :
         getWeights(axis, how, getCoordinate(axis, how.coordinates, i)))
      values.push_back(FloatAttr::get(element, weight));
  auto type = RankedTensorType::get({axis.to, axis.from}, element);
  return node.constant(DenseElementsAttr::get(type, values));
}

/// Puts the value for what lies outside where the coordinate does.
static Value extrapolate(NodeContext &node, Value x, int64_t dim,
                         const Axis &axis, const Resampling &how) {
  SmallVector<bool> isInside;
  for (int64_t i = 0; i < axis.to; ++i) {
    double at = getCoordinate(axis, how.coordinates, i);
    isInside.push_back(at >= 0 && at <= axis.from - 1.0);
  }
  if (!x || llvm::all_of(isInside, [](bool inside) { return inside; }))
    return x;
  Shape shape(getShape(x).size(), 1);
  shape[dim] = axis.to;
  auto type = RankedTensorType::get(shape, node.getBuilder().getI1Type());
  Value mask = node.constant(DenseElementsAttr::get(type, isInside));
  return node.select(mask, x, node.splat(x, how.extrapolationValue));
}

Value cleave::resample(NodeContext &node, Value x, ArrayRef<int64_t> sizes,
                       ArrayRef<double> scales, const Resampling &how) {
  auto element = dyn_cast<FloatType>(getElement(x));
  if (!element || llvm::is_contained(getShape(x), 0)) {
    node.emitError() << "Resize with these attributes is supported for floats, "
                        "found "
                     << getTensorType(x);
    return nullptr;
  }
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    Axis axis{getShape(x)[dim], size, scales[dim], {0, 1}};
    if (how.coordinates == "tf_crop_and_resize")
      axis.roi = how.roi[dim];
    if (axis.from == axis.to && axis.scale == 1 &&
        axis.roi == std::pair(0.0, 1.0))
      continue;
    Shape perm = getIota(sizes.size() - 1);
    perm.insert(perm.begin() + dim, sizes.size() - 1);
    Value matrix = makeMatrix(node, axis, how, element);
    x = node.dot(x, matrix, {}, {}, {static_cast<int64_t>(dim)}, {1});
    x = x ? node.transpose(x, perm) : nullptr;
    if (how.coordinates == "tf_crop_and_resize")
      x = extrapolate(node, x, dim, axis, how);
    if (!x)
      return nullptr;
  }
  return x;
}
