//===- ImportElementwise.cpp - elementwise operators ----------------------===//
//
// Most are rows of the IR's elementwise table; the others are a few of these.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <limits>

using namespace cleave;
using namespace mlir;

/// All operands, broadcast to their common shape; empty after an error, which
/// names where both shapes come from.
static SmallVector<Value> getBroadcastOperands(NodeContext &node) {
  SmallVector<Value> values = node.getOperands();
  Shape common;
  for (auto [i, value] : llvm::enumerate(values)) {
    FailureOr<Shape> next = getCommonShape({common, getShape(value)});
    if (failed(next)) {
      unsigned other = 0;
      while (
          succeeded(getCommonShape({getShape(values[other]), getShape(value)})))
        ++other;
      node.emitError() << "shapes conflict: " << node.describe(other) << " and "
                       << node.describe(i) << " do not broadcast";
      return {};
    }
    common = *next;
  }
  for (Value &value : values)
    value = node.broadcast(value, common);
  return values;
}

//===-- Rows of the table -------------------------------------------------===//

static LogicalResult importUnary(NodeContext &node, UnaryKind kind) {
  return node.setResults(node.unary(kind, node.getOperand(0)));
}

/// Two operands or, for Max, Min and Sum, any number of them.
static LogicalResult importBinary(NodeContext &node, BinaryKind kind) {
  SmallVector<Value> values = getBroadcastOperands(node);
  if (values.empty())
    return failure();
  Value result = values.front();
  for (Value value : ArrayRef(values).drop_front())
    result = node.binary(kind, result, value);
  return node.setResults(result);
}

static LogicalResult importCompare(NodeContext &node, CompareKind kind) {
  SmallVector<Value> values = getBroadcastOperands(node);
  if (values.empty())
    return failure();
  return node.setResults(node.compare(kind, values[0], values[1]));
}

static LogicalResult importMean(NodeContext &node) {
  if (failed(importBinary(node, BinaryKind::Add)))
    return failure();
  Value sum = node.getResults().front();
  return node.setResults(
      node.binary(BinaryKind::Mul, sum, 1.0 / node.getNumOperands()));
}

/// The exponent may have another type than the base, which the result has. An
/// integer base with a float exponent is raised as a float.
static LogicalResult importPow(NodeContext &node) {
  SmallVector<Value> values = getBroadcastOperands(node);
  if (values.empty())
    return failure();
  Type base = getElement(values[0]), exponent = getElement(values[1]);
  Type type = isFloat(values[1]) && !isFloat(values[0]) ? exponent : base;
  Value result = node.binary(BinaryKind::Pow, node.cast(values[0], type),
                             node.cast(values[1], type));
  return node.setResults(node.cast(result, base));
}

/// The remainder of C (fmod = 1) has the sign of the dividend, the other that
/// of the divisor. The IR has the first for floats and the second for integers.
static LogicalResult importMod(NodeContext &node) {
  bool isCRemainder = node.getInt("fmod", 0) != 0;
  SmallVector<Value> values = getBroadcastOperands(node);
  if (values.empty())
    return failure();
  Value x = values[0], y = values[1];
  if (isCRemainder == isFloat(x))
    return node.setResults(node.binary(BinaryKind::Mod, x, y));
  if (isCRemainder) {
    Value quotient = node.binary(BinaryKind::Div, x, y);
    Value whole = node.binary(BinaryKind::Mul, quotient, y);
    return node.setResults(node.binary(BinaryKind::Sub, x, whole));
  }
  Value remainder = node.binary(BinaryKind::Mod, x, y);
  Value product = node.binary(BinaryKind::Mul, remainder, y);
  Value differs = node.compare(CompareKind::Lt, product, 0.0);
  Value shifted = node.binary(BinaryKind::Add, remainder, y);
  return node.setResults(node.select(differs, shifted, remainder));
}

//===-- Compositions ------------------------------------------------------===//

static LogicalResult importWhere(NodeContext &node) {
  SmallVector<Value> values = getBroadcastOperands(node);
  if (values.empty())
    return failure();
  return node.setResults(node.select(values[0], values[1], values[2]));
}

/// Bounds are attributes up to opset 10, then optional scalar operands.
static LogicalResult importClip(NodeContext &node) {
  Value x = node.getOperand(0);
  BinaryKind kinds[] = {BinaryKind::Max, BinaryKind::Min};
  const char *names[] = {"min", "max"};
  for (unsigned i = 0; i < 2; ++i) {
    if (node.hasOperand(i + 1))
      x = node.binary(kinds[i], x, node.getOperand(i + 1));
    else if (node.hasAttribute(names[i]))
      x = node.binary(kinds[i], x, node.getFloat(names[i], 0));
  }
  return node.setResults(x);
}

static LogicalResult importLeakyRelu(NodeContext &node) {
  Value x = node.getOperand(0);
  Value scaled = node.binary(BinaryKind::Mul, x, node.getFloat("alpha", 0.01));
  Value isNegative = node.compare(CompareKind::Lt, x, 0.0);
  return node.setResults(node.select(isNegative, scaled, x));
}

/// The slope broadcasts to x, never the other way.
static LogicalResult importPRelu(NodeContext &node) {
  Value x = node.getOperand(0), slope = node.getOperand(1);
  if (!x || !slope)
    return failure();
  FailureOr<Shape> common = getCommonShape({getShape(x), getShape(slope)});
  if (failed(common) || ArrayRef(*common) != getShape(x))
    return node.emitError() << "shapes conflict: the slope " << node.describe(1)
                            << " does not broadcast to " << node.describe(0);
  Value isNegative = node.compare(CompareKind::Lt, x, 0.0);
  Value scaled = node.binary(BinaryKind::Mul, x, slope);
  return node.setResults(node.select(isNegative, scaled, x));
}

/// alpha (exp(x) - 1) below 0, x above.
static LogicalResult importElu(NodeContext &node) {
  Value x = node.getOperand(0);
  Value exp = node.binary(BinaryKind::Sub, node.unary(UnaryKind::Exp, x), 1.0);
  Value scaled = node.binary(BinaryKind::Mul, exp, node.getFloat("alpha", 1.0));
  Value isNegative = node.compare(CompareKind::Lt, x, 0.0);
  return node.setResults(node.select(isNegative, scaled, x));
}

/// max(0, min(1, alpha x + beta)).
static Value makeHardSigmoid(NodeContext &node, Value x, double alpha,
                             double beta) {
  Value line = node.binary(BinaryKind::Mul, x, alpha);
  line = node.binary(BinaryKind::Add, line, beta);
  line = node.binary(BinaryKind::Min, line, 1.0);
  return node.binary(BinaryKind::Max, line, 0.0);
}
static LogicalResult importHardSigmoid(NodeContext &node) {
  return node.setResults(makeHardSigmoid(node, node.getOperand(0),
                                         node.getFloat("alpha", 0.2),
                                         node.getFloat("beta", 0.5)));
}
static LogicalResult importHardSwish(NodeContext &node) {
  Value x = node.getOperand(0);
  Value gate = makeHardSigmoid(node, x, 1.0 / 6.0, 0.5);
  return node.setResults(node.binary(BinaryKind::Mul, x, gate));
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
static LogicalResult importSoftplus(NodeContext &node) {
  Value x = node.getOperand(0);
  Value minusAbs = node.unary(UnaryKind::Neg, node.unary(UnaryKind::Abs, x));
  Value rest =
      node.binary(BinaryKind::Add, node.unary(UnaryKind::Exp, minusAbs), 1.0);
  Value positive = node.binary(BinaryKind::Max, x, 0.0);
  return node.setResults(
      node.binary(BinaryKind::Add, positive, node.unary(UnaryKind::Log, rest)));
}

static LogicalResult importGelu(NodeContext &node) {
  std::string form = node.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.emitError()
           << "attribute 'approximate' of Gelu must be none or "
              "tanh, found '"
           << form << "'";
  return importUnary(node,
                     form == "tanh" ? UnaryKind::GeluTanh : UnaryKind::GeluErf);
}

/// x sigmoid(alpha x).
static LogicalResult importSwish(NodeContext &node) {
  Value x = node.getOperand(0);
  double alpha = node.getFloat("alpha", 1.0);
  if (alpha == 1.0)
    return node.setResults(node.unary(UnaryKind::Silu, x));
  Value gate =
      node.unary(UnaryKind::Sigmoid, node.binary(BinaryKind::Mul, x, alpha));
  return node.setResults(node.binary(BinaryKind::Mul, x, gate));
}

/// 1, -1, or x itself where it is 0 or not a number.
static LogicalResult importSign(NodeContext &node) {
  Value x = node.getOperand(0);
  Value one = node.splat(x, 1.0), minusOne = node.splat(x, -1.0);
  Value negative =
      node.select(node.compare(CompareKind::Lt, x, 0.0), minusOne, x);
  return node.setResults(
      node.select(node.compare(CompareKind::Gt, x, 0.0), one, negative));
}

static LogicalResult importBitwiseNot(NodeContext &node) {
  Value x = node.getOperand(0);
  return node.setResults(node.binary(BinaryKind::Xor, x, -1.0));
}

static LogicalResult importBitShift(NodeContext &node) {
  std::string direction = node.getString("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.emitError() << "attribute 'direction' of BitShift must be LEFT "
                               "or RIGHT, found '"
                            << direction << "'";
  return importBinary(node, direction == "LEFT" ? BinaryKind::ShiftLeft
                                                : BinaryKind::ShiftRight);
}

static LogicalResult importIsNaN(NodeContext &node) {
  Value x = node.getOperand(0);
  return node.setResults(node.compare(CompareKind::Ne, x, x));
}

static LogicalResult importIsInf(NodeContext &node) {
  double infinity = std::numeric_limits<double>::infinity();
  bool positive = node.getInt("detect_positive", 1);
  bool negative = node.getInt("detect_negative", 1);
  Value x = node.getOperand(0);
  if (positive && negative)
    x = node.unary(UnaryKind::Abs, x);
  double sought = positive ? infinity : -infinity;
  Value result = node.compare(CompareKind::Eq, x, sought);
  if (!positive && !negative)
    result = node.splat(result, 0);
  return node.setResults(result);
}

//===-- Casts -------------------------------------------------------------===//

static LogicalResult importCast(NodeContext &node) {
  node.ignoreAttribute("saturate"); // Only for 8-bit floats.
  node.ignoreAttribute("round_mode");
  int32_t to = node.getInt("to", 0);
  Type element = getElementType(node.getContext(), to);
  if (!element)
    return node.emitError()
           << "Cast to " << getTypeName(to) << " is not supported";
  return node.setResults(node.cast(node.getOperand(0), element));
}

static LogicalResult importCastLike(NodeContext &node) {
  node.ignoreAttribute("saturate");
  node.ignoreAttribute("round_mode");
  Value like = node.getOperand(1);
  if (!like)
    return failure();
  return node.setResults(node.cast(node.getOperand(0), getElement(like)));
}

void cleave::registerElementwise(OperatorTable &table) {
  auto bind = [](auto function, auto kind) -> OpHandler {
    return [=](NodeContext &node) { return function(node, kind); };
  };
  for (const UnaryInfo &info : getUnaryTable())
    if (info.onnxName)
      table.onOp("", info.onnxName, 1, bind(importUnary, info.kind));
  // Before opset 7 binary operators had another rule of broadcasting.
  for (const BinaryInfo &info : getBinaryTable())
    if (info.onnxName)
      table.onOp("", info.onnxName, 7, bind(importBinary, info.kind));
  for (const CompareInfo &info : getCompareTable())
    if (info.onnxName)
      table.onOp("", info.onnxName, 7, bind(importCompare, info.kind));
  table.onOp("", "Sum", 6, bind(importBinary, BinaryKind::Add));
  table.onOp("", "Max", 6, bind(importBinary, BinaryKind::Max));
  table.onOp("", "Min", 6, bind(importBinary, BinaryKind::Min));
  table.onOp("", "BitwiseAnd", 18, bind(importBinary, BinaryKind::And));
  table.onOp("", "BitwiseOr", 18, bind(importBinary, BinaryKind::Or));
  table.onOp("", "BitwiseXor", 18, bind(importBinary, BinaryKind::Xor));
  table.onOp("", "BitwiseNot", 18, importBitwiseNot);
  table.onOp("", "BitShift", 11, importBitShift);
  table.onOp("", "Mean", 6, importMean);
  table.onOp("", "Pow", 7, importPow);
  table.onOp("", "Mod", 10, importMod);
  table.onOp("", "Where", 9, importWhere);
  table.onOp("", "Clip", 6, importClip);
  table.onOp("", "LeakyRelu", 6, importLeakyRelu);
  table.onOp("", "PRelu", 7, importPRelu);
  table.onOp("", "Elu", 6, importElu);
  table.onOp("", "HardSigmoid", 6, importHardSigmoid);
  table.onOp("", "HardSwish", 14, importHardSwish);
  table.onOp("", "Softplus", 1, importSoftplus);
  table.onOp("", "Gelu", 20, importGelu);
  table.onOp("", "Swish", 24, importSwish);
  table.onOp("", "Sign", 9, importSign);
  table.onOp("", "IsNaN", 9, importIsNaN);
  table.onOp("", "IsInf", 10, importIsInf);
  table.onOp("", "Cast", 6, importCast);
  table.onOp("", "CastLike", 15, importCastLike);
}
