//===- AttentionFormula.cpp - attention in simpler ops --------------------===//
//
// Heads are [G, R], groups of keys and the heads that read one: scores and
// probabilities are [B, G, R, S, T].
//
//===----------------------------------------------------------------------===//

#include "ir/AttentionFormula.h"

#include "ir/Elementwise.h"
#include "ir/Movement.h"

#include <limits>

using namespace cleave;
using namespace mlir;

/// [B, H, S, D] -> [B, G, R, S, D].
static Value splitHeads(LogicalBuilder &b, Value x, Value k) {
  SmallVector<int64_t> shape(getTensorType(x).getShape());
  int64_t groups = getTensorType(k).getDimSize(1);
  shape[1] /= groups;
  shape.insert(shape.begin() + 1, groups);
  return b.reshape(x, shape);
}

/// The mask, with 1 where it is repeated, as [B, G, R, S, T].
static Value splitMask(LogicalBuilder &b, Value mask, Value k) {
  SmallVector<int64_t> shape(getTensorType(mask).getShape());
  int64_t groups = shape[1] == 1 ? 1 : getTensorType(k).getDimSize(1);
  shape[1] /= groups;
  shape.insert(shape.begin() + 1, groups);
  return b.reshape(mask, shape);
}

/// Whether query s sees key t, over the scores' shape.
static Value makeCausal(LogicalBuilder &b, ArrayRef<int64_t> shape) {
  int64_t queries = shape[3], keys = shape[4];
  auto type = RankedTensorType::get({queries, keys}, b.b.getI64Type());
  Value last = b.add(b.iota(type, 0), static_cast<double>(keys - queries));
  Value seen = b.compare(CompareKind::Le, b.iota(type, 1), last);
  return b.repeat(seen, shape, {3, 4});
}

static Value buildProbabilities(LogicalBuilder &b,
                                const AttentionParts &parts) {
  Value q = splitHeads(b, parts.q, parts.k);
  Value scores = b.dot(q, parts.k, {0, 1}, {0, 1}, {4}, {3});
  ArrayRef<int64_t> shape = getTensorType(scores).getShape();
  scores = b.mul(scores, parts.scale);
  if (parts.mask)
    scores = b.add(scores, b.repeat(splitMask(b, parts.mask, parts.k), shape,
                                    getDims(0, 5)));
  if (parts.causal)
    scores =
        b.select(makeCausal(b, shape), scores,
                 b.splat(scores, -std::numeric_limits<double>::infinity()));
  return b.b.create<SoftmaxOp>(b.loc, scores, 4, /*log=*/false);
}

Value cleave::buildAttention(LogicalBuilder &b, const AttentionParts &parts) {
  Value p = buildProbabilities(b, parts);
  Value result = b.dot(p, parts.v, {0, 1}, {0, 1}, {4}, {2});
  SmallVector<int64_t> shape(getTensorType(parts.q).getShape());
  shape[3] = getTensorType(parts.v).getDimSize(3);
  return b.reshape(result, shape);
}

/// Sums over the dims along which the mask is repeated.
static Value sumToMask(LogicalBuilder &b, Value x, Value mask, Value k) {
  ArrayRef<int64_t> shape = getTensorType(splitMask(b, mask, k)).getShape();
  SmallVector<int64_t> repeated;
  for (auto [dim, size] : llvm::enumerate(getTensorType(x).getShape()))
    if (shape[dim] != size)
      repeated.push_back(dim);
  return b.reshape(b.sum(x, repeated), getTensorType(mask).getShape());
}

AttentionGradients cleave::buildAttentionGradients(LogicalBuilder &b,
                                                   const AttentionParts &parts,
                                                   Value dresult) {
  Value q = splitHeads(b, parts.q, parts.k);
  Value dy = splitHeads(b, dresult, parts.k);
  Value p = buildProbabilities(b, parts);
  AttentionGradients result;
  result.dv = b.dot(p, dy, {0, 1}, {0, 1}, {2, 3}, {2, 3});
  Value dp = b.dot(dy, parts.v, {0, 1}, {0, 1}, {4}, {3});
  ArrayRef<int64_t> shape = getTensorType(p).getShape();
  Value mean = b.repeatAlong(b.sum(b.mul(dp, p), {4}), shape, {4});
  Value ds = b.mul(p, b.sub(dp, mean));
  if (parts.mask)
    result.dmask = sumToMask(b, ds, parts.mask, parts.k);
  ds = b.mul(ds, parts.scale);
  Value dq = b.dot(ds, parts.k, {0, 1}, {0, 1}, {4}, {2});
  result.dq = b.reshape(dq, getTensorType(parts.q).getShape());
  result.dk = b.dot(ds, q, {0, 1}, {0, 1}, {2, 3}, {2, 3});
  return result;
}
