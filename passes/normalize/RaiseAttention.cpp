//===- RaiseAttention.cpp - recognise softmax(scale q k^T + mask) v -------===//
//
// Walks from the product with the values back over the softmax, the sum with
// masks and the scale to the product of queries and keys. Batch dims of both
// products become batch and heads: two as they are, a single one as heads. What
// stands between must have no other reader, so that the scores really vanish.
//
// A mask with 0 up to the diagonal and at most `maskedOut` behind it becomes
// `causal`; any other stays an operand, without the dims over which it repeats.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/ElementReader.h"
#include "passes/normalize/Match.h"
#include "passes/normalize/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "passes/normalize/Passes.h.inc"
} // namespace cleave

/// Exponentials of scores this low are 0 beside any other.
static constexpr double maskedOut = -1e9;
/// Elements beyond which a mask is not examined.
static constexpr int64_t maskLimit = 1 << 24;

namespace {
/// What stands between the two products.
struct Scores {
  DotOp dot;
  double scale = 1;
  bool causal = false;
  Value mask;           ///< of the scores' shape, added
  Value kept;           ///< of the scores' shape, i1: where scores are kept
  double otherwise = 0; ///< the score where they are not
  bool hasMask() const { return mask || kept || causal; }
};
} // namespace

//===-- Masks -------------------------------------------------------------===//

/// Sizes of the dims in front of [S, T], 1 where the mask is repeated.
static SmallVector<int64_t> getDistinctBatch(Value mask) {
  SmallVector<int64_t> batch(shapeOf(mask).drop_back(2));
  auto broadcast = mask.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return batch;
  SmallVector<int64_t> distinct(batch.size(), 1);
  for (auto [size, dim] :
       llvm::zip(shapeOf(broadcast.getX()), broadcast.getDims()))
    if (dim < static_cast<int64_t>(distinct.size()))
      distinct[dim] = size;
  return distinct;
}

/// Whether `isKept` holds for exactly the keys up to the diagonal, in each
/// [S, T] of `value` [..., S, T].
static bool isCausal(Value value, function_ref<bool(double)> isKept) {
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t rank = shape.size();
  int64_t queries = shape[rank - 2], keys = shape[rank - 1];
  SmallVector<int64_t> batch = getDistinctBatch(value);
  int64_t outer = std::accumulate(batch.begin(), batch.end(), int64_t(1),
                                  std::multiplies<>());
  if (queries > keys || outer * queries * keys > maskLimit ||
      !isReadable(value))
    return false;
  SmallVector<int64_t> index(rank);
  for (int64_t i = 0, e = outer * queries * keys; i < e; ++i) {
    int64_t s = i / keys % queries, t = i % keys, rest = i / (queries * keys);
    index[rank - 2] = s;
    index[rank - 1] = t;
    for (int64_t dim = rank - 3; dim >= 0; --dim) {
      index[dim] = rest % batch[dim];
      rest /= batch[dim];
    }
    std::optional<double> element = readElement(value, index);
    if (!element || isKept(*element) != (t <= s + keys - queries))
      return false;
  }
  return true;
}

/// Whether an added mask is 0 up to the diagonal and masks out the rest.
static bool isCausalSum(Value mask) {
  bool clear = true;
  bool triangular = isCausal(mask, [&](double element) {
    clear &= element == 0 || element <= maskedOut;
    return element == 0;
  });
  return triangular && clear;
}

static bool addMask(Value mask, Scores &scores) {
  if (isCausalSum(mask))
    scores.causal = true;
  else if (!scores.mask && !scores.kept)
    scores.mask = mask;
  else
    return false;
  return true;
}

static bool addSelection(SelectOp op, Scores &scores) {
  std::optional<double> otherwise = getSplat(op.getOnFalse());
  if (!otherwise || *otherwise > maskedOut)
    return false;
  if (isCausal(op.getCondition(), [](double kept) { return kept != 0; })) {
    scores.causal = true;
    return true;
  }
  if (scores.mask || scores.kept)
    return false;
  scores.kept = op.getCondition();
  scores.otherwise = *otherwise;
  return true;
}

//===-- Scores ------------------------------------------------------------===//

/// Takes apart what goes into the softmax. False if it is no scores.
static bool parseScores(Value value, Scores &scores) {
  if (!value.hasOneUse())
    return false;
  if (auto dot = value.getDefiningOp<DotOp>()) {
    scores.dot = dot;
    return true;
  }
  double scale = 0;
  if (Value x = getWithConstant(value, BinaryKind::Mul, scale)) {
    scores.scale *= scale;
    return parseScores(x, scores) && !scores.hasMask();
  }
  if (auto select = value.getDefiningOp<SelectOp>())
    return parseScores(select.getOnTrue(), scores) &&
           addSelection(select, scores);
  BinaryOp sum = getBinary(value, BinaryKind::Add);
  if (!sum)
    return false;
  Scores before = scores;
  if (parseScores(sum.getLhs(), scores) && addMask(sum.getRhs(), scores))
    return true;
  scores = before;
  return parseScores(sum.getRhs(), scores) && addMask(sum.getLhs(), scores);
}

/// One or two batch dims, one contracting dim, one free dim a side.
static bool isHeadProduct(DotOp dot) {
  size_t batch = dot.getLhsBatch().size();
  return (batch == 1 || batch == 2) && dot.getLhsContract().size() == 1 &&
         dot.getLhsFree().size() == 1 && dot.getRhsFree().size() == 1;
}

/// The scores behind `dot`, when it is their product with the values.
static std::optional<Scores> matchScores(DotOp dot) {
  auto softmax = dot.getLhs().getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax->hasOneUse() || softmax.getLog() ||
      !isHeadProduct(dot))
    return std::nullopt;
  int64_t batch = dot.getLhsBatch().size(), keys = batch + 1;
  Scores scores;
  bool fits = dot.getLhsBatch() == ArrayRef(getRange(0, batch)) &&
              dot.getLhsContract()[0] == keys &&
              static_cast<int64_t>(softmax.getDim()) == keys &&
              parseScores(softmax.getX(), scores) &&
              isHeadProduct(scores.dot) &&
              static_cast<int64_t>(scores.dot.getLhsBatch().size()) == batch;
  return fits ? std::optional(scores) : std::nullopt;
}

//===-- Operands ----------------------------------------------------------===//

/// `value` without a factor that is the same for all elements, which goes to
/// `scale`; below transposes and reshapes, too.
static Value peelScale(OpBuilder &builder, Value value, double &scale) {
  double factor = 0;
  if (Value x = getWithConstant(value, BinaryKind::Mul, factor)) {
    scale *= factor;
    return peelScale(builder, x, scale);
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<TransposeOp, ReshapeOp, BroadcastOp>(op))
    return value;
  Value source = op->getOperand(0);
  Value peeled = peelScale(builder, source, scale);
  if (peeled == source)
    return value;
  return cloneWithTypes(builder, op, peeled, value.getType())->getResult(0);
}

/// The transpose of `value`, joined with the one that it may come from.
static Value buildTranspose(OpBuilder &builder, Location loc, Value value,
                            SmallVector<int64_t> perm) {
  if (auto inner = value.getDefiningOp<TransposeOp>()) {
    for (int64_t &dim : perm)
      dim = inner.getPerm()[dim];
    value = inner.getX();
  }
  return builder.createOrFold<TransposeOp>(loc, value,
                                           builder.getDenseI64ArrayAttr(perm));
}

/// `value` as [B, H, row, column], its batch dims in front; a single one as H.
static Value arrange(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> batch, int64_t row, int64_t column) {
  SmallVector<int64_t> perm(batch);
  perm.append({row, column});
  Value result = buildTranspose(builder, loc, value, perm);
  SmallVector<int64_t> shape(shapeOf(result));
  if (batch.size() == 1)
    shape.insert(shape.begin(), 1);
  return builder.createOrFold<ReshapeOp>(loc, typeOf(value).clone(shape),
                                         result);
}

/// If `value` [B, G R, T, D] repeats each of G heads R times: [B, G, T, D].
static Value getGrouped(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  auto broadcast =
      reshape ? reshape.getX().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!broadcast || broadcast.getType().getRank() != 5 ||
      rankOf(broadcast.getX()) != 4)
    return Value();
  ArrayRef<int64_t> heads = shapeOf(value), source = shapeOf(broadcast.getX());
  bool fits = broadcast.getDims() == ArrayRef<int64_t>({0, 1, 3, 4}) &&
              source[0] == heads[0] && source[2] == heads[2] &&
              source[3] == heads[3] &&
              source[1] == broadcast.getType().getDimSize(1) &&
              source[1] * broadcast.getType().getDimSize(2) == heads[1];
  return fits ? broadcast.getX() : Value();
}

/// A mask of the scores' shape as one of rank 4, with 1 for repeated dims other
/// than the keys.
static Value arrangeMask(OpBuilder &builder, Value mask) {
  RankedTensorType type = typeOf(mask);
  auto broadcast = mask.getDefiningOp<BroadcastOp>();
  SmallVector<int64_t> shape(type.getShape());
  Value source = mask;
  if (broadcast) {
    source = broadcast.getX();
    shape.assign(type.getRank(), 1);
    for (auto [size, dim] : llvm::zip(shapeOf(source), broadcast.getDims()))
      shape[dim] = size;
    if (shape.back() != type.getShape().back()) {
      shape.back() = type.getShape().back();
      source = builder.create<BroadcastOp>(mask.getLoc(), type.clone(shape),
                                           source, broadcast.getDims());
    }
  }
  if (shape.size() == 3)
    shape.insert(shape.begin(), 1);
  return builder.createOrFold<ReshapeOp>(mask.getLoc(), type.clone(shape),
                                         source);
}

/// The added mask as the attention takes it; null if there is none.
static Value buildMask(OpBuilder &builder, const Scores &scores,
                       Type elementType) {
  if (scores.mask)
    return arrangeMask(builder, scores.mask);
  if (!scores.kept)
    return Value();
  Value kept = arrangeMask(builder, scores.kept);
  RankedTensorType type = typeOf(kept).clone(elementType);
  Location loc = kept.getLoc();
  Value zero = makeSplat(builder, loc, type, 0);
  Value otherwise = makeSplat(builder, loc, type, scores.otherwise);
  return builder.create<SelectOp>(loc, kept, zero, otherwise);
}

//===-- Rewrite -----------------------------------------------------------===//

static LogicalResult raiseAttention(DotOp op, PatternRewriter &rewriter) {
  std::optional<Scores> scores = matchScores(op);
  if (!scores)
    return failure();
  DotOp product = scores->dot;
  Location loc = op.getLoc();
  Value q = peelScale(rewriter, product.getLhs(), scores->scale);
  Value k = peelScale(rewriter, product.getRhs(), scores->scale);
  q = arrange(rewriter, loc, q, product.getLhsBatch(), product.getLhsFree()[0],
              product.getLhsContract()[0]);
  k = arrange(rewriter, loc, k, product.getRhsBatch(), product.getRhsFree()[0],
              product.getRhsContract()[0]);
  Value v = arrange(rewriter, loc, op.getRhs(), op.getRhsBatch(),
                    op.getRhsContract()[0], op.getRhsFree()[0]);
  Value groupedK = getGrouped(k), groupedV = getGrouped(v);
  if (groupedK && groupedV && shapeOf(groupedK)[1] == shapeOf(groupedV)[1]) {
    k = groupedK;
    v = groupedV;
  }
  Value mask = buildMask(rewriter, *scores, op.getType().getElementType());
  Value attention = rewriter.create<AttentionOp>(
      loc, q, k, v, mask, APFloat(scores->scale), scores->causal);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), attention);
  return success();
}

namespace {
struct RaiseAttentionPass
    : cleave::impl::RaiseAttentionPassBase<RaiseAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(raiseAttention);
    if (failed(
            applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
