//===- Evaluator.cpp - code for one vector of a value of a kernel ---------===//
//
// Elementwise ops; EvaluatorMoves.cpp has the ops that move indices. Lanes
// outside of the mask hold whatever their zero operands give, and are never
// stored.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Evaluator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

VectorType Evaluator::typeOf(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return code.vectorOf(getComputeType(element), lanes);
}

Value Evaluator::neutral(ReduceKind kind, Value value) {
  VectorType type = typeOf(value);
  Attribute element =
      getNeutralElement(kind, getElementTypeOrSelf(value.getType()));
  if (auto integer = dyn_cast<IntegerAttr>(element))
    return code.constant(
        type, code.b.getIntegerAttr(type.getElementType(), integer.getValue()));
  return code.constant(type, cast<FloatAttr>(element).getValueAsDouble());
}

Value Evaluator::at(Value value, Frame &frame) {
  if (Value known = frame.known.lookup(value))
    return known;
  Value result;
  if (auto view = views.find(value); view != views.end())
    result = load(view->second, frame);
  else if (!hook || !(result = hook(value, frame)))
    result = evaluate(value, frame);
  frame.known[value] = result;
  return result;
}

Value Evaluator::evaluate(Value value, Frame &frame) {
  Operation *op = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<UnaryOp, BinaryOp, CastOp, ConstantOp, BroadcastOp, TransposeOp,
            SliceOp, IotaOp, GatherOp, MaskOp, TakeShardOp>(
          [&](auto op) { return evaluate(op, frame); })
      .Case([&](CopyOp op) { return at(op.getX(), frame); })
      .Case([&](CompareOp op) {
        Value lhs = at(op.getLhs(), frame), rhs = at(op.getRhs(), frame);
        return buildFor(getInfo(op.getKind()),
                        op.getLhs().getType().getElementType(), code.b,
                        code.loc, lhs, rhs);
      })
      .Case([&](SelectOp op) {
        Value condition = at(op.getCondition(), frame);
        return code.select(condition, at(op.getOnTrue(), frame),
                           at(op.getOnFalse(), frame));
      })
      .Default([&](Operation *op) {
        op->emitOpError() << "has no code inside of a kernel of this kind";
        failed = true;
        return code.constant(typeOf(value), 0.0);
      });
}

Value Evaluator::evaluate(UnaryOp op, Frame &frame) {
  Value x = at(op.getX(), frame);
  if (op.getKind() == UnaryKind::Abs &&
      op.getType().getElementType().isUnsignedInteger())
    return x;
  if (isa<IntegerType>(getElementTypeOrSelf(x.getType()))) {
    if (op.getKind() == UnaryKind::Neg)
      return code.sub(code.constant(x.getType(), 0.0), x);
    if (op.getKind() == UnaryKind::Abs)
      return code.b.create<math::AbsIOp>(code.loc, x);
  }
  return getInfo(op.getKind()).build(code.b, code.loc, x);
}

/// The value of a splat constant, also behind broadcasts.
static std::optional<double> getSplat(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  return dense.getSplatValue<APFloat>().convertToDouble();
}

/// Powers that are products and roots; the others go to the library.
Value Evaluator::raise(Value x, Value exponent, BinaryOp op) {
  std::optional<double> splat = getSplat(op.getRhs());
  auto times = [&](Value a, Value b) -> Value {
    return code.b.create<arith::MulFOp>(code.loc, a, b);
  };
  if (splat == 1.0)
    return x;
  if (splat == 2.0)
    return times(x, x);
  if (splat == 3.0)
    return times(times(x, x), x);
  if (splat == 0.5)
    return code.b.create<math::SqrtOp>(code.loc, x);
  return getInfo(BinaryKind::Pow).build(code.b, code.loc, x, exponent);
}

/// By squaring, one bit of the exponent at a time; products wrap around. A
/// negative exponent leaves a fraction, which is 0, of all but 1 and -1: their
/// powers depend on the lowest bit of the exponent only.
Value Evaluator::raiseInteger(Value x, Value exponent, bool isUnsigned) {
  Type type = x.getType();
  Value zero = code.constant(type, 0.0), one = code.constant(type, 1.0);
  auto make = [&](auto tag, Value a, Value b) -> Value {
    return code.b.create<decltype(tag)>(code.loc, a, b);
  };
  int64_t bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value initial[] = {one, x, exponent};
  Value power = code.loop(
      code.index(0), code.index(bits), 1, initial,
      [&](Value, ValueRange carried) -> Code::Values {
        Value bit = make(arith::AndIOp(), carried[2], one);
        Value times = code.mul(carried[0], carried[1]);
        return {code.select(code.differ(bit, zero), times, carried[0]),
                code.mul(carried[1], carried[1]),
                make(arith::ShRUIOp(), carried[2], one)};
      })[0];
  if (isUnsigned)
    return power;
  Value magnitude = code.b.create<math::AbsIOp>(code.loc, x);
  Value vanishes =
      code.both(code.less(exponent, zero), code.less(one, magnitude));
  return code.select(vanishes, zero, power);
}

Value Evaluator::evaluate(BinaryOp op, Frame &frame) {
  Value lhs = at(op.getLhs(), frame), rhs = at(op.getRhs(), frame);
  BinaryKind kind = op.getKind();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  if (kind == BinaryKind::Pow && isFloat)
    return raise(lhs, rhs, op);
  if (kind == BinaryKind::Pow)
    return raiseInteger(lhs, rhs,
                        op.getType().getElementType().isUnsignedInteger());
  // A division traps in the lanes that nobody wants, where the divisor is 0.
  bool divides = kind == BinaryKind::Div || kind == BinaryKind::Mod;
  if (divides && !isFloat && frame.mask)
    rhs = code.select(frame.mask, rhs, code.constant(rhs.getType(), 1.0));
  return buildFor(getInfo(kind), op.getType().getElementType(), code.b,
                  code.loc, lhs, rhs);
}

//===-- Casts and constants -----------------------------------------------===//

/// f32 values that stand for f16 or bf16 are rounded to them.
static Value roundTo(Code &code, Value value, Type element) {
  return code.widen(code.narrow(value, element), element);
}

static Value convertInteger(Code &code, Value value, bool isUnsigned,
                            Type type) {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from > to)
    return code.b.create<arith::TruncIOp>(code.loc, type, value);
  if (from == to)
    return value;
  if (isUnsigned)
    return code.b.create<arith::ExtUIOp>(code.loc, type, value);
  return code.b.create<arith::ExtSIOp>(code.loc, type, value);
}

Value cleave::convertElement(Code &code, Value value, Type from, Type to) {
  auto isUnsigned = [](Type type) {
    return type.isInteger(1) || type.isUnsignedInteger();
  };
  Type type = cast<VectorType>(value.getType()).clone(getComputeType(to));
  OpBuilder &b = code.b;
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    unsigned width = getComputeType(to).getIntOrFloatBitWidth();
    unsigned now = getComputeType(from).getIntOrFloatBitWidth();
    if (now < width)
      value = b.create<arith::ExtFOp>(code.loc, type, value);
    if (now > width)
      value = b.create<arith::TruncFOp>(code.loc, type, value);
    return roundTo(code, value, to);
  }
  if (to.isInteger(1)) {
    Value zero = code.constant(value.getType(), 0.0);
    return getInfo(CompareKind::Ne).build(b, code.loc, value, zero);
  }
  if (isa<FloatType>(to)) {
    if (isUnsigned(from))
      value = b.create<arith::UIToFPOp>(code.loc, type, value);
    else
      value = b.create<arith::SIToFPOp>(code.loc, type, value);
    return roundTo(code, value, to);
  }
  if (isa<IntegerType>(from))
    return convertInteger(code, value, isUnsigned(from), type);
  if (isUnsigned(to))
    return b.create<arith::FPToUIOp>(code.loc, type, value);
  return b.create<arith::FPToSIOp>(code.loc, type, value);
}

Value Evaluator::evaluate(CastOp op, Frame &frame) {
  return convertElement(code, at(op.getX(), frame),
                        op.getX().getType().getElementType(),
                        op.getType().getElementType());
}

Value Evaluator::evaluate(ConstantOp op, Frame &frame) {
  auto value = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!value) {
    op.emitOpError() << "must have dense values inside of a kernel";
    failed = true;
    return code.constant(typeOf(op.getResult()), 0.0);
  }
  if (!value.isSplat()) {
    views[op.getResult()] = makeConstantView(code, value);
    return load(views[op.getResult()], frame);
  }
  VectorType type = typeOf(op.getResult());
  if (isa<FloatType>(value.getElementType()))
    return code.constant(type,
                         value.getSplatValue<APFloat>().convertToDouble());
  APInt bits = value.getSplatValue<APInt>();
  return code.constant(type,
                       code.b.getIntegerAttr(type.getElementType(), bits));
}
