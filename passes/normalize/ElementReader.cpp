//===- ElementReader.cpp - single elements of constant expressions --------===//
//
// Masks of exported models are made of iotas, comparisons and selections, which
// are too large to fold once they are repeated to [S, T]. Asked element by
// element they need no memory.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/ElementReader.h"
#include "passes/normalize/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

using Element = std::optional<double>;

/// Row-major position of `index` in `shape`.
static int64_t getPosition(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [i, size] : llvm::zip(index, shape))
    position = position * size + i;
  return position;
}

static bool isBool(Value value) {
  return typeOf(value).getElementType().isInteger(1);
}

//===-- Movements: where an element comes from ----------------------------===//

static SmallVector<int64_t> getSourceIndex(ReshapeOp op,
                                           ArrayRef<int64_t> index) {
  int64_t position = getPosition(index, shapeOf(op));
  SmallVector<int64_t> source(shapeOf(op.getX()));
  for (int64_t &entry : llvm::reverse(source)) {
    int64_t size = entry;
    entry = position % size;
    position /= size;
  }
  return source;
}

static SmallVector<int64_t> getSourceIndex(TransposeOp op,
                                           ArrayRef<int64_t> index) {
  SmallVector<int64_t> source(index.size());
  for (auto [i, dim] : llvm::enumerate(op.getPerm()))
    source[dim] = index[i];
  return source;
}

static SmallVector<int64_t> getSourceIndex(BroadcastOp op,
                                           ArrayRef<int64_t> index) {
  SmallVector<int64_t> source;
  for (auto [size, dim] : llvm::zip(shapeOf(op.getX()), op.getDims()))
    source.push_back(size == 1 ? 0 : index[dim]);
  return source;
}

static SmallVector<int64_t> getSourceIndex(SliceOp op,
                                           ArrayRef<int64_t> index) {
  SmallVector<int64_t> source;
  for (auto [i, start, stride] :
       llvm::zip(index, op.getStarts(), op.getStrides()))
    source.push_back(start + i * stride);
  return source;
}

//===-- Elementwise -------------------------------------------------------===//

static Element compare(CompareKind kind, double a, double b) {
  switch (kind) {
  case CompareKind::Eq:
    return a == b;
  case CompareKind::Ne:
    return a != b;
  case CompareKind::Lt:
    return a < b;
  case CompareKind::Le:
    return a <= b;
  case CompareKind::Gt:
    return a > b;
  case CompareKind::Ge:
    return a >= b;
  }
  llvm_unreachable("unknown kind");
}

static Element readBinary(BinaryOp op, double a, double b) {
  bool isFloat = isa<FloatType>(op.getType().getElementType());
  const BinaryInfo &info = getInfo(op.getKind());
  if (isFloat)
    return info.evaluate ? Element(info.evaluate(a, b)) : std::nullopt;
  bool divides =
      op.getKind() == BinaryKind::Div || op.getKind() == BinaryKind::Mod;
  if (!info.evaluateInt || (divides && b == 0))
    return std::nullopt;
  return static_cast<double>(
      info.evaluateInt(static_cast<int64_t>(a), static_cast<int64_t>(b)));
}

static Element readCast(CastOp op, double x) {
  if (isBool(op))
    return x != 0;
  bool isInteger = isa<IntegerType>(op.getType().getElementType());
  return isInteger ? static_cast<double>(static_cast<int64_t>(x)) : x;
}

static Element readConstant(ConstantOp op, ArrayRef<int64_t> index) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || !dense.getElementType().isIntOrFloat())
    return std::nullopt;
  if (dense.isSplat())
    return toDouble(dense.getSplatValue<Attribute>());
  return toDouble(
      *(dense.value_begin<Attribute>() + getPosition(index, shapeOf(op))));
}

static Element readElementwise(Operation *op, ArrayRef<int64_t> index) {
  SmallVector<double> x;
  for (Value operand : op->getOperands()) {
    Element element = readElement(operand, index);
    if (!element)
      return std::nullopt;
    x.push_back(*element);
  }
  return llvm::TypeSwitch<Operation *, Element>(op)
      .Case([&](UnaryOp unary) -> Element {
        if (unary.getKind() == UnaryKind::Not)
          return x[0] == 0;
        auto evaluate = getInfo(unary.getKind()).evaluate;
        return evaluate ? Element(evaluate(x[0])) : std::nullopt;
      })
      .Case([&](BinaryOp binary) { return readBinary(binary, x[0], x[1]); })
      .Case([&](CompareOp op) { return compare(op.getKind(), x[0], x[1]); })
      .Case([&](SelectOp) { return Element(x[0] != 0 ? x[1] : x[2]); })
      .Case([&](CastOp cast) { return readCast(cast, x[0]); })
      .Default([](Operation *) { return std::nullopt; });
}

Element cleave::readElement(Value value, ArrayRef<int64_t> index) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Element>(op)
      .Case([&](ConstantOp constant) { return readConstant(constant, index); })
      .Case([&](IotaOp iota) {
        return static_cast<double>(index[iota.getDim()]);
      })
      .Case<ReshapeOp, TransposeOp, BroadcastOp, SliceOp>([&](auto movement) {
        return readElement(movement.getX(), getSourceIndex(movement, index));
      })
      .Case<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp>(
          [&](Operation *elementwise) {
            return readElementwise(elementwise, index);
          })
      .Default([](Operation *) { return std::nullopt; });
}

bool cleave::isReadable(Value value) {
  SmallVector<int64_t> first(rankOf(value), 0);
  return typeOf(value).getNumElements() != 0 &&
         readElement(value, first).has_value();
}
