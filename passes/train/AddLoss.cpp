//===- AddLoss.cpp - end a model in a loss --------------------------------===//
//
// Takes a named result of @main and a new input, the labels, and adds the
// result "loss", a scalar: the mean over all elements, or over the labels that
// are not ignored.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"

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

static Value getMean(LogicalBuilder &b, Value x) {
  RankedTensorType type = getTensorType(x);
  Value sum = b.sum(x, getDims(0, type.getRank()));
  return b.mul(sum, 1.0 / static_cast<double>(
                              std::max<int64_t>(type.getNumElements(), 1)));
}

static Value buildSquares(LogicalBuilder &b, Value x, Value labels) {
  Value difference = b.sub(x, labels);
  return getMean(b, b.mul(difference, difference));
}

/// Of probabilities; logarithms are at least -100, as PyTorch has it.
static Value buildBinary(LogicalBuilder &b, Value p, Value labels) {
  auto log = [&](Value x) {
    Value y = b.unary(UnaryKind::Log, x);
    return b.binary(BinaryKind::Max, y, b.splat(y, -100));
  };
  Value yes = b.mul(labels, log(p));
  Value no = b.mul(b.subFrom(1, labels), log(b.subFrom(1, p)));
  return b.neg(getMean(b, b.add(yes, no)));
}

namespace {
struct AddLossPass : cleave::impl::AddLossPassBase<AddLossPass> {
  using AddLossPassBase::AddLossPassBase;
  void runOnOperation() override;

private:
  FailureOr<Value> findPrediction(func::FuncOp function);
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
  unsigned argument = function.getNumArguments();
  Location loc = NameLoc::get(builder.getStringAttr("loss"), x->getLoc());
  function.insertArgument(argument, type, named(labels), loc);
  LogicalBuilder b(builder, loc);
  Value y = function.getArgument(argument);
  Value loss = kind == "cross_entropy"
                   ? buildCrossEntropy(b, *x, y, ignoreIndex, smoothing)
               : kind == "mse" ? buildSquares(b, *x, y)
                               : buildBinary(b, *x, y);
  Operation *ret = function.front().getTerminator();
  ret->insertOperands(ret->getNumOperands(), loss);
  function.insertResult(function.getNumResults(), loss.getType(),
                        named(LossName));
}
