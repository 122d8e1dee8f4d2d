//===- RecurrentCells.h - one step of RNN, GRU and LSTM -------------------===//
//
// The gates of a cell are a dim of their own, so that a split of the hidden dim
// cuts no gate. Shapes: N batch, G gates, H hidden. Formulas and the order of
// gates: ONNX's text of each operator.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_RECURRENTCELLS_H
#define CLEAVE_FRONTEND_RECURRENTCELLS_H

#include "frontend/NodeContext.h"

namespace cleave {

/// What the cell of one direction works with; the direction's dim is gone.
struct RecurrentCell {
  mlir::Value recurrence; ///< [G, H, H]
  mlir::Value
      recurrenceBias;    ///< [G, H]; of GRU, null elsewhere: it is in the input
  mlir::Value peepholes; ///< [3, H]; null: none
  llvm::SmallVector<UnaryKind> activations;
  double clip = 0; ///< 0: none
  bool couplesForget = false, resetsAfter = false;
};

/// The state between steps: [N, H] each; only LSTM has the second.
struct RecurrentState {
  mlir::Value hidden, memory;
};

/// Adds a step. `input` is its part of the hoisted product, [N, G, H].
using StepBuilder = RecurrentState (*)(NodeContext &, const RecurrentCell &,
                                       mlir::Value input,
                                       const RecurrentState &);

/// How an operator differs from the others.
struct RecurrentKind {
  int64_t gates;
  llvm::ArrayRef<UnaryKind> defaults; ///< one direction's
  /// The recurrent bias is no part of the input's.
  bool separatesBias;
  bool hasMemory;
  StepBuilder step;
};

extern const RecurrentKind rnnKind, gruKind, lstmKind;

} // namespace cleave

#endif
