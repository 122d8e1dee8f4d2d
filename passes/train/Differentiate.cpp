//===- Differentiate.cpp - reverse mode on logical ops --------------------===//
//
// Needs a logical function with a scalar float result, the loss. An op is
// active if it depends on a param that is trained and the loss depends on it.
// Active ops are visited from the last to the first; each is asked for the
// gradients of its active operands. What the function returned before keeps its
// place; gradients follow, in the order of the params in the module.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"

#include "ir/Cleave.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/train/Passes.h.inc"
} // namespace cleave

static bool isFloatTensor(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

namespace {
class Differentiator {
public:
  Differentiator(func::FuncOp function, StringRef loss)
      : function(function), lossName(loss),
        builder(function.front().getTerminator()) {}
  LogicalResult run();

private:
  FailureOr<Value> findLoss();
  void collectActive(Value loss);
  LogicalResult verifyActive();
  LogicalResult visit(Operation *op, int64_t node);
  Value sumContributions(Value value);
  void returnGradients();

  func::FuncOp function;
  StringRef lossName;
  OpBuilder builder;
  llvm::SetVector<Operation *> active; ///< in program order
  llvm::DenseMap<Value, SmallVector<Value>> contributions;
};
} // namespace

FailureOr<Value> Differentiator::findLoss() {
  Operation *ret = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, NameAttrName);
    bool chosen = lossName.empty() ? ret->getNumOperands() == 1
                                   : name && name.getValue() == lossName;
    if (!chosen)
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0 && isFloatTensor(type))
      return value;
    return function.emitError()
           << "loss '" << (name ? name.getValue() : lossName) << "' has type "
           << type
           << "; expected a float scalar: does the model end in its loss?";
  }
  return function.emitError() << "no result is named '" << lossName
                              << "'; expected the name of the loss";
}

/// Active: reached from a float load forwards, and from the loss backwards.
void Differentiator::collectActive(Value loss) {
  llvm::DenseSet<Operation *> fromParams, toLoss;
  Block &body = function.front();
  for (Operation &op : body)
    if ((isa<LoadOp>(op) && isFloatTensor(op.getResult(0).getType())) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return fromParams.contains(operand.getDefiningOp());
        }))
      fromParams.insert(&op);
  toLoss.insert(loss.getDefiningOp());
  for (Operation &op : llvm::reverse(body))
    if (toLoss.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *def = operand.getDefiningOp())
          toLoss.insert(def);
  for (Operation &op : body)
    if (fromParams.contains(&op) && toLoss.contains(&op))
      active.insert(&op);
}

/// Names every active op that has no gradient.
LogicalResult Differentiator::verifyActive() {
  LogicalResult result = success();
  for (Operation *op : active)
    if (!isa<LoadOp, DifferentiableOpInterface>(op))
      result = op->emitOpError() << "has no gradient";
  return result;
}

Value Differentiator::sumContributions(Value value) {
  auto it = contributions.find(value);
  if (it == contributions.end())
    return {};
  Value sum = it->second.front();
  for (Value next : llvm::drop_begin(it->second))
    sum = builder.create<BinaryOp>(value.getLoc(), sum.getType(),
                                   BinaryKind::Add, sum, next);
  it->second = {sum};
  return sum;
}

LogicalResult Differentiator::visit(Operation *op, int64_t node) {
  op->setAttr(NodeIdAttrName, builder.getI64IntegerAttr(node));
  Operation *ret = function.front().getTerminator();
  Operation *before = ret->getPrevNode();
  Value gradient = sumContributions(op->getResult(0));
  if (!isa<LoadOp>(op) && gradient) {
    SmallVector<bool> needed;
    for (Value operand : op->getOperands())
      needed.push_back(operand.getDefiningOp() &&
                       active.contains(operand.getDefiningOp()));
    auto gradients = cast<DifferentiableOpInterface>(op).buildGradients(
        builder, ValueRange{gradient}, needed);
    if (failed(gradients))
      return failure();
    for (auto [operand, wanted, part] :
         llvm::zip_equal(op->getOperands(), needed, *gradients))
      if (wanted && part)
        contributions[operand].push_back(part);
  }
  for (Operation *made = before->getNextNode(); made != ret;
       made = made->getNextNode())
    made->setAttr(OriginAttrName, builder.getI64IntegerAttr(node));
  return success();
}

/// Appends the gradient of each param: the sum over its loads.
void Differentiator::returnGradients() {
  Operation *ret = function.front().getTerminator();
  llvm::MapVector<Attribute, SmallVector<Value>> gradients; // by symbol
  for (Operation *op : active)
    if (auto load = dyn_cast<LoadOp>(op))
      if (Value gradient = sumContributions(load.getResult()))
        gradients[load.getSymbolAttr()].push_back(gradient);
  for (auto &[symbol, parts] : gradients) {
    Value sum = parts.front();
    for (Value next : llvm::drop_begin(parts))
      sum = builder.create<BinaryOp>(sum.getLoc(), sum.getType(),
                                     BinaryKind::Add, sum, next);
    ret->insertOperands(ret->getNumOperands(), sum);
    function.insertResult(function.getNumResults(), sum.getType(),
                          builder.getDictionaryAttr(builder.getNamedAttr(
                              GradientOfAttrName, symbol)));
  }
}

LogicalResult Differentiator::run() {
  FailureOr<Value> loss = findLoss();
  if (failed(loss))
    return failure();
  collectActive(*loss);
  if (failed(verifyActive()))
    return failure();
  auto type = cast<RankedTensorType>(loss->getType());
  Value one = builder.create<ConstantOp>(
      loss->getLoc(),
      DenseElementsAttr::get(type,
                             builder.getFloatAttr(type.getElementType(), 1.0)));
  contributions[*loss].push_back(one);
  int64_t node = active.size();
  for (Operation *op : llvm::reverse(active.getArrayRef()))
    if (failed(visit(op, --node)))
      return failure();
  if (!active.empty())
    one.getDefiningOp()->setAttr(OriginAttrName,
                                 builder.getI64IntegerAttr(active.size() - 1));
  returnGradients();
  return success();
}

namespace {
struct DifferentiatePass
    : cleave::impl::DifferentiatePassBase<DifferentiatePass> {
  using DifferentiatePassBase::DifferentiatePassBase;
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function) {
      getOperation().emitError()
          << "module has no function @main to differentiate";
      return signalPassFailure();
    }
    if (failed(Differentiator(function, loss).run()))
      signalPassFailure();
  }
};
} // namespace
