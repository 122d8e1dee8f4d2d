//===- ResizeTaps.h - what interpolation reads ----------------------------===//
//
// Interpolation is separable: along a dim, an index of the result is a weighted
// sum of a few indices of the operand ("taps": 1 nearest, 2 linear, 4 cubic).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_RESIZETAPS_H
#define CLEAVE_IR_RESIZETAPS_H

#include "ir/Movement.h"

namespace cleave {

/// Per tap and index of the result: an index of the operand and its weight.
struct ResizeTaps {
  int64_t count = 0;
  llvm::SmallVector<llvm::SmallVector<int64_t>> indices;
  llvm::SmallVector<llvm::SmallVector<double>> weights;
};

/// Of `dim`. Formulas: ONNX Resize, coordinate_transformation_mode and mode.
ResizeTaps getResizeTaps(ResizeOp op, int64_t dim);

} // namespace cleave

#endif
