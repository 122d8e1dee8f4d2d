//===- AxisSearch.h - what one mesh axis does to each tensor --------------===//
//
// The search goes axis by axis: dp, then tp, each with what the earlier ones
// have decided. For one axis every node picks a strategy (a factor of its rule
// that the axis splits, or none, or passing partial sums through where it is
// linear), every input and parameter a state; where producer and user disagree,
// a conversion is paid, once for all users that want the same form. Nothing
// here knows any model.
//
// The problem it becomes (Problem.h):
//   a variable per node, input and parameter
//   a variable per value with several users: the pair (state it is made in,
//   form
//     it is converted to once); users take whichever of the two is nearer
//   costs: time of the node on local shapes; bytes of weights times their price
//   edges: conversion times
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_AXISSEARCH_H
#define CLEAVE_PASSES_PLAN_AXISSEARCH_H

#include "passes/cost/CostModel.h"
#include "passes/plan/Graph.h"
#include "passes/plan/Pins.h"
#include "passes/plan/Solver.h"

namespace cleave::plan {

/// What is left of the graph on one rank, after the axes decided so far.
struct LocalGraph {
  explicit LocalGraph(const Graph &graph);

  std::vector<LocalTensor> tensors;
  std::vector<Work> work; ///< per node
  /// Decided states of each tensor, by axis in order.
  std::vector<llvm::SmallVector<AxisState, 2>> states;
  /// Factors of each node that an axis splits already.
  std::vector<llvm::SmallVector<int64_t, 2>> usedFactors;

  bool isSplit(size_t tensor, int64_t dim) const;
};

struct AxisOptions {
  std::string name;
  AxisLink link;
  /// Parts of the axis that are in time, not ranks.
  int64_t microBatches = 1;
  /// A node that needs one micro-batch and what is made of all is an error.
  bool verifiesMicroBatches = false;
  Objective objective = Objective::Balanced;
  /// Joint tables of the search: quick ones compare candidates, the largest are
  /// for the plan that is taken.
  SolverOptions solver;
  /// The axis divides the batch: what it splits is not gathered again unless
  /// there is no other way, and gathering the model's outputs counts nothing.
  bool isBatch = false;
};

/// Collectives that the decisions call for along one axis.
struct AxisReport {
  std::string name;
  double time = 0;        ///< seconds in them
  int64_t reductions = 0; ///< all-reduces and reduce-scatters
  int64_t gathers = 0;
  int64_t exchanges = 0;
  bool isExact = true;
  std::vector<std::string> fixed; ///< what an approximate search has fixed
  /// Seconds by stage of the producer: for each micro-batch, and once a step
  /// (along the axis of micro-batches itself: sums and outputs).
  std::vector<double> stageTimes, onceTimes;
  /// No node is split: the ranks of the axis all do the same.
  bool isIdle = true;
};

/// Decides the axis and applies the decision to `local`. Pins that leave no
/// choice are errors.
mlir::FailureOr<AxisReport> searchAxis(const Graph &graph, LocalGraph &local,
                                       const CostModel &costs, const Pins &pins,
                                       const AxisOptions &axis);

} // namespace cleave::plan

#endif
