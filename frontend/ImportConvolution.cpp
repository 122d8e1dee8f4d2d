//===- ImportConvolution.cpp - convolutions -------------------------------===//

#include "frontend/OperatorTable.h"
#include "frontend/Products.h"
#include "frontend/Windows.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

namespace {
/// What Conv and ConvTranspose say beside the weight.
struct Convolution : Windows {
  Shape outputPadding;
  int64_t groups;
};
} // namespace

/// Reads the attributes; `kernel` is that of the weight.
static FailureOr<Convolution>
getConvolution(NodeContext &node, ArrayRef<int64_t> kernel, unsigned weightAt) {
  size_t rank = kernel.size();
  Shape given = node.getInts("kernel_shape").value_or(Shape(kernel));
  if (ArrayRef(given) != kernel)
    return node.emitError()
           << "shapes conflict: kernel_shape is " << formatShape(given)
           << ", the weight is " << node.describe(weightAt);
  FailureOr<Windows> windows = getWindows(node, kernel);
  if (failed(windows))
    return failure();
  Shape outputPadding = node.getInts("output_padding").value_or(Shape(rank, 0));
  if (outputPadding.size() != rank)
    return node.emitError() << "output_padding of " << node.getNode().op_type()
                            << " must fit " << rank << " spatial dims";
  if (failed(verifySizes(node, "output_padding", outputPadding)))
    return failure();
  return Convolution{*windows, outputPadding, node.getInt("group", 1)};
}

/// The result's size is given by output_shape, or by SAME (input times stride).
static LogicalResult resolveTransposedPads(NodeContext &node, Convolution &w,
                                           ArrayRef<int64_t> input) {
  std::optional<Shape> wanted = node.getInts("output_shape");
  // Some exporters give the result's batch and channels too.
  if (wanted && wanted->size() == input.size() + 2)
    wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (wanted && wanted->size() != input.size())
    return node.emitError()
           << "output_shape of ConvTranspose must fit " << input.size()
           << " spatial dims, found " << formatShape(*wanted);
  if (wanted && failed(verifySizes(node, "output_shape", *wanted)))
    return failure();
  for (size_t i = 0; i < input.size(); ++i) {
    if (w.autoPad == "VALID")
      w.setPads(i, 0);
    bool isSame = w.autoPad.rfind("SAME", 0) == 0;
    if (!wanted && !isSame)
      continue;
    int64_t size = wanted ? (*wanted)[i] : input[i] * w.strides[i];
    int64_t total = w.strides[i] * (input[i] - 1) + w.outputPadding[i] +
                    w.getSpan(i) - size;
    // A larger result has its extra elements at the end.
    w.outputPadding[i] += std::max<int64_t>(-total, 0);
    w.setPads(i, std::max<int64_t>(total, 0));
  }
  return success();
}

Value cleave::addBias(NodeContext &node, Value result, unsigned i) {
  if (!node.hasOperand(i) || !result)
    return result;
  Value bias = node.getOperand(i);
  if (getShape(bias) != getShape(result).slice(1, 1)) {
    node.emitError() << "shapes conflict: the bias " << node.describe(i)
                     << " does not fit " << getShape(result)[1] << " channels";
    return nullptr;
  }
  return node.binary(BinaryKind::Add, result,
                     node.broadcast(bias, getShape(result), {1}));
}

/// Reads the attributes and verifies that all fits.
static FailureOr<Convolution> getFittingConvolution(NodeContext &node, Value x,
                                                    Value weight,
                                                    bool transposed,
                                                    unsigned weightAt) {
  ArrayRef<int64_t> input = getShape(x), kernel = getShape(weight);
  int64_t rank = input.size();
  if (rank < 3 || rank > 5 || kernel.size() != input.size())
    return node.emitError()
           << "shapes conflict: cannot convolve " << node.describe(0)
           << " with " << node.describe(weightAt)
           << ": expected 1 to 3 spatial dims in both";
  if (failed(verifySizes(node, "the input", input)))
    return failure();
  FailureOr<Convolution> window =
      getConvolution(node, kernel.drop_front(2), weightAt);
  if (failed(window))
    return failure();
  int64_t groups = window->groups;
  int64_t channels = transposed ? kernel[0] : kernel[1] * groups;
  if (groups < 1 || input[1] != channels || kernel[0] % groups != 0)
    return node.emitError()
           << "shapes conflict: the channels of " << node.describe(0) << " and "
           << node.describe(weightAt) << " do not fit " << groups << " groups";
  if (!transposed)
    resolvePads(*window, input.drop_front(2));
  else if (failed(resolveTransposedPads(node, *window, input.drop_front(2))))
    return failure();
  if (failed(verifyPads(node, *window)))
    return failure();
  return window;
}

Value cleave::convolve(NodeContext &node, Value x, Value weight,
                       bool transposed, unsigned weightAt) {
  if (!x || !weight)
    return nullptr;
  FailureOr<Convolution> window =
      getFittingConvolution(node, x, weight, transposed, weightAt);
  if (failed(window))
    return nullptr;
  return node.create<ConvOp>(nullptr, x, weight, window->strides,
                             window->getPads(), window->dilations,
                             window->outputPadding, window->groups, transposed);
}

static LogicalResult importConv(NodeContext &node, bool transposed) {
  Value result =
      convolve(node, node.getOperand(0), node.getOperand(1), transposed);
  return node.setResults(addBias(node, result, 2));
}

void cleave::registerConvolution(OperatorTable &table) {
  table.onOp("", "Conv", 1,
             [](NodeContext &node) { return importConv(node, false); });
  table.onOp("", "ConvTranspose", 1,
             [](NodeContext &node) { return importConv(node, true); });
}
