//===- Windows.cpp - what convolutions and poolings say of windows --------===//

#include "frontend/Windows.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

Shape Windows::getPads() const {
  Shape pads(low);
  llvm::append_range(pads, high);
  return pads;
}

void Windows::setPads(size_t i, int64_t total) {
  int64_t half = total / 2;
  low[i] = autoPad == "SAME_UPPER" ? half : total - half;
  high[i] = total - low[i];
}

LogicalResult cleave::verifySizes(NodeContext &node, StringRef what,
                                  ArrayRef<int64_t> sizes) {
  constexpr int64_t kMost = int64_t(1) << 30;
  auto isSensible = [](int64_t size) {
    return size >= -kMost && size <= kMost;
  };
  if (llvm::all_of(sizes, isSensible))
    return success();
  return node.emitError() << what << " of " << node.getNode().op_type()
                          << " must be at most 2^30, found "
                          << formatShape(sizes);
}

static LogicalResult verifyAutoPad(NodeContext &node, const Windows &windows) {
  if (llvm::is_contained({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"},
                         windows.autoPad))
    return success();
  return node.emitError()
         << "attribute 'auto_pad' of " << node.getNode().op_type()
         << " must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, "
            "found '"
         << windows.autoPad << "'";
}

FailureOr<Windows> cleave::getWindows(NodeContext &node,
                                      ArrayRef<int64_t> kernel) {
  Windows w;
  size_t rank = kernel.size();
  w.kernel.assign(kernel.begin(), kernel.end());
  w.strides = node.getInts("strides").value_or(Shape(rank, 1));
  w.dilations = node.getInts("dilations").value_or(Shape(rank, 1));
  Shape pads = node.getInts("pads").value_or(Shape(2 * rank, 0));
  w.autoPad = node.getString("auto_pad", "NOTSET");
  if (w.strides.size() != rank || w.dilations.size() != rank ||
      pads.size() != 2 * rank)
    return node.emitError()
           << "strides, dilations and pads of " << node.getNode().op_type()
           << " must fit " << rank << " spatial dims";
  auto isPositive = [](int64_t value) { return value > 0; };
  if (!llvm::all_of(w.kernel, isPositive) ||
      !llvm::all_of(w.strides, isPositive) ||
      !llvm::all_of(w.dilations, isPositive))
    return node.emitError()
           << "the kernel, strides and dilations of "
           << node.getNode().op_type() << " must be positive, found "
           << formatShape(w.kernel) << ", " << formatShape(w.strides) << " and "
           << formatShape(w.dilations);
  if (failed(verifySizes(node, "the kernel", w.kernel)) ||
      failed(verifySizes(node, "strides", w.strides)) ||
      failed(verifySizes(node, "dilations", w.dilations)) ||
      failed(verifySizes(node, "pads", pads)))
    return failure();
  w.low.assign(pads.begin(), pads.begin() + rank);
  w.high.assign(pads.begin() + rank, pads.end());
  if (failed(verifyAutoPad(node, w)))
    return failure();
  return w;
}

void cleave::resolvePads(Windows &windows, ArrayRef<int64_t> input) {
  if (windows.autoPad == "NOTSET")
    return;
  for (size_t i = 0; i < input.size(); ++i) {
    int64_t stride = windows.strides[i];
    int64_t output = llvm::divideCeil(input[i], stride);
    int64_t total = (output - 1) * stride + windows.getSpan(i) - input[i];
    windows.setPads(
        i, windows.autoPad == "VALID" ? 0 : std::max<int64_t>(total, 0));
  }
}

LogicalResult cleave::verifyPads(NodeContext &node, const Windows &windows) {
  Shape pads = windows.getPads();
  if (llvm::all_of(pads, [](int64_t pad) { return pad >= 0; }))
    return success();
  return node.emitError() << "pads of " << node.getNode().op_type()
                          << " must not be negative, found "
                          << formatShape(pads);
}
