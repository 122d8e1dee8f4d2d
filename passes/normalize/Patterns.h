//===- Patterns.h - the pattern sets of the simplify pass -----------------===//
#ifndef CLEAVE_PASSES_NORMALIZE_PATTERNS_H
#define CLEAVE_PASSES_NORMALIZE_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace cleave {

/// Identities, powers, quotients and roots.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
/// Reshapes, broadcasts, slices, gathers, and transposes of weights.
void populateMovementPatterns(mlir::RewritePatternSet &patterns);

} // namespace cleave

#endif
