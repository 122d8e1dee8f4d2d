//===- ElementwisePatterns.cpp - identities, powers, quotients, roots -----===//
//
// Constants and repeated values go to the right of commutative kinds; quotients
// become products.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Match.h"
#include "passes/normalize/Patterns.h"

#include <cmath>

using namespace cleave;
using namespace mlir;

static bool isFloat(Value value) {
  return isa<FloatType>(typeOf(value).getElementType());
}

/// Whether a float type of at least 16 bits holds `value` with full precision.
static bool isNormal(double value) {
  return std::isnormal(value) && std::abs(value) > 1e-4 &&
         std::abs(value) < 1e4;
}

static BinaryOp replaceBinary(PatternRewriter &rewriter, Operation *op,
                              BinaryKind kind, Value lhs, Value rhs) {
  return rewriter.replaceOpWithNewOp<BinaryOp>(op, lhs.getType(), kind, lhs,
                                               rhs);
}

/// 2 for a splat, 1 for what is repeated, 0 for what is computed.
static int getSimplicity(Value value) {
  return getSplat(value) ? 2 : value.getDefiningOp<BroadcastOp>() ? 1 : 0;
}

/// c + x -> x + c.
static LogicalResult moveConstantRight(BinaryOp op, PatternRewriter &rewriter) {
  BinaryKind kind = op.getKind();
  bool commutes = kind == BinaryKind::Add || kind == BinaryKind::Mul ||
                  kind == BinaryKind::Max || kind == BinaryKind::Min ||
                  kind == BinaryKind::And || kind == BinaryKind::Or;
  if (!commutes || getSimplicity(op.getLhs()) <= getSimplicity(op.getRhs()))
    return failure();
  replaceBinary(rewriter, op, kind, op.getRhs(), op.getLhs());
  return success();
}

/// x + 0, x - 0, x * 1, x / 1, x ^ 1, x and true, x or false -> x.
static LogicalResult removeIdentity(BinaryOp op, PatternRewriter &rewriter) {
  std::optional<double> c = getSplat(op.getRhs());
  if (!c)
    return failure();
  bool isBool = typeOf(op).getElementType().isInteger(1);
  bool isIdentity = false;
  switch (op.getKind()) {
  case BinaryKind::Add:
  case BinaryKind::Sub:
    isIdentity = *c == 0;
    break;
  case BinaryKind::Mul:
  case BinaryKind::Div:
  case BinaryKind::Pow:
    isIdentity = *c == 1;
    break;
  case BinaryKind::And:
    isIdentity = isBool && *c == 1;
    break;
  case BinaryKind::Or:
    isIdentity = isBool && *c == 0;
    break;
  default:
    break;
  }
  if (!isIdentity)
    return failure();
  rewriter.replaceOp(op, op.getLhs());
  return success();
}

/// x ^ 2 -> x * x; x ^ 3 -> x * (x * x).
static LogicalResult expandPower(BinaryOp op, PatternRewriter &rewriter) {
  std::optional<double> c = getSplat(op.getRhs());
  if (op.getKind() != BinaryKind::Pow || !c || (*c != 2 && *c != 3))
    return failure();
  Value x = op.getLhs();
  Value square = x;
  if (*c == 3)
    square = rewriter.create<BinaryOp>(op.getLoc(), x.getType(),
                                       BinaryKind::Mul, x, x);
  replaceBinary(rewriter, op, BinaryKind::Mul, x, square);
  return success();
}

/// (x * a) * b -> x * (a * b), when nobody else reads x * a.
static LogicalResult joinScales(BinaryOp op, PatternRewriter &rewriter) {
  double inner = 0;
  Value x = getWithConstant(op.getLhs(), BinaryKind::Mul, inner);
  std::optional<double> outer = getSplat(op.getRhs());
  if (op.getKind() != BinaryKind::Mul || !x || !outer || !isFloat(x) ||
      !op.getLhs().hasOneUse() || !isNormal(inner) || !isNormal(*outer))
    return failure();
  Value scale = makeSplat(rewriter, op.getLoc(), typeOf(x), inner * *outer);
  replaceBinary(rewriter, op, BinaryKind::Mul, x, scale);
  return success();
}

/// 1 / x -> reciprocal x; x / c -> x * (1 / c).
static LogicalResult invertDivisor(BinaryOp op, PatternRewriter &rewriter) {
  if (op.getKind() != BinaryKind::Div || !isFloat(op))
    return failure();
  std::optional<double> dividend = getSplat(op.getLhs());
  if (dividend && *dividend == 1) {
    rewriter.replaceOpWithNewOp<UnaryOp>(op, op.getType(),
                                         UnaryKind::Reciprocal, op.getRhs());
    return success();
  }
  std::optional<double> divisor = getSplat(op.getRhs());
  if (!divisor || !isNormal(*divisor))
    return failure();
  Value scale = makeSplat(rewriter, op.getLoc(), op.getType(), 1 / *divisor);
  replaceBinary(rewriter, op, BinaryKind::Mul, op.getLhs(), scale);
  return success();
}

/// x / sqrt(y) -> x * rsqrt(y), also where the root is repeated.
static LogicalResult invertRoot(BinaryOp op, PatternRewriter &rewriter) {
  if (op.getKind() != BinaryKind::Div)
    return failure();
  auto broadcast = op.getRhs().getDefiningOp<BroadcastOp>();
  Value divisor = broadcast ? broadcast.getX() : op.getRhs();
  UnaryOp root = getUnary(divisor, UnaryKind::Sqrt);
  if (!root)
    return failure();
  Value inverse = rewriter.create<UnaryOp>(root.getLoc(), root.getType(),
                                           UnaryKind::Rsqrt, root.getX());
  if (broadcast)
    inverse = rewriter.create<BroadcastOp>(
        broadcast.getLoc(), broadcast.getType(), inverse, broadcast.getDims());
  replaceBinary(rewriter, op, BinaryKind::Mul, op.getLhs(), inverse);
  return success();
}

/// 1 / sqrt(x) -> rsqrt(x).
static LogicalResult joinRoot(UnaryOp op, PatternRewriter &rewriter) {
  UnaryOp root = op.getKind() == UnaryKind::Reciprocal
                     ? getUnary(op.getX(), UnaryKind::Sqrt)
                     : UnaryOp();
  if (!root)
    return failure();
  rewriter.replaceOpWithNewOp<UnaryOp>(op, op.getType(), UnaryKind::Rsqrt,
                                       root.getX());
  return success();
}

void cleave::populateElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add(moveConstantRight);
  patterns.add(removeIdentity);
  patterns.add(expandPower);
  patterns.add(joinScales);
  patterns.add(invertDivisor);
  patterns.add(invertRoot);
  patterns.add(joinRoot);
}
