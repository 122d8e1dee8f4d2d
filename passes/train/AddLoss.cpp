//===- AddLoss.cpp - end a model in a loss --------------------------------===//
//
// Takes a named result of @main and a new input, the labels, and adds the
// result "loss", a scalar: the mean over all elements, or over the labels that
// are not ignored. Samples behind the first n of a batch do not count; n is a
// setting, all samples if a run says nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"
#include "passes/train/Samples.h"

#include "ir/Cleave.h"
#include "ir/LogicalBuilder.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_ADDLOSSPASS
#include "passes/train/Passes.h.inc"
} // namespace cleave

/// Classes are the last dim of the logits.
static Value buildCrossEntropy(LogicalBuilder &b, Value logits, Value labels,
                               int64_t ignored, double smoothing) {
  Value losses = b.b.create<CrossEntropyOp>(b.loc, logits, labels, ignored,
                                            llvm::APFloat(smoothing));
  SmallVector<int64_t> all = getDims(0, getTensorType(losses).getRank());
  Value counts =
      b.cast(b.compare(CompareKind::Ne, labels, static_cast<double>(ignored)),
             getTensorType(losses).getElementType());
  Value count = b.sum(counts, all);
  count = b.binary(BinaryKind::Max, count, b.splat(count, 1));
  return b.div(b.sum(losses, all), count);
}

static Value buildSquares(LogicalBuilder &b, Samples &samples, Value x,
                          Value labels) {
  Value difference = b.sub(x, labels);
  return samples.getMean(b.mul(difference, difference));
}

/// Of probabilities; logarithms are at least -100, as PyTorch has it.
static Value buildBinary(LogicalBuilder &b, Samples &samples, Value p,
                         Value labels) {
  auto log = [&](Value x) {
    Value y = b.unary(UnaryKind::Log, x);
    return b.binary(BinaryKind::Max, y, b.splat(y, -100));
  };
  Value yes = b.mul(labels, log(p));
  Value no = b.mul(b.subFrom(1, labels), log(b.subFrom(1, p)));
  return b.neg(samples.getMean(b.add(yes, no)));
}

namespace {
struct AddLossPass : cleave::impl::AddLossPassBase<AddLossPass> {
  using AddLossPassBase::AddLossPassBase;
  void runOnOperation() override;

private:
  FailureOr<Value> findPrediction(func::FuncOp function);
  Value buildLoss(LogicalBuilder &b, Value x, Value labels, int64_t batch);
};
} // namespace

/// The result that the user names, or the only one; none may be the loss
/// already.
FailureOr<Value> AddLossPass::findPrediction(func::FuncOp function) {
  Operation *ret = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, NameAttrName);
    if (name && name.getValue() == LossName)
      return function.emitError() << "a result is named '" << LossName
                                  << "' already: it can be the loss itself";
    bool chosen = logits.empty() ? ret->getNumOperands() == 1
                                 : name && name.getValue() == logits;
    if (!chosen)
      continue;
    RankedTensorType type = getTensorType(value);
    if (isa<FloatType>(type.getElementType()) &&
        (kind != "cross_entropy" || type.getRank() > 0))
      return value;
    return function.emitError()
           << "the loss " << kind << " needs floats"
           << (kind == "cross_entropy" ? " with classes" : "") << ", found "
           << type;
  }
  return function.emitError() << "no result is named '" << logits
                              << "'; expected what the loss is of";
}

Value AddLossPass::buildLoss(LogicalBuilder &b, Value x, Value y,
                             int64_t batch) {
  Samples samples(b, getOperation(), getTensorType(y), batch);
  if (kind == "mse")
    return buildSquares(b, samples, x, y);
  if (kind == "bce")
    return buildBinary(b, samples, x, y);
  return buildCrossEntropy(b, x,
                           samples.select(y, static_cast<double>(ignoreIndex)),
                           ignoreIndex, smoothing);
}

void AddLossPass::runOnOperation() {
  auto function = getOperation().lookupSymbol<func::FuncOp>("main");
  if (kind != "cross_entropy" && kind != "mse" && kind != "bce") {
    getOperation().emitError() << "no loss is named '" << kind
                               << "'; expected cross_entropy, mse or bce";
    return signalPassFailure();
  }
  FailureOr<Value> x = failure();
  if (!function || failed(x = findPrediction(function)))
    return signalPassFailure();
  OpBuilder builder(function.front().getTerminator());
  RankedTensorType type = getTensorType(*x);
  if (kind == "cross_entropy")
    type = RankedTensorType::get(type.getShape().drop_back(),
                                 builder.getI64Type());
  auto named = [&](StringRef name) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(NameAttrName, builder.getStringAttr(name)));
  };
  int64_t batch = getBatch(function);
  unsigned argument = function.getNumArguments();
  Location loc = NameLoc::get(builder.getStringAttr("loss"), x->getLoc());
  function.insertArgument(argument, type, named(labels), loc);
  LogicalBuilder b(builder, loc);
  Value y = function.getArgument(argument);
  Value loss = buildLoss(b, *x, y, batch);
  Operation *ret = function.front().getTerminator();
  ret->insertOperands(ret->getNumOperands(), loss);
  function.insertResult(function.getNumResults(), loss.getType(),
                        named(LossName));
}
