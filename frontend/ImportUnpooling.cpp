//===- ImportUnpooling.cpp - maxima back to where they came from ----------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"
#include "frontend/Windows.h"

using namespace cleave;
using namespace mlir;

/// Indices are positions in the whole result, flattened, as MaxPool of the
/// same window gives them. A larger output_shape adds zeros at the end.
static LogicalResult importMaxUnpool(NodeContext &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  Shape kernel = node.getInts("kernel_shape").value_or(Shape());
  if (!x || !indices)
    return failure();
  FailureOr<Windows> windows = getWindows(node, kernel);
  if (failed(windows))
    return failure();
  ArrayRef<int64_t> from = getShape(x);
  if (from.size() != kernel.size() + 2 || getShape(indices) != from)
    return node.emitError() << "shapes conflict: MaxUnpool cannot place "
                            << node.describe(0) << " at " << node.describe(1);
  if (failed(verifySizes(node, "the input", from)))
    return failure();
  Shape shape(from.take_front(2)), low(from.size(), 0), high(low);
  for (size_t i = 0; i < kernel.size(); ++i)
    shape.push_back((from[i + 2] - 1) * windows->strides[i] + kernel[i] -
                    windows->low[i] - windows->high[i]);
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return node.emitError()
           << "the pads of MaxUnpool leave nothing of " << node.describe(0);
  if (node.hasOperand(2)) {
    FailureOr<Shape> wanted = node.getConstantInts(2, "output shape");
    if (failed(wanted) || failed(verifySizes(node, "output shape", *wanted)))
      return failure();
    for (size_t i = 0; i < shape.size() && wanted->size() == shape.size(); ++i)
      high[i] = (*wanted)[i] - shape[i];
    if (wanted->size() != shape.size() ||
        llvm::any_of(high, [](int64_t count) { return count < 0; }))
      return node.emitError()
             << "shapes conflict: the output shape of MaxUnpool must be "
             << formatShape(shape) << " or larger, found "
             << formatShape(*wanted);
  }
  Value zeros =
      node.splat(RankedTensorType::get({getProduct(shape)}, getElement(x)), 0);
  Value result = node.create<ScatterOp>(
      nullptr, zeros, node.reshape(indices, {getProduct(from)}),
      node.reshape(x, {getProduct(from)}), 0, 0, ReduceKindAttr());
  return node.setResults(node.pad(node.reshape(result, shape), low, high, 0));
}

void cleave::registerUnpooling(OperatorTable &table) {
  table.onOp("", "MaxUnpool", 9, importMaxUnpool);
}
