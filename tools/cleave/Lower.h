//===- Lower.h - run the passes and watch them ----------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_LOWER_H
#define CLEAVE_TOOLS_CLEAVE_LOWER_H

#include "passes/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace cleave {

struct LowerOptions {
  PipelineOptions pipeline;
  /// Folder for the IR after each pass, which is there; empty: none.
  std::string dumpFolder;
  /// Print the plans that were considered to standard output.
  bool printPlan = false;
  std::function<void(llvm::StringRef)> progress;
};

/// Name of the module attribute that holds plan.json once a plan is made.
inline constexpr llvm::StringLiteral PlanAttrName = "cleave.plan";

/// Plans a logical module; nothing is cut yet.
[[nodiscard]] mlir::LogicalResult lowerToPlan(mlir::ModuleOp module,
                                              const LowerOptions &options);

/// Turns a logical module into rank programs with planned memory.
[[nodiscard]] mlir::LogicalResult lowerToRanks(mlir::ModuleOp module,
                                               const LowerOptions &options);

} // namespace cleave

#endif
