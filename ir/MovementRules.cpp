//===- MovementRules.cpp - factors, work and local forms ------------------===//

#include "ir/Elementwise.h"
#include "ir/Movement.h"
#include "ir/Reduction.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

/// A view costs nothing: no bytes move until something reads it.
static Work getViewWork() { return Work(); }

/// Dims that keep their size are parallel; others cannot be split.
static ShardingRule getSameSizeRule(RankedTensorType from,
                                    RankedTensorType to) {
  ShardingRule rule;
  TensorFactors in, out;
  for (auto [before, after] : llvm::zip(from.getShape(), to.getShape())) {
    bool same = before == after;
    in.push_back({rule.addFactor(before, same ? FactorKind::Parallel
                                              : FactorKind::Whole)});
    out.push_back(same ? in.back()
                       : DimFactors{rule.addFactor(after, FactorKind::Whole)});
  }
  rule.operands = {in};
  rule.results = {out};
  return rule;
}

//===-- Reshape -----------------------------------------------------------===//

/// Cuts both shapes into common factors, major first: [6, 64] and [384] share
/// the factors 6 and 64. What has no common divisor is kept whole up to the
/// next cut: [4, 6] and [6, 4] share a factor 2; the rest, 2 x 6 and 3 x 4, is
/// whole.
ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule;
  ArrayRef<int64_t> from = getX().getType().getShape(),
                    to = getType().getShape();
  TensorFactors in(from.size()), out(to.size());
  if (getType().getNumElements() == 0)
    return getWholeRule(*this);
  size_t i = 0, j = 0;
  int64_t left = 1, right = 1; // what remains of the current dims
  auto advance = [](ArrayRef<int64_t> shape, size_t &next, int64_t &rest) {
    while (rest == 1 && next < shape.size())
      rest = shape[next++];
  };
  for (;;) {
    advance(from, i, left);
    advance(to, j, right);
    if (left == 1 && right == 1)
      break;
    int64_t common = std::gcd(left, right);
    if (common == 1) { // no cut here: both dims whole, to the next common cut
      int64_t a = left, b = right;
      in[i - 1].push_back(rule.addFactor(a, FactorKind::Whole));
      out[j - 1].push_back(rule.addFactor(b, FactorKind::Whole));
      while (a != b) {
        if (a < b) {
          a *= from[i];
          in[i].push_back(rule.addFactor(from[i], FactorKind::Whole));
          ++i;
        } else {
          b *= to[j];
          out[j].push_back(rule.addFactor(to[j], FactorKind::Whole));
          ++j;
        }
      }
      left = right = 1;
      continue;
    }
    int64_t factor = rule.addFactor(common);
    in[i - 1].push_back(factor);
    out[j - 1].push_back(factor);
    left /= common;
    right /= common;
  }
  rule.operands = {in};
  rule.results = {out};
  rule.linearOperands = {0};
  return rule;
}
Work ReshapeOp::getWork() { return getViewWork(); }

//===-- Transpose, broadcast ----------------------------------------------===//

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors in, out;
  for (int64_t size : getX().getType().getShape())
    in.push_back({rule.addFactor(size)});
  for (int64_t dim : getPerm())
    out.push_back(in[dim]);
  rule.operands = {in};
  rule.results = {out};
  rule.linearOperands = {0};
  return rule;
}
Work TransposeOp::getWork() { return getViewWork(); }

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors in(getX().getType().getRank()), out;
  for (int64_t size : getType().getShape())
    out.push_back({rule.addFactor(size)});
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (getX().getType().getDimSize(i) == getType().getDimSize(dim))
      in[i] = out[dim];
  rule.operands = {in};
  rule.results = {out};
  rule.linearOperands = {0};
  return rule;
}
Work BroadcastOp::getWork() { return getViewWork(); }

//===-- Slice, pad --------------------------------------------------------===//

ShardingRule SliceOp::getShardingRule() {
  ShardingRule rule = getSameSizeRule(getX().getType(), getType());
  rule.linearOperands = {0};
  return rule;
}
Work SliceOp::getWork() { return getViewWork(); }

/// Dims that were taken whole take the local size.
Operation *SliceOp::localize(OpBuilder &b, ValueRange operands,
                             TypeRange types) {
  auto local = cast<RankedTensorType>(operands[0].getType());
  SmallVector<int64_t> sizes(getSizes());
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size == getX().getType().getDimSize(dim))
      size = local.getDimSize(dim);
  return b.create<SliceOp>(getLoc(), operands[0], getStarts(), sizes,
                           getStrides());
}

ShardingRule PadOp::getShardingRule() {
  ShardingRule rule = getSameSizeRule(getX().getType(), getType());
  if (getValue().isZero())
    rule.linearOperands = {0};
  return rule;
}
Work PadOp::getWork() { return getElementwiseWork(*this, 0); }

//===-- Concat, iota, resize ----------------------------------------------===//

ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors out;
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    out.push_back({rule.addFactor(
        size, dim == getDim() ? FactorKind::Whole : FactorKind::Parallel)});
  for (Value input : getInputs()) {
    TensorFactors in = out;
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(getDim());
    in[getDim()] = {rule.addFactor(size, FactorKind::Whole)};
    rule.operands.push_back(in);
    rule.linearOperands.push_back(rule.linearOperands.size());
  }
  rule.results = {out};
  return rule;
}
Work ConcatOp::getWork() { return getElementwiseWork(*this, 0); }

ShardingRule IotaOp::getShardingRule() {
  return getElementwiseRule(*this, false);
}
Work IotaOp::getWork() { return getElementwiseWork(*this, 0); }

ShardingRule ResizeOp::getShardingRule() {
  return getSameSizeRule(getX().getType(), getType());
}
Work ResizeOp::getWork() { return getElementwiseWork(*this, 8); }
