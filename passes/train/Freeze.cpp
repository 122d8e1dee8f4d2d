//===- Freeze.cpp - choose the params that are trained --------------------===//
//
// Marks params by the patterns of --freeze and --only. What is frozen already
// stays so.
//
//===----------------------------------------------------------------------===//

#include "passes/train/Passes.h"
#include "passes/train/Patterns.h"

#include "ir/Cleave.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_FREEZEPASS
#include "passes/train/Passes.h.inc"
} // namespace cleave

namespace {
struct FreezePass : cleave::impl::FreezePassBase<FreezePass> {
  using FreezePassBase::FreezePassBase;
  void runOnOperation() override {
    if (failed(verifyPatterns(getOperation(), freeze)) ||
        failed(verifyPatterns(getOperation(), only)))
      return signalPassFailure();
    for (auto param : getOperation().getOps<ParamOp>()) {
      StringRef name = param.getSymName();
      if (matchesAny(freeze, name) ||
          (!only.empty() && !matchesAny(only, name)))
        param.setFrozen(true);
    }
  }
};
} // namespace
