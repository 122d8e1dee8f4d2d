//===- ImportPooling.cpp - reductions of windows --------------------------===//
//
// MaxPool and AveragePool are the IR's `pool`; the others are made of it.
//
//===----------------------------------------------------------------------===//

#include "frontend/OperatorTable.h"
#include "frontend/Windows.h"

using namespace cleave;
using namespace mlir;

//===-- MaxPool, AveragePool ----------------------------------------------===//

/// The windows of a pooling over x, with its pads resolved.
static FailureOr<Windows> getPoolWindows(NodeContext &node, Value x) {
  std::optional<Shape> kernel = node.getInts("kernel_shape");
  size_t rank = getShape(x).size();
  if (!kernel || rank < 3 || rank > 5 || kernel->size() != rank - 2)
    return node.emitError()
           << node.getNode().op_type() << " needs 1 to 3 spatial dims and a "
           << "kernel_shape that fits, found "
           << (kernel ? formatShape(*kernel) : "none") << " for "
           << node.describe(0);
  FailureOr<Windows> windows = getWindows(node, *kernel);
  if (failed(windows))
    return failure();
  resolvePads(*windows, getShape(x).drop_front(2));
  if (failed(verifyPads(node, *windows)))
    return failure();
  return windows;
}

static Value makePool(NodeContext &node, PoolKind kind, Value x,
                      const Windows &windows, bool includePad) {
  return node.create<PoolOp>(nullptr, kind, x, windows.kernel, windows.strides,
                             windows.getPads(), windows.dilations, includePad,
                             node.getInt("ceil_mode", 0) != 0);
}

/// Result 1 of MaxPool, the indices, is not made.
static LogicalResult importPool(NodeContext &node, PoolKind kind) {
  node.ignoreAttribute("storage_order"); // Of the indices.
  Value x = node.getOperand(0);
  bool isAverage = kind == PoolKind::Average;
  bool includePad = isAverage && node.getInt("count_include_pad", 0) != 0;
  if (!x)
    return failure();
  if (isAverage && !isFloat(x))
    return node.emitError() << "AveragePool of " << getElement(x)
                            << " is not supported: expected floats";
  FailureOr<Windows> windows = getPoolWindows(node, x);
  if (failed(windows))
    return failure();
  return node.setResults(makePool(node, kind, x, *windows, includePad));
}

//===-- LpPool ------------------------------------------------------------===//

/// An integer, in opset 1 a float.
static double getExponent(NodeContext &node) {
  const onnx::AttributeProto *p = node.getAttribute("p");
  if (!p)
    return 2;
  return p->type() == onnx::AttributeProto::FLOAT ? p->f()
                                                  : static_cast<double>(p->i());
}

/// |x|^p.
static Value raise(NodeContext &node, Value x, double p) {
  if (p == 2)
    return node.binary(BinaryKind::Mul, x, x);
  Value abs = node.unary(UnaryKind::Abs, x);
  return p == 1 ? abs : node.binary(BinaryKind::Pow, abs, p);
}

/// The p-th root of a sum of powers.
static Value takeRoot(NodeContext &node, Value sum, double p) {
  if (p == 1)
    return sum;
  return p == 2 ? node.unary(UnaryKind::Sqrt, sum)
                : node.binary(BinaryKind::Pow, sum, 1 / p);
}

static LogicalResult importLpPool(NodeContext &node) {
  Value x = node.getOperand(0);
  double p = getExponent(node);
  if (!x)
    return failure();
  FailureOr<Windows> windows = getPoolWindows(node, x);
  if (failed(windows))
    return failure();
  Value sum = makePool(node, PoolKind::Sum, raise(node, x, p), *windows,
                       /*includePad=*/false);
  return node.setResults(takeRoot(node, sum, p));
}

static LogicalResult importGlobalLpPool(NodeContext &node) {
  Value x = node.getOperand(0);
  double p = getExponent(node);
  if (!x)
    return failure();
  Shape dims = getIota(getShape(x).size());
  if (dims.size() < 3)
    return node.emitError()
           << "GlobalLpPool needs spatial dims, found " << node.describe(0);
  dims.erase(dims.begin(), dims.begin() + 2);
  Value sum = node.reduce(ReduceKind::Sum, raise(node, x, p), dims,
                          /*keepDims=*/true);
  return node.setResults(takeRoot(node, sum, p));
}

//===-- Local response normalisation --------------------------------------===//

/// x / (bias + alpha / size * the sum of squares of `size` channels
/// around)^beta. The channels are the windows' dim.
static LogicalResult importLrn(NodeContext &node) {
  Value x = node.getOperand(0);
  int64_t size = node.getInt("size", 1);
  double alpha = node.getFloat("alpha", 1e-4f),
         beta = node.getFloat("beta", 0.75);
  double bias = node.getFloat("bias", 1);
  if (!x)
    return failure();
  Shape shape(getShape(x));
  if (shape.size() < 2 || size < 1)
    return node.emitError() << "LRN needs channels and a positive size, found "
                            << size << " for " << node.describe(0);
  Value square = node.binary(BinaryKind::Mul, x, x);
  Shape planes{shape[0], 1, shape[1],
               getProduct(ArrayRef(shape).drop_front(2))};
  Shape kernel{size, 1}, ones{1, 1}, pads{(size - 1) / 2, 0, size / 2, 0};
  Value sum =
      node.create<PoolOp>(nullptr, PoolKind::Sum, node.reshape(square, planes),
                          kernel, ones, pads, ones, /*include_pad=*/false,
                          /*ceil=*/false);
  sum = node.binary(BinaryKind::Mul, node.reshape(sum, shape),
                    alpha / static_cast<double>(size));
  sum = node.binary(BinaryKind::Add, sum, bias);
  return node.setResults(
      node.binary(BinaryKind::Div, x, node.binary(BinaryKind::Pow, sum, beta)));
}

void cleave::registerPooling(OperatorTable &table) {
  table.onOp("", "MaxPool", 1,
             [](NodeContext &node) { return importPool(node, PoolKind::Max); });
  table.onOp("", "AveragePool", 1, [](NodeContext &node) {
    return importPool(node, PoolKind::Average);
  });
  table.onOp("", "LpPool", 1, importLpPool);
  table.onOp("", "GlobalLpPool", 1, importGlobalLpPool);
  table.onOp("", "LRN", 1, importLrn);
}
