//===- Resample.h - interpolation by matrices -----------------------------===//

#ifndef CLEAVE_FRONTEND_RESAMPLE_H
#define CLEAVE_FRONTEND_RESAMPLE_H

#include "frontend/NodeContext.h"

namespace cleave {

/// What ONNX Resize says beside sizes; names are those of its attributes.
struct Resampling {
  ResizeKind kind;
  std::string coordinates, nearestMode;
  double cubicCoeff = -0.75, extrapolationValue = 0;
  bool antialias = false, excludeOutside = false;
  /// Start and end per dim, in parts of its length; for tf_crop_and_resize.
  llvm::SmallVector<std::pair<double, double>> roi;
};

/// Resizes the float tensor x, dim by dim, by products with constant matrices:
/// for what the IR's resize does not have.
mlir::Value resample(NodeContext &node, mlir::Value x,
                     llvm::ArrayRef<int64_t> sizes,
                     llvm::ArrayRef<double> scales, const Resampling &how);

} // namespace cleave

#endif
