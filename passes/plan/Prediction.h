//===- Prediction.h - time and memory of a planned step -------------------===//
//
// Reads what was decided (stages, local shapes, conversions along the axes) and
// the cost model. A step of m micro-batches through stages that take t_i takes
//
//   sum_i t_i + (m - 1) max_i t_i          (Alpa, arXiv 2201.12023)
//
// and no less than the ranks of a node need when they take turns on its cores.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_PREDICTION_H
#define CLEAVE_PASSES_PLAN_PREDICTION_H

#include "passes/plan/AxisSearch.h"

namespace cleave::plan {

/// What one stage takes.
struct StageCost {
  double compute = 0;       ///< seconds in ops, for one micro-batch
  double communication = 0; ///< seconds in collectives and receives, likewise
  double once = 0;          ///< seconds in collectives once a step
  int64_t weightBytes = 0;  ///< of parameters on a rank
  int64_t memoryBytes = 0;  ///< weights, inputs, outputs and live values
};

/// Seconds of a step, as the mean over the ranks: they sum up to its length.
struct StepTime {
  double compute = 0;
  double communication = 0;
  double bubble = 0; ///< waiting for other stages, or for a core

  double getSeconds() const { return compute + communication + bubble; }
};

struct Prediction {
  std::vector<StageCost> stages;
  StepTime time;

  /// The stage that needs the most memory a rank.
  size_t getFullestStage() const;
};

/// Time of a step. `turns`: seconds that the cores of the busiest node need for
/// the ops of all its ranks.
StepTime getStepTime(llvm::ArrayRef<StageCost> stages, int64_t microBatches,
                     double turns);

Prediction predict(const Graph &graph, const LocalGraph &local,
                   llvm::ArrayRef<MeshAttr> meshes,
                   llvm::ArrayRef<AxisReport> reports, const CostModel &costs);

} // namespace cleave::plan

#endif
