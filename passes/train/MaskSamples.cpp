//===- MaskSamples.cpp - let a model's own loss leave samples out ---------===//
//
// Needs a loss that is a mean of cross-entropies over the labels that are not
// ignored, as ONNX's SoftmaxCrossEntropyLoss has it: labels of samples that do
// not count are then ignored ones. Labels may come from an input by ops that
// keep each sample's rows together. Another loss stays as it is.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"
#include "passes/train/Samples.h"

#include "ir/Cleave.h"
#include "mlir/Analysis/SliceAnalysis.h"

namespace cleave {
#define GEN_PASS_DEF_MASKSAMPLESPASS
#include "passes/train/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

/// The result `name`, or the only one; null if there is none.
static Value findLoss(func::FuncOp main, StringRef name) {
  Operation *ret = main.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    auto known = main.getResultAttrOfType<StringAttr>(i, NameAttrName);
    if (name.empty() ? ret->getNumOperands() == 1
                     : known && known.getValue() == name)
      return value;
  }
  return {};
}

/// What `value` is made of.
static llvm::SetVector<Operation *> getSources(Value value) {
  llvm::SetVector<Operation *> ops;
  BackwardSliceOptions options;
  options.inclusive = true;
  getBackwardSlice(value, &ops, options);
  return ops;
}

/// The cross-entropies that `sum` sums over all dims, each with a weight or
/// without one.
static CrossEntropyOp findLosses(Value sum) {
  auto reduce = sum.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != ReduceKind::Sum ||
      getTensorType(sum).getRank() != 0)
    return {};
  Value x = reduce.getX();
  if (auto weighted = x.getDefiningOp<BinaryOp>();
      weighted && weighted.getKind() == BinaryKind::Mul)
    x = weighted.getLhs().getDefiningOp<CrossEntropyOp>() ? weighted.getLhs()
                                                          : weighted.getRhs();
  return x.getDefiningOp<CrossEntropyOp>();
}

/// Whether `count` counts, or weighs, the labels that are not ignored.
static bool countsLabels(Value count, CrossEntropyOp losses) {
  return llvm::any_of(getSources(count), [&](Operation *op) {
    auto compare = dyn_cast<CompareOp>(op);
    return compare && (compare.getLhs() == losses.getLabels() ||
                       compare.getRhs() == losses.getLabels());
  });
}

/// Whether dim 0 of `value` has the rows of the samples of a batch, in order.
static bool isBySample(Value value, int64_t batch) {
  if (!hasSamples(getTensorType(value), batch))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return getTensorType(value).getDimSize(0) == batch;
  if (auto slice = dyn_cast<SliceOp>(op);
      slice && getTensorType(slice.getX()).getDimSize(0) !=
                   getTensorType(value).getDimSize(0))
    return false;
  return isa<ReshapeOp, CastOp, SliceOp>(op) &&
         isBySample(op->getOperand(0), batch);
}

namespace {
struct MaskSamplesPass : cleave::impl::MaskSamplesPassBase<MaskSamplesPass> {
  using MaskSamplesPassBase::MaskSamplesPassBase;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    Value mean = main ? findLoss(main, loss) : Value();
    auto div = mean ? mean.getDefiningOp<BinaryOp>() : BinaryOp();
    if (!div || div.getKind() != BinaryKind::Div)
      return;
    CrossEntropyOp losses = findLosses(div.getLhs());
    int64_t batch = getBatch(main);
    if (!losses || !countsLabels(div.getRhs(), losses) ||
        !isBySample(losses.getLabels(), batch))
      return;
    mask(losses, batch);
  }

private:
  void mask(CrossEntropyOp losses, int64_t batch);
};
} // namespace

void MaskSamplesPass::mask(CrossEntropyOp losses, int64_t batch) {
  Value labels = losses.getLabels();
  OpBuilder builder(losses);
  builder.setInsertionPointAfterValue(labels);
  LogicalBuilder b(builder, losses.getLoc());
  Samples samples(b, getOperation(), getTensorType(labels), batch);
  Value masked =
      samples.select(labels, static_cast<double>(losses.getIgnoreIndex()));
  labels.replaceAllUsesExcept(masked, masked.getDefiningOp());
}
