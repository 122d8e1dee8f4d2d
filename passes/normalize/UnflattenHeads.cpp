//===- UnflattenHeads.cpp - make flattened dims dims of the product -------===//
//
// Exporters compute all heads as one dim of 6 * 64 and split it afterwards, and
// join heads before the output product. A head is then no dim that could be
// sharded. Reshapes that split dims move up into the product that made them;
// those that join dims move down, or become several contracting dims. On the
// way weights and biases get the split shape, too: for free, as it is a view.
//
// A part of a split product (q, k or v of a fused projection) becomes a slice
// of one dim that counts the parts.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Passes.h"
#include "passes/normalize/Split.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_UNFLATTENHEADSPASS
#include "passes/normalize/Passes.h.inc"
} // namespace cleave

using Params = llvm::DenseMap<StringAttr, ParamOp>;

/// How `op` splits its operand's dims; none if it joins dims, or only adds dims
/// of size 1.
static std::optional<Split> getRealSplit(ReshapeOp op) {
  if (differsByUnits(shapeOf(op.getX()), shapeOf(op)))
    return std::nullopt;
  return getSplit(shapeOf(op.getX()), shapeOf(op));
}

/// The joining reshape that gives `value`, and how its result would be split to
/// undo it.
static std::pair<ReshapeOp, Split> getJoin(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  auto split = reshape ? getSplit(shapeOf(reshape), shapeOf(reshape.getX()))
                       : std::nullopt;
  if (!split || isNoSplit(*split))
    return {};
  return {reshape, *split};
}

//===-- Slices ------------------------------------------------------------===//

/// The dim that `op` takes one part of, when the dim has equal parts of that
/// size and everything else is taken whole; else -1.
static int64_t getPartDim(SliceOp op) {
  int64_t part = -1;
  ArrayRef<int64_t> whole = shapeOf(op.getX());
  for (auto [dim, size] : llvm::enumerate(op.getSizes())) {
    if (size == whole[dim])
      continue;
    if (part >= 0 || size == 0 || whole[dim] % size ||
        op.getStrides()[dim] != 1 || op.getStarts()[dim] % size)
      return -1;
    part = dim;
  }
  return part;
}

/// split(slice x) -> slice(split x), with one more dim that counts the parts.
static LogicalResult splitBeforeSlice(ReshapeOp op, PatternRewriter &rewriter) {
  auto slice = op.getX().getDefiningOp<SliceOp>();
  std::optional<Split> split = getRealSplit(op);
  int64_t dim = slice && split ? getPartDim(slice) : -1;
  if (dim < 0 || (*split)[dim].size() < 2)
    return failure();
  RankedTensorType whole = slice.getX().getType();
  int64_t size = slice.getSizes()[dim];
  int64_t position = 0; // of the new dim
  for (auto &sizes : ArrayRef(*split).take_front(dim))
    position += sizes.size();
  SmallVector<int64_t> shape = getSplitShape(*split);
  shape.insert(shape.begin() + position, whole.getDimSize(dim) / size);
  Value parts =
      rewriter.create<ReshapeOp>(op.getLoc(), whole.clone(shape), slice.getX());
  SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1);
  starts[position] = slice.getStarts()[dim] / size;
  shape[position] = 1;
  Value part =
      rewriter.create<SliceOp>(slice.getLoc(), parts, starts, shape, strides);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), part);
  return success();
}

//===-- Splits up, joins down ---------------------------------------------===//

namespace {
/// split(f(x, w)) -> f(split x, split w).
struct MoveSplitUp : OpRewritePattern<ReshapeOp> {
  MoveSplitUp(MLIRContext *context, const Params &params)
      : OpRewritePattern(context), params(params) {}
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Split> split = getRealSplit(op);
    Splitter splitter(rewriter, params);
    if (!split || !hasOneUser(op.getX()) ||
        !splitter.canSplit(op.getX(), *split))
      return failure();
    rewriter.replaceOp(op, splitter.split(op.getX(), *split));
    return success();
  }
  const Params &params;
};

/// f(join x, w) -> join f(x, split w), for elementwise f.
struct MoveJoinDown : RewritePattern {
  MoveJoinDown(MLIRContext *context, const Params &params)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), params(params) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
      return failure();
    Split split;
    for (Value operand : op->getOperands())
      if (split.empty())
        split = getJoin(operand).second;
    Splitter splitter(rewriter, params);
    if (split.empty() || !llvm::all_of(op->getOperands(), [&](Value operand) {
          return splitter.canSplit(operand, split);
        }))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(splitter.split(operand, split));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Operation *whole = cloneWithTypes(rewriter, op, operands,
                                      Type(type.clone(getSplitShape(split))));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, whole->getResult(0));
    return success();
  }
  const Params &params;
};

/// dot(join x, w) -> join dot(x, split w): joined contracting dims become
/// several, joined free dims are joined afterwards. Dims of size 1 are nothing
/// to contract over.
struct MoveJoinIntoDot : OpRewritePattern<DotOp> {
  MoveJoinIntoDot(MLIRContext *context, const Params &params)
      : OpRewritePattern(context), params(params) {}
  LogicalResult matchAndRewrite(DotOp op,
                                PatternRewriter &rewriter) const override {
    auto [join, lhs] = getJoin(op.getLhs());
    if (!join || !op.getLhsBatch().empty())
      return failure();
    Split rhs = getNoSplit(shapeOf(op.getRhs()));
    for (auto [l, r] : llvm::zip(op.getLhsContract(), op.getRhsContract())) {
      if (lhs[l].size() > 1 && llvm::is_contained(lhs[l], 1))
        return failure();
      rhs[r] = lhs[l];
    }
    Splitter splitter(rewriter, params);
    if (!splitter.canSplit(op.getRhs(), rhs))
      return failure();
    Value right = splitter.split(op.getRhs(), rhs);
    Value dot = buildSplitDot(rewriter, op, join.getX(), right, lhs, rhs);
    rewriter.replaceOp(
        op, rewriter.createOrFold<ReshapeOp>(op.getLoc(), op.getType(), dot));
    return success();
  }
  const Params &params;
};
} // namespace

//===-- Pass --------------------------------------------------------------===//

/// Params that only one op names and whose layout is open.
static Params getFreeParams(ModuleOp module) {
  llvm::DenseMap<StringAttr, int64_t> users;
  module.walk([&](Operation *op) {
    if (auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("symbol"))
      ++users[symbol.getAttr()];
  });
  Params params;
  for (ParamOp param : module.getOps<ParamOp>())
    if (users.lookup(param.getSymNameAttr()) == 1 && !param.getSharding())
      params[param.getSymNameAttr()] = param;
  return params;
}

namespace {
struct UnflattenHeadsPass
    : cleave::impl::UnflattenHeadsPassBase<UnflattenHeadsPass> {
  void runOnOperation() override {
    if (failed(splitSlices()) || failed(moveReshapes()))
      signalPassFailure();
  }

private:
  /// The parts of one product then share one reshape of it.
  LogicalResult splitSlices() {
    RewritePatternSet patterns(&getContext());
    patterns.add(splitBeforeSlice);
    if (failed(
            applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      return failure();
    IRRewriter rewriter(&getContext());
    eliminateCommonSubExpressions(rewriter, getAnalysis<DominanceInfo>(),
                                  getOperation());
    return success();
  }
  LogicalResult moveReshapes() {
    Params params = getFreeParams(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<MoveSplitUp, MoveJoinDown, MoveJoinIntoDot>(&getContext(),
                                                             params);
    return applyPatternsAndFoldGreedily(getOperation(), std::move(patterns));
  }
};
} // namespace
