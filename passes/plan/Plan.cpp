//===- Plan.cpp - the pass --cleave-plan ----------------------------------===//
//
// Needs a normalised logical module; guarantees shardings on every value,
// argument and parameter, and stages where there is more than one. Refuses
// sizes, patterns and plan files that contradict each other, the model or the
// cluster.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Passes.h"
#include "passes/plan/PlanFile.h"
#include "passes/plan/Planner.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cleave {
#define GEN_PASS_DEF_PLANPASS
#include "passes/plan/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

/// "a=-,tp;b=tp,-" as two patterns.
static std::vector<std::string> splitPatterns(StringRef text) {
  std::vector<std::string> patterns;
  for (StringRef pattern : llvm::split(text, ';'))
    if (!pattern.trim().empty())
      patterns.push_back(pattern.trim().str());
  return patterns;
}

static std::optional<plan::Objective> parseObjective(StringRef text) {
  if (text == "automatic")
    return plan::Objective::Automatic;
  if (text == "balanced")
    return plan::Objective::Balanced;
  if (text == "time")
    return plan::Objective::Time;
  if (text == "memory")
    return plan::Objective::Memory;
  return std::nullopt;
}

/// Writes plan.json with a line per entry.
static LogicalResult writeFile(ModuleOp module, StringRef path) {
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &error);
  if (!file)
    return module.emitError() << "cannot write the plan: " << error;
  file->os() << llvm::formatv("{0:2}", writePlan(module)) << "\n";
  file->keep();
  return success();
}

namespace {

struct PlanPass : cleave::impl::PlanPassBase<PlanPass> {
  using PlanPassBase::PlanPassBase;

  FailureOr<plan::PlanOptions> readOptions();
  FailureOr<std::optional<Cluster>> readMachines();
  void runOnOperation() override;
};

} // namespace

FailureOr<plan::PlanOptions> PlanPass::readOptions() {
  plan::PlanOptions options;
  options.dp = dp;
  options.tp = tp;
  options.pp = pp;
  options.microBatches = microBatches;
  options.schedule = schedule;
  options.leastBatch = leastBatch;
  options.ranks = ranks;
  options.shards = splitPatterns(shards);
  options.stages = splitPatterns(stages);
  options.planFile = planFile;
  options.configuration = configuration;
  std::optional<plan::Objective> parsed = parseObjective(objective);
  if (!parsed)
    return getOperation().emitError()
           << "objective must be automatic, balanced, time or memory, found '"
           << objective << "'";
  options.objective = *parsed;
  return options;
}

FailureOr<std::optional<Cluster>> PlanPass::readMachines() {
  if (cluster.empty())
    return std::optional<Cluster>();
  FailureOr<Cluster> machines = readCluster(&getContext(), cluster);
  if (failed(machines))
    return failure();
  return std::optional<Cluster>(std::move(*machines));
}

void PlanPass::runOnOperation() {
  FailureOr<plan::PlanOptions> options = readOptions();
  if (failed(options))
    return signalPassFailure();
  FailureOr<std::optional<Cluster>> machines = readMachines();
  if (failed(machines) ||
      failed(planModule(getOperation(), *options, *machines)))
    return signalPassFailure();
  if (!output.empty() && failed(writeFile(getOperation(), output)))
    return signalPassFailure();
}
