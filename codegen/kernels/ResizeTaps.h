//===- ResizeTaps.h - what an element of a resized dim reads --------------===//
//
// An output index reads a few input indices ("taps": 1 nearest, 2 linear, 4
// cubic) with weights; both are constant tables, computed in double precision.
//
// Formulas: ONNX Resize, coordinate_transformation_mode and mode.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_RESIZETAPS_H
#define CLEAVE_CODEGEN_KERNELS_RESIZETAPS_H

#include "codegen/kernels/Template.h"

namespace cleave {

/// The tables of one tap, by output index.
struct TapViews {
  View indices; ///< i64
  View weights; ///< of the compute type; f32 for integers
};

/// The dims that a resize changes; never none.
llvm::SmallVector<int64_t> getResizedDims(ResizeOp op);

/// The tables of a dim, tap by tap.
llvm::SmallVector<TapViews> makeTapViews(Code &code, ResizeOp op, int64_t dim);

} // namespace cleave

#endif
