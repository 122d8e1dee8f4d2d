//===- PlanFile.h - plan.json ---------------------------------------------===//
//
// {
//   "version": 1,
//   "axes": {"tp": 2}, "microbatches": 1, "schedule": "gpipe",
//   "stages": [{"ranks": [0, 1], "nodes": ["fc1", "act", "fc2"]}],
//   "inputs": {"x": "-,-"}, "params": {"w": "-,tp"}, "values": {"fc2": "-,-;
//   sum over tp"}, "predictions": {...}
// }
//
// Layouts have one entry per dim: axes joined by +, or -, and a block after a
// colon. Predictions are for the reader. The rest can be edited; what is taken
// out is found by the search when the plan is replayed.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_PLANFILE_H
#define CLEAVE_PASSES_PLAN_PLANFILE_H

#include "passes/plan/Pins.h"

#include "llvm/Support/JSON.h"

namespace cleave {

/// The plan in force in a planned module. Deterministic.
llvm::json::Value writePlan(mlir::ModuleOp module);

/// The sharding of a tensor of a planned module; null if it has none.
ShardingAttr getSharding(const plan::Graph &graph, const plan::Tensor &tensor);

namespace plan {

/// A plan that was read, not yet compared with a model.
struct PlanFile {
  std::string path;          ///< of annotations: "configuration NAME"
  bool isAnnotation = false; ///< comes with the model
  /// Is of another bucket: only parameters and stages are kept to.
  bool isBase = false;
  std::map<std::string, int64_t> axes; ///< ranks along each
  int64_t microBatches = 1;
  std::string schedule; ///< gpipe, 1f1b; empty: not said
  std::vector<std::vector<std::string>> stages; ///< node names
  /// By tensor kind: name and layout.
  std::vector<std::pair<std::string, std::string>> tensors[3];
};

/// Reads the file; faults are errors with its name.
mlir::FailureOr<PlanFile> readPlanFile(mlir::MLIRContext *context,
                                       llvm::StringRef path);

/// The same from text; `name` is what messages call it.
mlir::FailureOr<PlanFile> parsePlan(mlir::MLIRContext *context,
                                    llvm::StringRef text, llvm::StringRef name);

/// Adds its decisions as pins. Names that the model does not have, dims that do
/// not fit, and nodes in two stages are errors.
mlir::LogicalResult pinPlan(Pins &pins, const Graph &graph,
                            const PlanFile &file,
                            llvm::ArrayRef<PlanAxis> axes);

} // namespace plan
} // namespace cleave

#endif
