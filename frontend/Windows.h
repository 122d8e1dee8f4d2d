//===- Windows.h - what convolutions and poolings say of windows ----------===//

#ifndef CLEAVE_FRONTEND_WINDOWS_H
#define CLEAVE_FRONTEND_WINDOWS_H

#include "frontend/NodeContext.h"

namespace cleave {

/// Sizes and steps of a window, one entry per spatial dim.
struct Windows {
  Shape kernel, strides, dilations;
  Shape low, high; ///< pads
  std::string autoPad;

  /// Elements that the kernel spans.
  int64_t getSpan(size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
  /// Low pads, then high pads.
  Shape getPads() const;
  /// Splits a total pad in halves; an odd one goes to the end for SAME_UPPER.
  void setPads(size_t i, int64_t total);
};

/// Reports sizes of which products could overflow; `what` names them.
mlir::LogicalResult verifySizes(NodeContext &node, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> sizes);

/// Reads strides, dilations, pads and auto_pad of a node with such a kernel;
/// pads are those given. Fails after an error.
mlir::FailureOr<Windows> getWindows(NodeContext &node,
                                    llvm::ArrayRef<int64_t> kernel);

/// Sets the pads of windows that go over `input`, the spatial sizes, if
/// auto_pad says so. SAME: as many windows as strides in the input, rounded up.
void resolvePads(Windows &windows, llvm::ArrayRef<int64_t> input);

/// Reports pads that are negative.
mlir::LogicalResult verifyPads(NodeContext &node, const Windows &windows);

} // namespace cleave

#endif
