//===- RaiseNorm.cpp - recognise layer norm and root-mean-square norm -----===//
//
// First the quotient: c * rsqrt(mean(c * c) + epsilon), repeated over trailing
// dims; c = x - mean(x) makes it a layer norm, any other c a root-mean-square
// norm of c. Then the norm takes in a product with a scale and a sum with a
// bias that have the shape of those dims. What is a norm over other dims stays.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Match.h"
#include "passes/normalize/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_RAISENORMPASS
#include "passes/normalize/Passes.h.inc"
} // namespace cleave

//===-- The quotient ------------------------------------------------------===//

/// If `value` has one element a row, repeated over the dims from `axis` on: the
/// value before the repetition. Else null.
static Value getRowValue(Value value, int64_t axis) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return Value();
  ArrayRef<int64_t> source = shapeOf(broadcast.getX());
  if (source != shapeOf(value).take_front(axis) ||
      broadcast.getDims() != ArrayRef(getRange(0, axis)))
    return Value();
  return broadcast.getX();
}

/// If `value` is the mean of some x over its dims from `axis` on: x. Else null.
static Value getMeanSource(Value value, int64_t axis) {
  double scale = 0;
  Value sum = getWithConstant(value, BinaryKind::Mul, scale);
  auto reduce = sum ? sum.getDefiningOp<ReduceOp>() : ReduceOp();
  if (!reduce || reduce.getKind() != ReduceKind::Sum)
    return Value();
  RankedTensorType type = reduce.getX().getType();
  double count = static_cast<double>(type.getNumElements()) /
                 reduce.getType().getNumElements();
  if (reduce.getDims() != ArrayRef(getRange(axis, type.getRank())) ||
      !isClose(scale, 1 / count, type.getElementType()))
    return Value();
  return reduce.getX();
}

/// If `value` is x * x or x ^ 2: x. Else null.
static Value getSquareRoot(Value value) {
  double exponent = 0;
  if (Value x = getWithConstant(value, BinaryKind::Pow, exponent))
    return exponent == 2 ? x : Value();
  BinaryOp product = getBinary(value, BinaryKind::Mul);
  return product && product.getLhs() == product.getRhs() ? product.getLhs()
                                                         : Value();
}

/// If `value` is x ^ -0.5: x. Else null.
static Value getInverseRootSource(Value value) {
  if (UnaryOp root = getUnary(value, UnaryKind::Rsqrt))
    return root.getX();
  double exponent = 0;
  Value x = getWithConstant(value, BinaryKind::Pow, exponent);
  return x && exponent == -0.5 ? x : Value();
}

namespace {
struct Quotient {
  NormKind kind;
  Value x;
  int64_t axis;
  double epsilon;
};
} // namespace

/// Whether `centred * factor` is a norm's quotient.
static std::optional<Quotient> getQuotient(Value centred, Value factor) {
  auto broadcast = factor.getDefiningOp<BroadcastOp>();
  int64_t axis = broadcast ? rankOf(broadcast.getX()) : 0;
  Value row = broadcast ? getRowValue(factor, axis) : Value();
  Value shifted = row ? getInverseRootSource(row) : Value();
  double epsilon = 0;
  Value variance =
      shifted ? getWithConstant(shifted, BinaryKind::Add, epsilon) : Value();
  Value square = variance ? getMeanSource(variance, axis) : Value();
  if (!square || getSquareRoot(square) != centred)
    return std::nullopt;
  BinaryOp difference = getBinary(centred, BinaryKind::Sub);
  Value mean = difference ? getRowValue(difference.getRhs(), axis) : Value();
  if (mean && getMeanSource(mean, axis) == difference.getLhs())
    return Quotient{NormKind::Layer, difference.getLhs(), axis, epsilon};
  return Quotient{NormKind::Rms, centred, axis, epsilon};
}

static LogicalResult raiseQuotient(BinaryOp op, PatternRewriter &rewriter) {
  if (op.getKind() != BinaryKind::Mul)
    return failure();
  auto quotient = getQuotient(op.getLhs(), op.getRhs());
  if (!quotient)
    quotient = getQuotient(op.getRhs(), op.getLhs());
  if (!quotient)
    return failure();
  rewriter.replaceOpWithNewOp<NormOp>(
      op, op.getType(), quotient->kind, quotient->x, Value(), Value(),
      quotient->axis, APFloat(quotient->epsilon));
  return success();
}

//===-- Scale and bias ----------------------------------------------------===//

/// `value` before its repetition over the dims in front of `axis`, or null.
static Value getColumnValue(PatternRewriter &rewriter, Value value,
                            int64_t axis) {
  RankedTensorType type = typeOf(value);
  RankedTensorType column = type.clone(type.getShape().drop_front(axis));
  if (std::optional<double> constant = getSplat(value))
    return makeSplat(rewriter, value.getLoc(), column, *constant);
  if (type.getNumElements() == column.getNumElements())
    return rewriter.createOrFold<ReshapeOp>(value.getLoc(), column, value);
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return Value();
  Value source = broadcast.getX();
  // Leading dims of size 1 are not repeated columns, but hold one.
  ArrayRef<int64_t> shape = shapeOf(source);
  size_t units =
      shape.size() - std::min(shape.size(), column.getShape().size());
  bool fits = shape.drop_front(units) == column.getShape() &&
              llvm::all_of(shape.take_front(units),
                           [](int64_t size) { return size == 1; }) &&
              broadcast.getDims().drop_front(units) ==
                  ArrayRef(getRange(axis, type.getRank()));
  if (!fits)
    return Value();
  return rewriter.createOrFold<ReshapeOp>(value.getLoc(), column, source);
}

/// norm(x) * scale and norm(x) + bias -> norm(x, scale, bias).
static LogicalResult absorbScaleOrBias(BinaryOp op, PatternRewriter &rewriter) {
  bool isScale = op.getKind() == BinaryKind::Mul;
  if (!isScale && op.getKind() != BinaryKind::Add)
    return failure();
  for (int i : {0, 1}) {
    auto norm = op->getOperand(i).getDefiningOp<NormOp>();
    if (!norm || !norm->hasOneUse() || norm.getBias() ||
        (isScale && norm.getScale()))
      continue;
    Value column =
        getColumnValue(rewriter, op->getOperand(1 - i), norm.getAxis());
    if (!column)
      continue;
    rewriter.replaceOpWithNewOp<NormOp>(
        op, op.getType(), norm.getKind(), norm.getX(),
        isScale ? column : norm.getScale(), isScale ? Value() : column,
        norm.getAxis(), norm.getEpsilon());
    return success();
  }
  return failure();
}

namespace {
struct RaiseNormPass : cleave::impl::RaiseNormPassBase<RaiseNormPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(raiseQuotient);
    patterns.add(absorbScaleOrBias);
    if (failed(
            applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
