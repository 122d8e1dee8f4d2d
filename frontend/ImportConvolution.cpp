//===- ImportConvolution.cpp - convolutions -------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

namespace {
/// What Conv and ConvTranspose say of the spatial dims.
struct Window {
  Shape kernel, strides, dilations, outputPadding;
  Shape low, high; ///< pads
  int64_t groups;
  std::string autoPad;

  /// Elements that the kernel spans.
  int64_t getSpan(size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};
} // namespace

/// Reads the attributes; `kernel` is that of the weight.
static FailureOr<Window> getWindow(NodeContext &node,
                                   ArrayRef<int64_t> kernel) {
  Window w;
  size_t rank = kernel.size();
  w.kernel.assign(kernel.begin(), kernel.end());
  w.strides = node.getInts("strides").value_or(Shape(rank, 1));
  w.dilations = node.getInts("dilations").value_or(Shape(rank, 1));
  w.outputPadding = node.getInts("output_padding").value_or(Shape(rank, 0));
  Shape pads = node.getInts("pads").value_or(Shape(2 * rank, 0));
  w.groups = node.getInt("group", 1);
  w.autoPad = node.getString("auto_pad", "NOTSET");
  Shape given = node.getInts("kernel_shape").value_or(w.kernel);
  if (given != w.kernel)
    return node.emitError()
           << "shapes conflict: kernel_shape is " << formatShape(given)
           << ", the weight is " << node.describe(1);
  if (w.strides.size() != rank || w.dilations.size() != rank ||
      w.outputPadding.size() != rank || pads.size() != 2 * rank)
    return node.emitError()
           << "strides, dilations and pads of " << node.getNode().op_type()
           << " must fit " << rank << " spatial dims";
  w.low.assign(pads.begin(), pads.begin() + rank);
  w.high.assign(pads.begin() + rank, pads.end());
  return w;
}

/// Splits a total pad in halves; an odd one goes to the end for SAME_UPPER.
static void setPads(Window &w, size_t i, int64_t total) {
  int64_t half = total / 2;
  bool isUpper = w.autoPad == "SAME_UPPER";
  w.low[i] = isUpper ? half : total - half;
  w.high[i] = total - w.low[i];
}

static LogicalResult verifyAutoPad(NodeContext &node, const Window &w) {
  if (llvm::is_contained({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"},
                         w.autoPad))
    return success();
  return node.emitError()
         << "attribute 'auto_pad' of " << node.getNode().op_type()
         << " must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, "
            "found '"
         << w.autoPad << "'";
}

/// SAME: as many outputs as strides in the input, rounded up.
static void resolveConvPads(Window &w, ArrayRef<int64_t> input) {
  for (size_t i = 0; i < input.size(); ++i) {
    if (w.autoPad == "NOTSET")
      continue;
    int64_t output = llvm::divideCeil(input[i], w.strides[i]);
    int64_t total = (output - 1) * w.strides[i] + w.getSpan(i) - input[i];
    setPads(w, i, w.autoPad == "VALID" ? 0 : std::max<int64_t>(total, 0));
  }
}

/// The result's size is given by output_shape, or by SAME (input times stride).
static LogicalResult resolveTransposedPads(NodeContext &node, Window &w,
                                           ArrayRef<int64_t> input) {
  std::optional<Shape> wanted = node.getInts("output_shape");
  // Some exporters give the result's batch and channels too.
  if (wanted && wanted->size() == input.size() + 2)
    wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (wanted && wanted->size() != input.size())
    return node.emitError()
           << "output_shape of ConvTranspose must fit " << input.size()
           << " spatial dims, found " << formatShape(*wanted);
  for (size_t i = 0; i < input.size(); ++i) {
    if (w.autoPad == "VALID")
      setPads(w, i, 0);
    bool isSame = w.autoPad.rfind("SAME", 0) == 0;
    if (!wanted && !isSame)
      continue;
    int64_t size = wanted ? (*wanted)[i] : input[i] * w.strides[i];
    int64_t total = w.strides[i] * (input[i] - 1) + w.outputPadding[i] +
                    w.getSpan(i) - size;
    // A larger result has its extra elements at the end.
    w.outputPadding[i] += std::max<int64_t>(-total, 0);
    setPads(w, i, std::max<int64_t>(total, 0));
  }
  return success();
}

/// Adds the bias, one value a channel.
static Value addBias(NodeContext &node, Value result) {
  if (!node.hasOperand(2) || !result)
    return result;
  Value bias = node.getOperand(2);
  if (getShape(bias) != getShape(result).slice(1, 1)) {
    node.emitError() << "shapes conflict: the bias " << node.describe(2)
                     << " does not fit " << getShape(result)[1] << " channels";
    return nullptr;
  }
  return node.binary(BinaryKind::Add, result,
                     node.broadcast(bias, getShape(result), {1}));
}

static LogicalResult importConv(NodeContext &node, bool transposed) {
  Value x = node.getOperand(0), weight = node.getOperand(1);
  if (!x || !weight)
    return failure();
  ArrayRef<int64_t> input = getShape(x), kernel = getShape(weight);
  int64_t rank = input.size();
  if (rank < 3 || rank > 5 || kernel.size() != input.size())
    return node.emitError() << "shapes conflict: cannot convolve "
                            << node.describe(0) << " with " << node.describe(1)
                            << ": expected 1 to 3 spatial dims in both";
  FailureOr<Window> window = getWindow(node, kernel.drop_front(2));
  if (failed(window) || failed(verifyAutoPad(node, *window)))
    return failure();
  int64_t groups = window->groups;
  int64_t channels = transposed ? kernel[0] : kernel[1] * groups;
  if (groups < 1 || input[1] != channels || kernel[0] % groups != 0)
    return node.emitError()
           << "shapes conflict: the channels of " << node.describe(0) << " and "
           << node.describe(1) << " do not fit " << groups << " groups";
  if (!transposed)
    resolveConvPads(*window, input.drop_front(2));
  else if (failed(resolveTransposedPads(node, *window, input.drop_front(2))))
    return failure();
  Shape pads(window->low);
  llvm::append_range(pads, window->high);
  if (llvm::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return node.emitError()
           << "pads of " << node.getNode().op_type()
           << " must not be negative, found " << formatShape(pads);
  Value result = node.create<ConvOp>(nullptr, x, weight, window->strides, pads,
                                     window->dilations, window->outputPadding,
                                     groups, transposed);
  return node.setResults(addBias(node, result));
}

void cleave::registerConvolution(OperatorTable &table) {
  table.onOp("", "Conv", 1,
             [](NodeContext &node) { return importConv(node, false); });
  table.onOp("", "ConvTranspose", 1,
             [](NodeContext &node) { return importConv(node, true); });
}
