//===- PoolWindows.h - what all ways to pool share -----------------------===//
//
// Ranges of the elements of a window that exist, and averages over them.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_POOLWINDOWS_H
#define CLEAVE_CODEGEN_KERNELS_POOLWINDOWS_H

#include "codegen/kernels/Template.h"

namespace cleave {

/// Combines two vectors of elements of windows.
inline mlir::Value combineWindow(Code &code, PoolOp op, mlir::Value x,
                                 mlir::Value y) {
  return buildCombine(code.b, code.loc, op.getReduction(),
                      op.getType().getElementType(), x, y);
}

/// Where the window of index `index` begins along a dim; may be negative.
inline mlir::Value getStart(Code &code, const PoolWindow &window,
                            mlir::Value index) {
  return code.sub(code.mul(index, window.stride), code.index(window.low));
}

/// Elements k of a window that begins at `start` with 0 <= start + k dilation <
/// end, as a range.
std::pair<mlir::Value, mlir::Value>
getTaps(Code &code, const PoolWindow &window, mlir::Value start, int64_t end);

/// Elements of that window which an average counts.
mlir::Value countTaps(Code &code, bool includePad, const PoolWindow &window,
                      mlir::Value start);

/// The average of `sum` over `count` elements, vectors of i64; of none it is 0.
mlir::Value divideByCount(Code &code, mlir::Value sum, mlir::Value count);

} // namespace cleave

#endif
