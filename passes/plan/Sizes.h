//===- Sizes.h - how many ranks along each axis ---------------------------===//
//
// A plan divides its ranks into dp x tp x pp. What flags, a plan file and the
// cluster leave open is enumerated; numbers that contradict each other are
// errors that name the user's flags.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_SIZES_H
#define CLEAVE_PASSES_PLAN_SIZES_H

#include "passes/cost/Cluster.h"
#include "passes/plan/Graph.h"
#include "passes/plan/Options.h"
#include "passes/plan/PlanFile.h"

#include <optional>

namespace cleave::plan {

struct PlanSizes {
  int64_t dp = 1, tp = 1, pp = 1, microBatches = 1;

  int64_t getRanks() const { return dp * tp * pp; }
};

/// The flags that ask for these sizes, "--tp 2 --pp 2"; sizes of 1 are left
/// out. "one rank" if all are.
std::string printSizes(const PlanSizes &sizes);

/// Takes the sizes of a plan file; the same size may also be given by flag.
mlir::LogicalResult mergeSizes(mlir::ModuleOp module, PlanOptions &options,
                               const PlanFile &file);

/// Sizes that the options and the cluster leave open; those that the model
/// cannot have included. Micro-batches are open where there are stages: 1, 2, 4
/// and 8, as far as they divide the batch.
mlir::FailureOr<std::vector<PlanSizes>>
enumerateSizes(const Graph &graph, const PlanOptions &options,
               const std::optional<Cluster> &cluster);

/// More ranks along tp than the largest dim has elements, and more stages than
/// nodes, are errors.
mlir::LogicalResult verifyLimits(const Graph &graph, const PlanSizes &sizes);

/// The largest number of ranks below `ranks` that can be divided within the
/// limits of the model and what the options say; 0 if there is none.
int64_t findFewerRanks(const Graph &graph, const PlanOptions &options,
                       int64_t ranks);

} // namespace cleave::plan

#endif
