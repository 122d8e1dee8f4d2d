//===- Pipeline.h - the phases in order -----------------------------------===//

#ifndef CLEAVE_PASSES_PIPELINE_H
#define CLEAVE_PASSES_PIPELINE_H

#include "passes/plan/Passes.h"
#include "passes/train/Passes.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace cleave {

struct PipelineOptions {
  PlanPassOptions plan;
  /// Read-only checks between phases.
  bool verify = true;
  /// Differentiate, optimize and store: a step that trains.
  bool train = false;
  /// Where the model has no loss: what to add. No kind: it has one.
  AddLossPassOptions loss;
  FreezePassOptions freeze;
  /// The result that is the loss, where none is added.
  DifferentiatePassOptions differentiate;
  AddOptimizerPassOptions optimizer;
  /// cpu or cuda: what the libraries of the target want of layouts and types.
  std::string target = "cpu";
};

/// From a logical module to a planned one.
void buildPlanPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// From a logical module to rank programs with planned memory.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

/// `--cleave-pipeline` for cleave-opt.
void registerPipeline();

} // namespace cleave

#endif
