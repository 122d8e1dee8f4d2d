//===- Solver.h - finds the cheapest assignment of a problem --------------===//
//
// Bucket elimination (Dechter 1999): variables leave one by one, each taking
// its tables along and leaving one table over its neighbours; going back, each
// gets its best value. Exact. Its cost grows with the product of the domains
// that meet in one table, which the order of elimination (least fill-in first)
// keeps small on chains of layers with few residual edges.
//
// Where a table would exceed the bound, one of its variables is fixed to the
// value it has in a first, greedy solution; at the end sweeps over all
// variables improve the result while they can. `exact` is false then, and
// `fixed` says where. Where that leads to a forbidden choice, all is repeated
// with the values that cost least by the tables at hand.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_SOLVER_H
#define CLEAVE_PASSES_PLAN_SOLVER_H

#include "passes/plan/Problem.h"

#include <optional>

namespace cleave::plan {

struct SolverOptions {
  size_t maxTableEntries = size_t(1) << 22; ///< of the largest joint table
};

struct Solution {
  std::vector<size_t> values; ///< one per variable
  double cost = 0;
  bool exact = true;
  std::vector<size_t> fixed; ///< variables that were fixed
};

/// The cheapest assignment; nullopt if the forbidden costs leave none (or,
/// where the result is not exact, if none was found). Deterministic: of equal
/// values the first wins.
std::optional<Solution> solve(const Problem &problem,
                              const SolverOptions &options = {});

/// What is wrong with the solution (a value out of range, a forbidden choice, a
/// wrong cost); empty if nothing is.
std::string verify(const Problem &problem, const Solution &solution);

} // namespace cleave::plan

#endif
