//===- ResizeTaps.h - what an element of a resized dim reads --------------===//
//
// The taps of ir/ResizeTaps.h as constant tables.
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
