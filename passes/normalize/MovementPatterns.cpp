//===- MovementPatterns.cpp - reshapes, broadcasts, slices, gathers -------===//
//
// Three movements have one direction each, so that they meet and vanish:
// reshapes that only add or drop dims of size 1 go down, below elementwise ops;
// repetition goes down, below ops whose operands are all repeated alike;
// transposes of weights go into the product that reads them.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Match.h"
#include "passes/normalize/Patterns.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

//===-- Below elementwise ops ---------------------------------------------===//

/// The source of a reshape that only adds or drops dims of size 1, or null.
static Value getUnitReshapeSource(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape || !differsByUnits(shapeOf(reshape.getX()), shapeOf(reshape)))
    return Value();
  return reshape.getX();
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumOperands() > 0;
}

/// Builds `op` on the shape of `model`, with operands from `getSource`; splats
/// take that shape.
static Value rebuildOn(PatternRewriter &rewriter, Operation *op, Value model,
                       function_ref<Value(Value)> getSource) {
  ArrayRef<int64_t> shape = shapeOf(model);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value source = getSource(operand);
    if (!source)
      source = makeSplat(rewriter, op->getLoc(), typeOf(operand).clone(shape),
                         *getSplat(operand));
    operands.push_back(source);
  }
  Type type = typeOf(op->getResult(0)).clone(shape);
  return cloneWithTypes(rewriter, op, operands, type)->getResult(0);
}

/// The first operand that has a source. Null if there is none, or if an operand
/// is neither a splat nor of a source that `agrees` with the first.
static Value
findCommonSource(Operation *op, function_ref<Value(Value)> getSource,
                 function_ref<bool(Value first, Value other)> agrees) {
  Value first;
  for (Value operand : op->getOperands())
    if (!first && getSource(operand))
      first = operand;
  bool all = first && llvm::all_of(op->getOperands(), [&](Value operand) {
               return getSource(operand) ? agrees(first, operand)
                                         : getSplat(operand).has_value();
             });
  return all ? first : Value();
}

namespace {
/// f(reshape x) -> reshape f(x), for reshapes of dims of size 1.
struct SinkUnitReshape : RewritePattern {
  SinkUnitReshape(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    Value first = findCommonSource(
        op, getUnitReshapeSource, [](Value first, Value other) {
          return shapeOf(getUnitReshapeSource(first)) ==
                 shapeOf(getUnitReshapeSource(other));
        });
    if (!first)
      return failure();
    Value result = rebuildOn(rewriter, op, getUnitReshapeSource(first),
                             getUnitReshapeSource);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(),
                                           result);
    return success();
  }
};

/// f(broadcast x) -> broadcast f(x).
struct SinkBroadcast : RewritePattern {
  SinkBroadcast(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  static Value getSource(Value value) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    return broadcast && !getSplat(value) ? broadcast.getX() : Value();
  }
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    Value first = findCommonSource(op, getSource, [](Value first, Value other) {
      auto a = first.getDefiningOp<BroadcastOp>();
      auto b = other.getDefiningOp<BroadcastOp>();
      return shapeOf(a.getX()) == shapeOf(b.getX()) &&
             a.getDims() == b.getDims();
    });
    if (!first)
      return failure();
    auto broadcast = first.getDefiningOp<BroadcastOp>();
    Value result = rebuildOn(rewriter, op, broadcast.getX(), getSource);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op->getResult(0).getType(),
                                             result, broadcast.getDims());
    return success();
  }
};
} // namespace

//===-- Broadcasts --------------------------------------------------------===//

/// broadcast(broadcast x) -> broadcast x.
static LogicalResult joinBroadcasts(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<BroadcastOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(op.getDims()[dim]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(),
                                           dims);
  return success();
}

/// A broadcast that repeats nothing is a reshape.
static LogicalResult turnIntoReshape(BroadcastOp op,
                                     PatternRewriter &rewriter) {
  if (op.getType().getNumElements() != op.getX().getType().getNumElements())
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX());
  return success();
}

/// broadcast(reshape x), where the reshape adds or drops dims of size 1 ->
/// broadcast x. The dims of x that are not 1 keep their places; a dim of size 1
/// must find a place between them.
static LogicalResult dropUnitReshape(BroadcastOp op,
                                     PatternRewriter &rewriter) {
  Value source = getUnitReshapeSource(op.getX());
  if (!source)
    return failure();
  SmallVector<int64_t> places; // of the dims that are not 1
  for (auto [dim, size] : llvm::zip(op.getDims(), shapeOf(op.getX())))
    if (size != 1)
      places.push_back(dim);
  SmallVector<int64_t> dims;
  size_t next = 0;
  for (int64_t size : shapeOf(source)) {
    int64_t least = dims.empty() ? 0 : dims.back() + 1;
    int64_t place = size != 1 ? places[next++] : least;
    int64_t limit =
        next < places.size() ? places[next] : op.getType().getRank();
    if (place < least || (size == 1 && place >= limit))
      return failure();
    dims.push_back(place);
  }
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), source, dims);
  return success();
}

//===-- Slices and gathers ------------------------------------------------===//

/// slice(slice x) -> slice x.
static LogicalResult joinSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> starts, strides;
  for (auto [outerStart, outerStride, innerStart, innerStride] :
       llvm::zip(op.getStarts(), op.getStrides(), inner.getStarts(),
                 inner.getStrides())) {
    starts.push_back(innerStart + outerStart * innerStride);
    strides.push_back(outerStride * innerStride);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getX(), starts,
                                       op.getSizes(), strides);
  return success();
}

/// Constant indices i, i + s, i + 2s, ... as (i, s); s is 1 for a single index.
static std::optional<std::pair<int64_t, int64_t>> getProgression(GatherOp op) {
  auto constant = op.getIndices().getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || dense.getNumElements() == 0 || op.getBatchDims() != 0)
    return std::nullopt;
  int64_t size = op.getX().getType().getDimSize(op.getDim());
  SmallVector<int64_t> indices;
  for (const APInt &entry : dense.getValues<APInt>()) {
    int64_t index = entry.getSExtValue();
    indices.push_back(index < 0 ? index + size : index);
    if (indices.back() < 0 || indices.back() >= size)
      return std::nullopt;
  }
  int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step || step < 1)
      return std::nullopt;
  return std::pair(indices[0], step);
}

/// A gather of equidistant constant indices is a slice.
static LogicalResult turnIntoSlice(GatherOp op, PatternRewriter &rewriter) {
  auto progression = getProgression(op);
  if (!progression)
    return failure();
  int64_t rank = rankOf(op.getX()), dim = op.getDim();
  SmallVector<int64_t> starts(rank, 0), sizes(shapeOf(op.getX())),
      strides(rank, 1);
  starts[dim] = progression->first;
  sizes[dim] = op.getIndices().getType().getNumElements();
  strides[dim] = progression->second;
  Value slice = rewriter.createOrFold<SliceOp>(
      op.getLoc(), op.getX(), rewriter.getDenseI64ArrayAttr(starts),
      rewriter.getDenseI64ArrayAttr(sizes),
      rewriter.getDenseI64ArrayAttr(strides));
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
  return success();
}

//===-- Weights -----------------------------------------------------------===//

/// dot(x, transpose w) -> dot(x, w) with other dims, when the free dims of the
/// weight keep their order.
static LogicalResult absorbWeightTranspose(DotOp op,
                                           PatternRewriter &rewriter) {
  auto transpose = op.getRhs().getDefiningOp<TransposeOp>();
  if (!transpose || !transpose.getX().getDefiningOp<LoadOp>())
    return failure();
  auto mapDims = [&](ArrayRef<int64_t> dims) {
    return llvm::to_vector(llvm::map_range(
        dims, [&](int64_t dim) { return transpose.getPerm()[dim]; }));
  };
  if (!llvm::is_sorted(mapDims(op.getRhsFree())))
    return failure();
  rewriter.replaceOpWithNewOp<DotOp>(
      op, op.getLhs(), transpose.getX(), op.getLhsBatch(),
      mapDims(op.getRhsBatch()), op.getLhsContract(),
      mapDims(op.getRhsContract()));
  return success();
}

/// A product over no elements is 0.
static LogicalResult dropEmptyProduct(DotOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = op.getLhs().getType().getShape();
  if (llvm::none_of(op.getLhsContract(),
                    [&](int64_t dim) { return shape[dim] == 0; }))
    return failure();
  rewriter.replaceOp(op, makeSplat(rewriter, op.getLoc(), op.getType(), 0));
  return success();
}

void cleave::populateMovementPatterns(RewritePatternSet &patterns) {
  patterns.add<SinkUnitReshape, SinkBroadcast>(patterns.getContext());
  patterns.add(joinBroadcasts);
  patterns.add(turnIntoReshape);
  patterns.add(dropUnitReshape);
  patterns.add(joinSlices);
  patterns.add(turnIntoSlice);
  patterns.add(absorbWeightTranspose);
  patterns.add(dropEmptyProduct);
}
