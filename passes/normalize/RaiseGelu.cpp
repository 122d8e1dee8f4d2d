//===- RaiseGelu.cpp - recognise gelu and silu ----------------------------===//
//
// A product c * x * gate is taken apart into its factors. gelu: the gate is
// affine in t = erf(u) or t = tanh(u), with c * gate = t / 2 + 1 / 2, and u is
// a polynomial in x: x / sqrt 2, or sqrt(2 / pi) (x + 0.044715 x^3). So it does
// not matter where an exporter puts the constants. silu: the gate is
// sigmoid(x).
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Match.h"
#include "passes/normalize/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <array>
#include <cmath>

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_RAISEGELUPASS
#include "passes/normalize/Passes.h.inc"
} // namespace cleave

//===-- Polynomials in one value ------------------------------------------===//

/// Coefficients of 1, x, x^2, x^3.
using Polynomial = std::array<double, 4>;

static std::optional<Polynomial> multiply(const Polynomial &a,
                                          const Polynomial &b) {
  Polynomial product = {};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      double term = a[i] * b[j];
      if (i + j < product.size())
        product[i + j] += term;
      else if (term != 0)
        return std::nullopt;
    }
  return product;
}

/// `value` as a polynomial of degree 3 in `x`; none if it is another function.
/// `depth` bounds the search.
static std::optional<Polynomial> getPolynomial(Value value, Value x,
                                               int depth = 8) {
  if (value == x)
    return Polynomial{0, 1, 0, 0};
  if (std::optional<double> constant = getSplat(value))
    return Polynomial{*constant, 0, 0, 0};
  auto op = value.getDefiningOp<BinaryOp>();
  if (!op || depth == 0)
    return std::nullopt;
  auto a = getPolynomial(op.getLhs(), x, depth - 1);
  auto b = a ? getPolynomial(op.getRhs(), x, depth - 1) : std::nullopt;
  if (!b)
    return std::nullopt;
  if (op.getKind() == BinaryKind::Mul)
    return multiply(*a, *b);
  if (op.getKind() != BinaryKind::Add && op.getKind() != BinaryKind::Sub)
    return std::nullopt;
  for (size_t i = 0; i < a->size(); ++i)
    (*a)[i] += op.getKind() == BinaryKind::Add ? (*b)[i] : -(*b)[i];
  return a;
}

static bool isPolynomial(Value value, Value x, const Polynomial &expected) {
  std::optional<Polynomial> found = getPolynomial(value, x);
  Type type = typeOf(value).getElementType();
  if (!found)
    return false;
  for (size_t i = 0; i < expected.size(); ++i)
    if (!isClose((*found)[i], expected[i], type))
      return false;
  return true;
}

//===-- Products ----------------------------------------------------------===//

namespace {
/// scale * factors...
struct Product {
  double scale = 1;
  SmallVector<Value> factors;
};
} // namespace

/// Takes the product `value` apart, through products that only it reads.
static void addFactors(Value value, Product &product, bool isRoot) {
  BinaryOp op = getBinary(value, BinaryKind::Mul);
  if (std::optional<double> constant = getSplat(value)) {
    product.scale *= *constant;
  } else if (op && (isRoot || value.hasOneUse())) {
    addFactors(op.getLhs(), product, false);
    addFactors(op.getRhs(), product, false);
  } else {
    product.factors.push_back(value);
  }
}

/// The erf or tanh that a gate is made of, through sums and products with
/// constants.
static UnaryOp findSquash(Value gate) {
  while (auto op = gate.getDefiningOp<BinaryOp>()) {
    if (!getSplat(op.getRhs()))
      return UnaryOp();
    gate = op.getLhs();
  }
  auto op = gate.getDefiningOp<UnaryOp>();
  bool fits =
      op && (op.getKind() == UnaryKind::Erf || op.getKind() == UnaryKind::Tanh);
  return fits ? op : UnaryOp();
}

/// The kind of activation that `scale * x * gate` is.
static std::optional<UnaryKind> getActivation(double scale, Value x,
                                              Value gate) {
  Type type = typeOf(x).getElementType();
  UnaryOp sigmoid = getUnary(gate, UnaryKind::Sigmoid);
  if (sigmoid && sigmoid.getX() == x && isClose(scale, 1, type))
    return UnaryKind::Silu;
  UnaryOp squash = findSquash(gate);
  if (!squash || scale == 0 || !gate.hasOneUse() ||
      !isPolynomial(gate, squash, {0.5 / scale, 0.5 / scale, 0, 0}))
    return std::nullopt;
  double k = std::sqrt(2 / M_PI);
  if (squash.getKind() == UnaryKind::Erf)
    return isPolynomial(squash.getX(), x, {0, M_SQRT1_2, 0, 0})
               ? std::optional(UnaryKind::GeluErf)
               : std::nullopt;
  return isPolynomial(squash.getX(), x, {0, k, 0, k * 0.044715})
             ? std::optional(UnaryKind::GeluTanh)
             : std::nullopt;
}

static LogicalResult raiseActivation(BinaryOp op, PatternRewriter &rewriter) {
  if (op.getKind() != BinaryKind::Mul ||
      !isa<FloatType>(op.getType().getElementType()))
    return failure();
  Product product;
  addFactors(op, product, true);
  if (product.factors.size() != 2)
    return failure();
  for (int i : {0, 1}) {
    Value x = product.factors[i], gate = product.factors[1 - i];
    if (std::optional<UnaryKind> kind = getActivation(product.scale, x, gate)) {
      rewriter.replaceOpWithNewOp<UnaryOp>(op, op.getType(), *kind, x);
      return success();
    }
  }
  return failure();
}

namespace {
struct RaiseGeluPass : cleave::impl::RaiseGeluPassBase<RaiseGeluPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(raiseActivation);
    if (failed(
            applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
