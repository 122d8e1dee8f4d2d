//===- WidenProducts.cpp - products of types that no library call has -----===//
//
// Needs rank programs, before their kernels are formed. Guarantees that what is
// left of products, convolutions and attention in f16 and bf16 is in f32, with
// casts around it, unless the libraries have them; that a product of f64 or
// integers is a reduction of what its repeated operands give, which is one
// generated kernel; and that attention in f64, and gradients of attention, are
// products and a softmax.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Passes.h"

#include "ir/AttentionFormula.h"
#include "ir/Cleave.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_WIDENPRODUCTSPASS
#include "passes/fuse/Passes.h.inc"
} // namespace cleave

static RankedTensorType getResultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

//===-- Narrow floats -----------------------------------------------------===//

static Value castTo(OpBuilder &b, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  return b.create<CastOp>(loc, type.clone(element), value);
}

/// The op on f32, between casts; it takes the place of `op`.
static Operation *computeInSingle(Operation *op) {
  OpBuilder b(op);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands())
    operands.push_back(castTo(b, op->getLoc(), operand, b.getF32Type()));
  for (Type type : op->getResultTypes())
    types.push_back(cast<RankedTensorType>(type).clone(b.getF32Type()));
  Type element = getResultType(op).getElementType();
  Operation *wide = cloneWithTypes(b, op, operands, types);
  for (auto [from, to] : llvm::zip(op->getResults(), wide->getResults()))
    from.replaceAllUsesWith(castTo(b, op->getLoc(), to, element));
  op->erase();
  return wide;
}

//===-- Attention ---------------------------------------------------------===//

template <typename Op> static AttentionParts getParts(Op op) {
  return {op.getQ(),
          op.getK(),
          op.getV(),
          op.getMask(),
          op.getScale().convertToDouble(),
          op.getCausal()};
}

/// By a score matrix, for which there are fast products.
static void splitAttention(AttentionOp op) {
  OpBuilder builder(op);
  LogicalBuilder b(builder, op.getLoc());
  op.getResult().replaceAllUsesWith(buildAttention(b, getParts(op)));
  op.erase();
}
static void splitAttention(AttentionGradOp op) {
  OpBuilder builder(op);
  LogicalBuilder b(builder, op.getLoc());
  AttentionGradients found =
      buildAttentionGradients(b, getParts(op), op.getDresult());
  op.getDq().replaceAllUsesWith(found.dq);
  op.getDk().replaceAllUsesWith(found.dk);
  op.getDv().replaceAllUsesWith(found.dv);
  op.erase();
}

//===-- Doubles and integers ----------------------------------------------===//

/// Repeats an operand whose dims are, in `order`, the dims `at` of `type`.
static Value repeat(OpBuilder &b, Location loc, Value operand,
                    ArrayRef<int64_t> order, ArrayRef<int64_t> at,
                    RankedTensorType type) {
  Value ordered =
      b.createOrFold<TransposeOp>(loc, operand, b.getDenseI64ArrayAttr(order));
  return b.create<BroadcastOp>(loc, type, ordered, at);
}

/// sum(lhs * rhs) over [batch, lhs free, ..., ...]; the last dims are the
/// contracting ones, or the free ones of rhs where these are its last ones: its
/// elements are read in order then.
static void reduceProduct(DotOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  ArrayRef<int64_t> lhs = op.getLhs().getType().getShape();
  ArrayRef<int64_t> rhs = op.getRhs().getType().getShape();
  SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  int64_t last = static_cast<int64_t>(rhs.size()) - 1;
  bool contractsLast = llvm::is_contained(op.getRhsContract(), last);
  SmallVector<int64_t> shape, lhsOrder, rhsOrder, lhsAt, rhsAt, reduced;
  auto addDims = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    for (size_t i = 0, e = std::max(left.size(), right.size()); i < e; ++i) {
      int64_t at = shape.size();
      shape.push_back(left.empty() ? rhs[right[i]] : lhs[left[i]]);
      if (!left.empty()) {
        lhsOrder.push_back(left[i]);
        lhsAt.push_back(at);
      }
      if (!right.empty()) {
        rhsOrder.push_back(right[i]);
        rhsAt.push_back(at);
      }
    }
  };
  auto addContract = [&] {
    for (size_t i = 0; i < op.getLhsContract().size(); ++i)
      reduced.push_back(shape.size() + i);
    addDims(op.getLhsContract(), op.getRhsContract());
  };
  addDims(op.getLhsBatch(), op.getRhsBatch());
  addDims(lhsFree, {});
  if (!contractsLast)
    addContract();
  addDims({}, rhsFree);
  if (contractsLast)
    addContract();
  auto type = RankedTensorType::get(shape, op.getType().getElementType());
  Value product =
      b.create<BinaryOp>(loc, type, BinaryKind::Mul,
                         repeat(b, loc, op.getLhs(), lhsOrder, lhsAt, type),
                         repeat(b, loc, op.getRhs(), rhsOrder, rhsAt, type));
  if (!reduced.empty())
    product = b.create<ReduceOp>(loc, ReduceKind::Sum, product, reduced);
  op.getResult().replaceAllUsesWith(product);
  op.erase();
}

//===-- Pass --------------------------------------------------------------===//

/// Products of f64 that attention is made of are still to be visited.
static void visitAttention(Operation *op, bool narrow) {
  if (!isa<AttentionOp, AttentionGradOp>(op))
    return;
  Type element = getResultType(op).getElementType();
  if (!narrow && (element.isF16() || element.isBF16()))
    op = computeInSingle(op);
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    splitAttention(gradient);
  else if (auto attention = cast<AttentionOp>(op); element.isF64())
    splitAttention(attention);
}

static void visitProduct(Operation *op, bool narrow) {
  if (!isa<DotOp, ConvOp, ConvWeightGradOp>(op))
    return;
  Type element = getResultType(op).getElementType();
  if (element.isF16() || element.isBF16()) {
    if (!narrow)
      computeInSingle(op);
  } else if (auto dot = dyn_cast<DotOp>(op); dot && !element.isF32()) {
    reduceProduct(dot);
  }
}

namespace {
struct WidenProductsPass
    : cleave::impl::WidenProductsPassBase<WidenProductsPass> {
  using WidenProductsPassBase::WidenProductsPassBase;
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) { visitAttention(op, narrow); });
    getOperation().walk([&](Operation *op) { visitProduct(op, narrow); });
  }
};
} // namespace
