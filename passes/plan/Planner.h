//===- Planner.h - finds a plan and writes it as attributes ---------------===//

#ifndef CLEAVE_PASSES_PLAN_PLANNER_H
#define CLEAVE_PASSES_PLAN_PLANNER_H

#include "passes/cost/Cluster.h"
#include "passes/plan/Options.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace cleave {

/// Module attribute with the plan, as text of plan.json, of another bucket of
/// the same model (the same for inputs of other sizes). Its sizes, stages and
/// layouts of parameters are kept to, so that both can share the weights; what
/// it says of parameters and nodes that are not there is left out.
inline constexpr llvm::StringLiteral BasePlanAttrName = "cleave.base_plan";

/// Plans a logical module: adds one `cleave.mesh` per stage, `cleave.shardings`
/// and `cleave.stage` on ops, `cleave.sharding` on arguments, results and
/// params, and `cleave.predictions` on the module. Rewrites nothing else.
/// Without a cluster the ranks are on this host (Cluster::getHost). Every
/// failure has a diagnostic.
mlir::LogicalResult
planModule(mlir::ModuleOp module, plan::PlanOptions options,
           const std::optional<Cluster> &cluster = std::nullopt);

} // namespace cleave

#endif
