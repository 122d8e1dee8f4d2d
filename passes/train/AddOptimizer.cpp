//===- AddOptimizer.cpp - turn gradients into stores of updated params ----===//
//
// Needs gradients as results of @main (`cleave.gradient_of`); takes them away
// and leaves a store for each. The learning rate is state, so that a run can
// set it.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"

#include "ir/Cleave.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/BitVector.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_ADDOPTIMIZERPASS
#include "passes/train/Passes.h.inc"
} // namespace cleave

static constexpr llvm::StringLiteral rateSymbol = "cleave.lr";

static void addRate(ModuleOp module, double rate) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = RankedTensorType::get({}, builder.getF32Type());
  auto param = builder.create<ParamOp>(
      module.getLoc(), builder.getStringAttr(rateSymbol), TypeAttr::get(type),
      DenseElementsAttr::get(type, static_cast<float>(rate)),
      DenseI64ArrayAttr(), ShardingAttr());
  param->setAttr(RoleAttrName, builder.getStringAttr("setting"));
}

/// w - lr g, stored in the symbol.
static void addUpdate(OpBuilder &builder, Value gradient,
                      FlatSymbolRefAttr symbol, Value rate) {
  Location loc = gradient.getLoc();
  auto type = cast<RankedTensorType>(gradient.getType());
  Value weight = builder.create<LoadOp>(loc, type, symbol);
  Value factor = rate;
  if (type.getElementType() != builder.getF32Type())
    factor = builder.create<CastOp>(
        loc, RankedTensorType::get({}, type.getElementType()), factor);
  factor = builder.create<BroadcastOp>(loc, type, factor, ArrayRef<int64_t>());
  Value scaled =
      builder.create<BinaryOp>(loc, type, BinaryKind::Mul, factor, gradient);
  Value updated =
      builder.create<BinaryOp>(loc, type, BinaryKind::Sub, weight, scaled);
  builder.create<StoreOp>(loc, updated, symbol);
}

namespace {
struct AddOptimizerPass : cleave::impl::AddOptimizerPassBase<AddOptimizerPass> {
  using AddOptimizerPassBase::AddOptimizerPassBase;
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    llvm::BitVector taken(function ? function.getNumResults() : 0);
    for (unsigned i = 0; i < taken.size(); ++i)
      taken[i] =
          static_cast<bool>(function.getResultAttrOfType<FlatSymbolRefAttr>(
              i, GradientOfAttrName));
    if (taken.none()) {
      getOperation().emitError() << "the loss depends on no parameter: there "
                                    "is nothing to train";
      return signalPassFailure();
    }
    addRate(getOperation(), rate);
    Operation *ret = function.front().getTerminator();
    OpBuilder builder(ret);
    Value rateValue = builder.create<LoadOp>(
        ret->getLoc(), RankedTensorType::get({}, builder.getF32Type()),
        rateSymbol);
    for (unsigned i : taken.set_bits())
      addUpdate(builder, ret->getOperand(i),
                function.getResultAttrOfType<FlatSymbolRefAttr>(
                    i, GradientOfAttrName),
                rateValue);
    ret->eraseOperands(taken);
    function.eraseResults(taken);
  }
};
} // namespace
