//===- BatchPins.h - what dp and micro-batches divide ---------------------===//
//
// The batch: dim 0 of the first input, and of every input with the same size
// there. Parameters are whole along the axis.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_BATCHPINS_H
#define CLEAVE_PASSES_PLAN_BATCHPINS_H

#include "passes/plan/Pins.h"

namespace cleave::plan {

/// Dim 0 of the first input that has dims.
std::optional<int64_t> getBatch(const Graph &graph);

/// Pins the batch of the inputs to the axis, and parameters whole along it,
/// where the user has not said otherwise. A batch that the axis cannot divide
/// is an error.
mlir::LogicalResult pinBatch(Pins &pins, const Graph &graph,
                             const PlanAxis &axis);

} // namespace cleave::plan

#endif
