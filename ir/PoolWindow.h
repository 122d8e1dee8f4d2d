//===- PoolWindow.h - the windows of a pooling along one dim --------------===//
//
// Window i covers the positions i * stride - low + k * dilation, k in [0,
// kernel), of an input of `size` elements with `low` and `high` elements of
// padding around it.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_POOLWINDOW_H
#define CLEAVE_IR_POOLWINDOW_H

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>

namespace cleave {

struct PoolWindow {
  int64_t size, kernel, stride, dilation, low, high;
  bool ceil; ///< the last window may stick out of the padded input

  /// Elements from the first to the last of a window.
  int64_t getSpan() const { return dilation * (kernel - 1) + 1; }

  /// Number of windows; -1: a window is larger than the padded input. With
  /// `ceil`, one that would start in the high padding does not count, as ONNX
  /// MaxPool says.
  int64_t getCount() const {
    int64_t rest = size + low + high - getSpan();
    if (rest < 0)
      return -1;
    int64_t count = (rest + (ceil ? stride - 1 : 0)) / stride + 1;
    return ceil && (count - 1) * stride >= size + low ? count - 1 : count;
  }

  /// Elements of window i that exist, with `includePad` those of the padding
  /// too.
  int64_t getElements(int64_t i, bool includePad) const {
    int64_t start = i * stride - low, end = includePad ? size + high : size;
    auto below = [&](int64_t limit) { // elements before position `limit`
      return std::clamp<int64_t>(
          llvm::divideCeil(std::max<int64_t>(limit - start, 0), dilation), 0,
          kernel);
    };
    return below(end) - (includePad ? 0 : below(0));
  }
};

} // namespace cleave

#endif
