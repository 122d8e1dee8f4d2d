//===- Stages.h - cuts a program into pipeline stages ---------------------===//
//
// Stages are contiguous runs of the nodes in program order. The cuts minimise
// the time of the slowest stage (its nodes and what it sends on), by dynamic
// programming over all positions. Constants are no part of it: they go with
// their first user, and so do loads.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_STAGES_H
#define CLEAVE_PASSES_PLAN_STAGES_H

#include "passes/cost/CostModel.h"
#include "passes/plan/Graph.h"
#include "passes/plan/Pins.h"

#include <optional>
#include <vector>

namespace cleave::plan {

/// The problem of cutting, apart from any IR.
struct CutProblem {
  std::vector<double> times; ///< of each item
  std::vector<double>
      sends; ///< of a cut before each item; the first is not used
  std::vector<int64_t> pins; ///< stage of each item; -1: free
  int64_t stages = 1;
};

/// Stage of each item: contiguous, ascending, none empty; nullopt if the pins
/// (or too few items) leave no way. Of equal cuts the earliest wins.
std::optional<std::vector<int64_t>> cutItems(const CutProblem &problem);

/// Sets the stages of nodes and tensors. Every node gets exactly one.
mlir::LogicalResult assignStages(Graph &graph, const CostModel &costs,
                                 const Pins &pins, int64_t stages);

} // namespace cleave::plan

#endif
