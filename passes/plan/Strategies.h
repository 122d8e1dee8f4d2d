//===- Strategies.h - how one axis may run one node -----------------------===//

#ifndef CLEAVE_PASSES_PLAN_STRATEGIES_H
#define CLEAVE_PASSES_PLAN_STRATEGIES_H

#include "passes/plan/AxisSearch.h"

namespace cleave::plan {

/// One way to run a node on an axis.
struct Strategy {
  int64_t factor = -1;                   ///< that the axis splits; -1: none
  llvm::SmallVector<AxisState> operands; ///< states it needs
  llvm::SmallVector<AxisState> results;  ///< states it makes
  double share = 1; ///< of the node's FLOPs on the fullest rank
};

/// Block sizes in which dims could be split, by tensor and dim, ascending. A
/// dim of 384 that is reshaped to [6, 64] anywhere around has blocks 1 and 64:
/// whole heads.
using BlockTable =
    std::vector<llvm::SmallVector<llvm::SmallVector<int64_t, 4>>>;
BlockTable findBlocks(const Graph &graph, const Pins &pins,
                      llvm::StringRef axis);

/// States that an input or parameter may have on an axis of `parts` ranks.
/// Blocks that give the same chunks count once.
llvm::SmallVector<AxisState>
getStates(const LocalTensor &tensor,
          llvm::ArrayRef<llvm::SmallVector<int64_t, 4>> blocks, int64_t parts,
          llvm::function_ref<bool(int64_t)> isTaken);

/// Ways to run a node, `none` first.
std::vector<Strategy> getStrategies(const Graph &graph, const LocalGraph &local,
                                    size_t node, const BlockTable &blocks,
                                    int64_t parts);

/// Work of a node under a strategy.
Work getLocalWork(const Graph &graph, const LocalGraph &local, size_t node,
                  const Strategy &strategy, int64_t parts);

} // namespace cleave::plan

#endif
