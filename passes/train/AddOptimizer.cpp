//===- AddOptimizer.cpp - turn gradients into stores of updated params ----===//
//
// Needs gradients as results of @main (`cleave.gradient_of`); takes them away
// and leaves a store for each, and for each state of the optimizer. What a run
// may set, or what depends on the step's number, is a scalar state with
// `cleave.setting`. With a clip, all gradients are scaled by the norm of all of
// them together, which becomes the output "grad_norm". Without an optimizer
// gradients stay results, in the shapes and by the names that the user knows.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"
#include "passes/train/Patterns.h"
#include "passes/train/Settings.h"
#include "passes/train/UpdateRules.h"

#include "ir/Cleave.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_ADDOPTIMIZERPASS
#include "passes/train/Passes.h.inc"
} // namespace cleave

//===-- One parameter -----------------------------------------------------===//

namespace {
/// A gradient among the results of @main.
struct Trained {
  FlatSymbolRefAttr symbol;
  Value gradient;
  Attribute origin; ///< a backward op's, see the differentiator
};

class Scope final : public UpdateScope {
public:
  Scope(LogicalBuilder &b, ModuleOp module, Settings &settings,
        const Trained &trained, double rate, double decay, bool isBaseDecay)
      : UpdateScope(b), module(module), settings(settings),
        symbol(trained.symbol), rate(rate), decay(decay),
        isBaseDecay(isBaseDecay) {
    gradient = trained.gradient;
    weight = b.b.create<LoadOp>(b.loc, gradient.getType(), symbol);
  }
  Value getSetting(StringRef kind, double base) override {
    return spread(settings.get(kind, base, kind == "rate" ? rate : 0));
  }
  /// One that a run may set, or that of the parameter's group.
  Value getDecay() override {
    if (isBaseDecay)
      return spread(settings.get("decay", 0, decay));
    return decay == 0 ? Value() : b.splat(weight, decay);
  }
  Value load(StringRef state) override {
    return b.b.create<LoadOp>(b.loc, weight.getType(), getState(state));
  }
  void store(StringRef state, Value next) override {
    b.b.create<StoreOp>(b.loc, next, getState(state));
  }

private:
  FlatSymbolRefAttr getState(StringRef state);
  /// The scalar, repeated to the weight's type.
  Value spread(FlatSymbolRefAttr setting) {
    auto type = RankedTensorType::get({}, b.b.getF32Type());
    Value scalar = b.b.create<LoadOp>(b.loc, type, setting);
    RankedTensorType wanted = getTensorType(weight);
    return b.repeat(b.cast(scalar, wanted.getElementType()), wanted.getShape(),
                    {});
  }

  ModuleOp module;
  Settings &settings;
  FlatSymbolRefAttr symbol;
  double rate, decay;
  bool isBaseDecay;
  llvm::StringMap<FlatSymbolRefAttr> states;
};
} // namespace

/// The param `w.exp_avg` of the state exp_avg of `w`, zero at first.
FlatSymbolRefAttr Scope::getState(StringRef state) {
  FlatSymbolRefAttr &known = states[state];
  if (known)
    return known;
  auto param = module.lookupSymbol<ParamOp>(symbol);
  auto type = cast<RankedTensorType>(param.getType());
  OpBuilder builder(param->getContext());
  builder.setInsertionPointAfter(param);
  auto zero = DenseElementsAttr::get(
      type, Attribute(builder.getZeroAttr(type.getElementType())));
  auto made = builder.create<ParamOp>(
      param.getLoc(), builder.getStringAttr(symbol.getValue() + "." + state),
      TypeAttr::get(type), zero, param.getTrueShapeAttr(), ShardingAttr(),
      builder.getUnitAttr());
  made->setAttr(RoleAttrName, builder.getStringAttr("optimizer"));
  return known = FlatSymbolRefAttr::get(made);
}

//===-- Pass --------------------------------------------------------------===//

/// Makes the gradients outputs: of the param `w`, "w.grad".
static void nameGradients(ModuleOp module, func::FuncOp function,
                          const llvm::BitVector &taken) {
  Operation *ret = function.front().getTerminator();
  OpBuilder builder(ret);
  for (unsigned i : taken.set_bits()) {
    auto symbol =
        function.getResultAttrOfType<FlatSymbolRefAttr>(i, GradientOfAttrName);
    auto param = module.lookupSymbol<ParamOp>(symbol);
    if (auto shape = param.getTrueShape()) {
      LogicalBuilder b(builder, ret->getOperand(i).getLoc());
      ret->setOperand(i, b.reshape(ret->getOperand(i), *shape));
    }
    function.setResultAttrs(
        i, builder.getDictionaryAttr(builder.getNamedAttr(
               NameAttrName,
               builder.getStringAttr(symbol.getValue() + GradientSuffix))));
  }
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ret->getOperandTypes()));
}

namespace {
struct AddOptimizerPass : cleave::impl::AddOptimizerPassBase<AddOptimizerPass> {
  using AddOptimizerPassBase::AddOptimizerPassBase;
  void runOnOperation() override;

private:
  const OptimizerInfo *getInfo();
  SmallVector<Trained> takeGradients(func::FuncOp function,
                                     const llvm::BitVector &taken);
  Value clipAll(Operation *ret, MutableArrayRef<Trained> trained,
                Settings &settings);
  void update(Operation *ret, const OptimizerInfo &info, const Trained &trained,
              Settings &settings);
};
} // namespace

/// Marks what was made behind `before` as belonging where the gradient was
/// made.
static void setOrigin(Operation *before, Operation *ret, Attribute origin) {
  if (origin)
    for (Operation *made = before->getNextNode(); made != ret;
         made = made->getNextNode())
      made->setAttr(OriginAttrName, origin);
}

SmallVector<Trained>
AddOptimizerPass::takeGradients(func::FuncOp function,
                                const llvm::BitVector &taken) {
  Operation *ret = function.front().getTerminator();
  SmallVector<Trained> trained;
  for (unsigned i : taken.set_bits())
    trained.push_back(
        {function.getResultAttrOfType<FlatSymbolRefAttr>(i, GradientOfAttrName),
         ret->getOperand(i), function.getResultAttr(i, OriginAttrName)});
  ret->eraseOperands(taken);
  function.eraseResults(taken);
  return trained;
}

/// Scales gradients whose norm is above the clip, as torch's clip_grad_norm_;
/// returns the norm.
Value AddOptimizerPass::clipAll(Operation *ret,
                                MutableArrayRef<Trained> trained,
                                Settings &settings) {
  OpBuilder builder(ret);
  LogicalBuilder b(builder, ret->getLoc());
  Value sum;
  for (const Trained &one : trained) {
    Operation *before = ret->getPrevNode();
    Value g = b.cast(one.gradient, builder.getF32Type());
    Value own = b.sum(b.mul(g, g), getDims(0, getTensorType(g).getRank()));
    setOrigin(before, ret, one.origin);
    sum = sum ? b.add(sum, own) : own;
  }
  Value norm = b.unary(UnaryKind::Sqrt, sum);
  Value limit = builder.create<LoadOp>(b.loc, norm.getType(),
                                       settings.get("clip", 0, clip));
  Value factor = b.binary(BinaryKind::Min, b.div(limit, b.add(norm, 1e-6)),
                          b.splat(norm, 1));
  for (Trained &one : trained) {
    Operation *before = ret->getPrevNode();
    RankedTensorType type = getTensorType(one.gradient);
    Value scale =
        b.repeat(b.cast(factor, type.getElementType()), type.getShape(), {});
    one.gradient = b.mul(one.gradient, scale);
    setOrigin(before, ret, one.origin);
  }
  return norm;
}

void AddOptimizerPass::update(Operation *ret, const OptimizerInfo &info,
                              const Trained &trained, Settings &settings) {
  OptimizerOptions options{
      optimizer, momentum, beta1, beta2, epsilon < 0 ? info.epsilon : epsilon,
      nesterov};
  std::optional<double> group = findValue(decays, trained.symbol.getValue());
  double base = decay < 0 ? info.decay : decay;
  OpBuilder builder(ret);
  LogicalBuilder b(builder, trained.gradient.getLoc());
  Operation *before = ret->getPrevNode();
  Scope scope(b, getOperation(), settings, trained, rate < 0 ? info.rate : rate,
              group.value_or(base), !group);
  Value weight = info.update(scope, options);
  builder.create<StoreOp>(b.loc, weight, trained.symbol);
  setOrigin(before, ret, trained.origin);
}

/// Null after an error.
const OptimizerInfo *AddOptimizerPass::getInfo() {
  const OptimizerInfo *info = findOptimizer(optimizer);
  if (!info)
    getOperation().emitError()
        << "no optimizer is named '" << optimizer << "'; expected "
        << listOptimizers() << " or none";
  return info;
}

void AddOptimizerPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto function = module.lookupSymbol<func::FuncOp>("main");
  llvm::BitVector taken(function ? function.getNumResults() : 0);
  for (unsigned i = 0; i < taken.size(); ++i)
    taken[i] = static_cast<bool>(
        function.getResultAttrOfType<FlatSymbolRefAttr>(i, GradientOfAttrName));
  if (taken.none()) {
    module.emitError() << "the loss depends on no parameter: there is nothing "
                          "to train";
    return signalPassFailure();
  }
  if (optimizer == "none")
    return nameGradients(module, function, taken);
  const OptimizerInfo *info = getInfo();
  if (!info || failed(verifyPatterns(module, decays)))
    return signalPassFailure();
  Settings settings(module);
  SmallVector<Trained> trained = takeGradients(function, taken);
  Operation *ret = function.front().getTerminator();
  if (clip > 0) {
    Value norm = clipAll(ret, trained, settings);
    Builder builder(&getContext());
    ret->insertOperands(ret->getNumOperands(), norm);
    function.insertResult(
        function.getNumResults(), norm.getType(),
        builder.getDictionaryAttr(builder.getNamedAttr(
            NameAttrName, builder.getStringAttr(GradientNormName))));
  }
  for (const Trained &one : trained)
    update(ret, *info, one, settings);
}
