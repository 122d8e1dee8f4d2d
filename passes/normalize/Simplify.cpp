//===- Simplify.cpp - remove spellings that say the same thing ------------===//
//
// Applies the pattern sets of this room and the ops' own folds until nothing
// changes, so that the passes that recognise composites meet one spelling of
// each. Results change by rounding only.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Passes.h"
#include "passes/normalize/Patterns.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/normalize/Passes.h.inc"
} // namespace cleave

namespace {
struct SimplifyPass : cleave::impl::SimplifyPassBase<SimplifyPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateElementwisePatterns(set);
    populateMovementPatterns(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }
  void runOnOperation() override {
    if (failed(applyPatternsAndFoldGreedily(getOperation(), patterns)))
      signalPassFailure();
  }
  FrozenRewritePatternSet patterns;
};
} // namespace
