//===- ImportSpectrum.cpp - Fourier transforms as products ----------------===//
//
// A transform is a product with a constant matrix of cosines and sines. Signals
// are real or complex: their last dim has size 1, or 2 for the real and the
// imaginary part.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <cmath>

using namespace cleave;
using namespace mlir;

/// The matrix has at most this many elements.
static constexpr int64_t MaxMatrixElements = 1 << 24;

namespace {

/// `length` is that of the whole signal; a half has only the frequencies up to
/// length / 2, and is what a real signal needs.
struct Transform {
  int64_t length;
  bool isInverse, isHalf;

  int64_t getHalf() const { return length / 2 + 1; }
  /// Elements that are read along the axis, and that result.
  int64_t getInputs() const { return isInverse && isHalf ? getHalf() : length; }
  int64_t getOutputs() const {
    return !isInverse && isHalf ? getHalf() : length;
  }
  /// Whether the result is real.
  bool makesReal() const { return isInverse && isHalf; }
};

} // namespace

/// The matrix [inputs, parts of the input, outputs, parts of the result]:
/// exp(-i angle), conjugate and by the length for the inverse. From a half, a
/// frequency counts for its mirror image too.
static Value makeMatrix(NodeContext &node, const Transform &t,
                        int64_t inputParts, FloatType element) {
  int64_t outputParts = t.makesReal() ? 1 : 2;
  auto type = RankedTensorType::get(
      {t.getInputs(), inputParts, t.getOutputs(), outputParts}, element);
  if (type.getNumElements() > MaxMatrixElements) {
    node.emitError() << node.getNode().op_type() << " of length " << t.length
                     << " is too long";
    return nullptr;
  }
  SmallVector<Attribute> values;
  for (int64_t i = 0; i < t.getInputs(); ++i)
    for (int64_t part = 0; part < inputParts; ++part)
      for (int64_t k = 0; k < t.getOutputs(); ++k) {
        double angle = 2 * M_PI * double((i * k) % t.length) / double(t.length);
        double scale = t.isInverse ? 1.0 / double(t.length) : 1.0;
        if (t.makesReal() && i > 0 && 2 * i != t.length)
          scale *= 2;
        double cosine = scale * std::cos(angle);
        double sine = (t.isInverse ? -scale : scale) * std::sin(angle);
        double real = part == 0 ? cosine : sine;
        double imaginary = part == 0 ? -sine : cosine;
        values.push_back(FloatAttr::get(element, real));
        if (outputParts == 2)
          values.push_back(FloatAttr::get(element, imaginary));
      }
  return node.constant(DenseElementsAttr::get(type, values));
}

/// Cuts or fills with zeros to `size` elements of a dim.
static Value fit(NodeContext &node, Value x, int64_t dim, int64_t size) {
  int64_t now = getShape(x)[dim];
  if (now > size)
    return node.sliceDim(x, dim, 0, size);
  Shape low(getShape(x).size(), 0), high(low);
  high[dim] = size - now;
  return node.pad(x, low, high, 0);
}

static Value transform(NodeContext &node, Value x, int64_t axis,
                       const Transform &t) {
  auto element = dyn_cast<FloatType>(getElement(x));
  int64_t last = static_cast<int64_t>(getShape(x).size()) - 1;
  int64_t parts = getShape(x)[last];
  if (!element || (parts != 1 && parts != 2) || axis == last || t.length < 1 ||
      (t.isHalf && parts != (t.isInverse ? 2 : 1))) {
    node.emitError() << node.getNode().op_type() << " of " << getTensorType(x)
                     << " is not supported: the last dim must have size "
                     << (t.isHalf ? (t.isInverse ? "2" : "1") : "1 or 2");
    return nullptr;
  }
  Value matrix = makeMatrix(node, t, parts, element);
  Value result = node.dot(fit(node, x, axis, t.getInputs()), matrix, {}, {},
                          {axis, last}, {0, 1});
  // The transformed dim comes after the others.
  Shape perm = getIota(last - 1);
  perm.insert(perm.begin() + axis, last - 1);
  perm.push_back(last);
  return result ? node.transpose(result, perm) : nullptr;
}

/// The axis is an attribute up to opset 19, then an operand.
static LogicalResult importDft(NodeContext &node, int64_t defaultAxis) {
  Value x = node.getOperand(0);
  Transform t{0, node.getInt("inverse", 0) != 0,
              node.getInt("onesided", 0) != 0};
  FailureOr<double> axis =
      static_cast<double>(node.getInt("axis", defaultAxis));
  if (node.hasOperand(2))
    axis = node.getConstantScalar(2, "axis");
  if (!x || failed(axis))
    return failure();
  FailureOr<int64_t> dim = node.normalizeAxis(*axis, getShape(x).size());
  if (failed(dim))
    return failure();
  int64_t size = getShape(x)[*dim];
  FailureOr<double> length =
      static_cast<double>(t.makesReal() ? 2 * (size - 1) : size);
  if (node.hasOperand(1))
    length = node.getConstantScalar(1, "length");
  if (failed(length))
    return failure();
  t.length = static_cast<int64_t>(*length);
  return node.setResults(transform(node, x, *dim, t));
}

/// Frames of the signal [batch, length, 1 or 2], times the window, transformed.
static LogicalResult importStft(NodeContext &node) {
  Value x = node.getOperand(0);
  bool isHalf = node.getInt("onesided", 1) != 0;
  FailureOr<double> step = node.getConstantScalar(1, "step");
  if (!x || failed(step))
    return failure();
  if (getShape(x).size() != 3 || *step < 1)
    return node.emitError() << "STFT needs a signal of 3 dims and a step above "
                               "0, found "
                            << node.describe(0);
  Value window = node.hasOperand(2) ? node.getOperand(2) : Value();
  FailureOr<double> given =
      static_cast<double>(window ? getShape(window).front() : getShape(x)[1]);
  if (node.hasOperand(3))
    given = node.getConstantScalar(3, "frame length");
  if (failed(given))
    return failure();
  auto length = static_cast<int64_t>(*given);
  if (length < 1 || length > getShape(x)[1] ||
      (window && getShape(window) != ArrayRef(length)))
    return node.emitError() << "STFT cannot take frames of length " << length
                            << " from " << node.describe(0);
  SmallVector<int64_t> indices;
  for (int64_t begin = 0; begin + length <= getShape(x)[1]; begin += *step)
    for (int64_t i = 0; i < length; ++i)
      indices.push_back(begin + i);
  Value index = node.reshape(node.constant(indices),
                             {int64_t(indices.size()) / length, length});
  Value frames = node.gather(x, index, 1);
  if (window)
    frames =
        node.binary(BinaryKind::Mul, frames, node.reshape(window, {length, 1}));
  if (!frames)
    return failure();
  return node.setResults(
      transform(node, frames, 2, {length, /*isInverse=*/false, isHalf}));
}

void cleave::registerSpectrum(OperatorTable &table) {
  auto bind = [](int64_t axis) -> OpHandler {
    return [axis](NodeContext &node) { return importDft(node, axis); };
  };
  table.onOp("", "DFT", 17, bind(1));
  table.onOp("", "DFT", 20, bind(-2));
  table.onOp("", "STFT", 17, importStft);
}
