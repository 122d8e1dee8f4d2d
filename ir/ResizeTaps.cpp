//===- ResizeTaps.cpp - what interpolation reads --------------------------===//

#include "ir/ResizeTaps.h"

#include <algorithm>
#include <cmath>

using namespace cleave;
using namespace mlir;

SmallVector<int64_t> ResizeOp::getResizedDims() {
  SmallVector<int64_t> dims;
  for (auto [dim, scale] : llvm::enumerate(getScales()))
    if (getX().getType().getDimSize(dim) != getType().getDimSize(dim) ||
        scale != 1.0)
      dims.push_back(dim);
  return dims;
}

static double getCoordinate(StringRef mode, int64_t output, int64_t inSize,
                            int64_t outSize, double scale) {
  if (mode == "align_corners")
    return outSize > 1 ? double(output) * (inSize - 1) / (outSize - 1) : 0.0;
  if (mode == "asymmetric")
    return output / scale;
  if (mode == "pytorch_half_pixel" && outSize == 1)
    return 0.0;
  return (output + 0.5) / scale - 0.5;
}

static double roundNearest(StringRef mode, double x) {
  if (mode == "floor")
    return std::floor(x);
  if (mode == "ceil")
    return std::ceil(x);
  if (mode == "round_prefer_ceil")
    return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

/// Keys' cubic convolution with parameter a, at 1 + t, t, 1 - t and 2 - t.
static SmallVector<double> getCubicWeights(double t, double a) {
  auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [&](double x) { return ((x - 5) * x + 8) * x * a - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

ResizeTaps cleave::getResizeTaps(ResizeOp op, int64_t dim) {
  int64_t inSize = op.getX().getType().getDimSize(dim);
  int64_t outSize = op.getType().getDimSize(dim);
  ResizeTaps taps;
  taps.count = op.getKind() == ResizeKind::Nearest  ? 1
               : op.getKind() == ResizeKind::Linear ? 2
                                                    : 4;
  taps.indices.resize(taps.count);
  taps.weights.resize(taps.count);
  for (int64_t output = 0; output < outSize; ++output) {
    double x = getCoordinate(op.getCoordinates(), output, inSize, outSize,
                             op.getScales()[dim]);
    double low = std::floor(x);
    SmallVector<double> weights = {1.0};
    if (op.getKind() == ResizeKind::Nearest)
      low = roundNearest(op.getNearestMode(), x);
    if (op.getKind() == ResizeKind::Linear)
      weights = {1 - (x - low), x - low};
    if (op.getKind() == ResizeKind::Cubic) {
      weights = getCubicWeights(x - low, op.getCubicCoeff().convertToDouble());
      low -= 1;
    }
    for (int64_t tap = 0; tap < taps.count; ++tap) {
      int64_t index = int64_t(low) + tap;
      taps.indices[tap].push_back(std::clamp<int64_t>(index, 0, inSize - 1));
      taps.weights[tap].push_back(weights[tap]);
    }
  }
  return taps;
}
