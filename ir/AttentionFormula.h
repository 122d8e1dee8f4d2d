//===- AttentionFormula.h - attention in simpler ops ----------------------===//
//
// The formulas of `attention` and `attention_grad` with a score matrix: for the
// types that their kernel has no code for, and for masks that have a gradient.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_ATTENTIONFORMULA_H
#define CLEAVE_IR_ATTENTIONFORMULA_H

#include "ir/Composite.h"
#include "ir/LogicalBuilder.h"

namespace cleave {

/// Operands and attributes as `attention` has them; the mask may be null.
struct AttentionParts {
  mlir::Value q, k, v, mask;
  double scale;
  bool causal;
};

struct AttentionGradients {
  mlir::Value dq, dk, dv;
  mlir::Value dmask; ///< null without a mask
};

mlir::Value buildAttention(LogicalBuilder &b, const AttentionParts &parts);
AttentionGradients buildAttentionGradients(LogicalBuilder &b,
                                           const AttentionParts &parts,
                                           mlir::Value dresult);

} // namespace cleave

#endif
