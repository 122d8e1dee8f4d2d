//===- Differentiate.cpp - reverse mode on logical ops --------------------===//
//
// Needs a logical function with a scalar float result, the loss. An op is
// active if it depends on a param that is trained and the loss depends on it,
// both through floats. Active ops are visited from the last to the first; each
// is asked for the gradients of its active operands. What the function returned
// before keeps its place; gradients follow, in the order in which the
// params are loaded, and say where a param is read first (`cleave.origin`).
//
//===----------------------------------------------------------------------===//

#include "passes/train/JoinParts.h"
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
        builder(function.front().getTerminator()),
        symbols(function->getParentOfType<ModuleOp>()) {}
  LogicalResult run();

private:
  FailureOr<Value> findLoss();
  bool isTrained(Operation *op);
  bool isActive(Value value) {
    return isFloatTensor(value.getType()) &&
           active.contains(value.getDefiningOp());
  }
  void collectActive(Value loss);
  LogicalResult verifyActive();
  void visit(Operation *op);
  Value sumContributions(Value value);
  void returnGradients();

  func::FuncOp function;
  StringRef lossName;
  OpBuilder builder;
  SymbolTable symbols;
  llvm::SetVector<Operation *> active; ///< in program order
  llvm::DenseMap<Operation *, int64_t> numbers;
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

/// Whether `op` loads a param that is trained.
bool Differentiator::isTrained(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && isFloatTensor(load.getType()) &&
         !symbols.lookup<ParamOp>(load.getSymbol()).getFrozen();
}

/// Active: reached from a trained param forwards, and from the loss backwards.
void Differentiator::collectActive(Value loss) {
  llvm::DenseSet<Value> fromParams;
  llvm::DenseSet<Operation *> toLoss;
  Block &body = function.front();
  for (Operation &op : body)
    if (isTrained(&op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return fromParams.contains(operand);
        }))
      for (Value result : op.getResults())
        if (isFloatTensor(result.getType()))
          fromParams.insert(result);
  toLoss.insert(loss.getDefiningOp());
  for (Operation &op : llvm::reverse(body))
    if (toLoss.contains(&op))
      for (Value operand : op.getOperands())
        if (isFloatTensor(operand.getType()) && operand.getDefiningOp())
          toLoss.insert(operand.getDefiningOp());
  for (Operation &op : body)
    if (toLoss.contains(&op) && llvm::any_of(op.getResults(), [&](Value value) {
          return fromParams.contains(value);
        }))
      active.insert(&op);
}

/// The user's node that an op comes from; its own name if it has none.
static std::string getNodeName(Operation *op) {
  Location loc = op->getLoc();
  while (auto fused = dyn_cast<FusedLoc>(loc))
    loc = fused.getLocations().front();
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName().str();
  return op->getName().stripDialect().str();
}

/// Names every active op that has no gradient, in one error.
LogicalResult Differentiator::verifyActive() {
  SmallVector<std::string> missing;
  for (Operation *op : active) {
    if (isa<LoadOp>(op))
      continue;
    auto known = dyn_cast<DifferentiableOpInterface>(op);
    std::string what = known ? known.getMissingGradient() : "";
    if (known && what.empty())
      continue;
    std::string kind = op->getName().stripDialect().str();
    missing.push_back("'" + getNodeName(op) + "' (" + kind +
                      (what.empty() ? "" : " " + what) + ")");
  }
  if (missing.empty())
    return success();
  InFlightDiagnostic error = function.emitError()
                             << "nodes between the parameters and the loss "
                                "have no gradient: ";
  llvm::interleaveComma(missing, error);
  return error;
}

Value Differentiator::sumContributions(Value value) {
  auto it = contributions.find(value);
  if (it == contributions.end())
    return {};
  it->second = {buildSum(builder, value.getLoc(), it->second)};
  return it->second.front();
}

/// Of a load, that of its first active user: it is in the same stage.
static Operation *getPlace(Operation *op,
                           const llvm::SetVector<Operation *> &active) {
  Operation *first = nullptr;
  if (isa<LoadOp>(op))
    for (Operation *user : op->getUsers())
      if (active.contains(user) && (!first || user->isBeforeInBlock(first)))
        first = user;
  return first ? first : op;
}

void Differentiator::visit(Operation *op) {
  Operation *ret = function.front().getTerminator();
  Operation *before = ret->getPrevNode();
  Value gradient = sumContributions(op->getResult(0));
  if (!isa<LoadOp>(op) && gradient) {
    auto needed = llvm::map_to_vector(
        op->getOperands(), [&](Value operand) { return isActive(operand); });
    SmallVector<Value> gradients =
        cast<DifferentiableOpInterface>(op).buildGradients(builder, gradient,
                                                           needed);
    for (auto [operand, wanted, part] :
         llvm::zip_equal(op->getOperands(), needed, gradients))
      if (wanted && part)
        contributions[operand].push_back(part);
  }
  auto number = builder.getI64IntegerAttr(numbers[getPlace(op, active)]);
  for (Operation *made = before->getNextNode(); made != ret;
       made = made->getNextNode())
    made->setAttr(OriginAttrName, number);
}

/// Appends the gradient of each param: the sum over its loads.
void Differentiator::returnGradients() {
  Operation *ret = function.front().getTerminator();
  llvm::MapVector<Attribute, SmallVector<Value>> gradients; // by symbol
  for (Operation *op : active)
    if (auto load = dyn_cast<LoadOp>(op))
      if (Value gradient = sumContributions(load.getResult()))
        gradients[load.getSymbolAttr()].push_back(gradient);
  llvm::DenseMap<Attribute, Attribute> places; // of the first load
  for (Operation *op : llvm::reverse(active))
    if (auto load = dyn_cast<LoadOp>(op))
      places[load.getSymbolAttr()] =
          builder.getI64IntegerAttr(numbers[getPlace(op, active)]);
  for (auto &[symbol, parts] : gradients) {
    Value sum = buildSum(builder, parts.front().getLoc(), parts);
    ret->insertOperands(ret->getNumOperands(), sum);
    function.insertResult(
        function.getNumResults(), sum.getType(),
        builder.getDictionaryAttr(
            {builder.getNamedAttr(GradientOfAttrName, symbol),
             builder.getNamedAttr(OriginAttrName, places[symbol])}));
  }
}

LogicalResult Differentiator::run() {
  FailureOr<Value> loss = findLoss();
  if (failed(loss))
    return failure();
  collectActive(*loss);
  if (failed(verifyActive()))
    return failure();
  for (Operation *op : active) {
    int64_t number = numbers.size();
    numbers[op] = number;
    op->setAttr(NodeIdAttrName, builder.getI64IntegerAttr(number));
  }
  auto type = cast<RankedTensorType>(loss->getType());
  Value one = builder.create<ConstantOp>(
      loss->getLoc(),
      DenseElementsAttr::get(type,
                             builder.getFloatAttr(type.getElementType(), 1.0)));
  contributions[*loss].push_back(one);
  if (!active.empty())
    one.getDefiningOp()->setAttr(OriginAttrName,
                                 builder.getI64IntegerAttr(active.size() - 1));
  for (Operation *op : llvm::reverse(active.getArrayRef()))
    visit(op);
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
