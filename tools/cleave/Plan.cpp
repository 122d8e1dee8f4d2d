//===- Plan.cpp - cleave plan: from a model to a plan ---------------------===//
//
// Imports the model and plans it, as `cleave compile` does, and stops there.
// The kind of file decides: .onnx is the model with the plan as its
// annotations, all else is plan.json.
//
//===----------------------------------------------------------------------===//

#include "frontend/Annotations.h"
#include "ir/Cleave.h"
#include "passes/plan/AnnotationPins.h"
#include "tools/cleave/CompileFlags.h"
#include "tools/cleave/Files.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace cleave;
using namespace mlir;

namespace {
struct PlanFlags {
  CompileFlags common;
  std::string name; ///< of the configuration that is written

  bool isModel() const {
    return llvm::StringRef(common.out).ends_with(".onnx");
  }
};
} // namespace

/// The name given, or of the configuration that was kept to, or a new one.
static std::string getName(const PlanFlags &flags, ModuleOp module) {
  if (!flags.name.empty())
    return flags.name;
  if (!flags.common.pipeline.plan.configuration.empty())
    return flags.common.pipeline.plan.configuration;
  int64_t ranks = 0;
  for (MeshOp mesh : module.getOps<MeshOp>())
    ranks += mesh.getMesh().getSize();
  return "cleave-" + std::to_string(ranks);
}

static FailureOr<std::string> getBytes(const PlanFlags &flags,
                                       ModuleOp module) {
  if (!flags.isModel())
    return module->getAttrOfType<StringAttr>(PlanAttrName).str();
  FailureOr<Annotations> plan = describePlan(module, getName(flags, module));
  if (failed(plan))
    return failure();
  return annotateModel(module.getContext(), flags.common.model,
                       flags.common.out, *plan);
}

static int makePlan(MLIRContext &context, const PlanFlags &flags) {
  Progress progress;
  const CompileFlags &common = flags.common;
  progress.step("importing");
  FailureOr<OwningOpRef<ModuleOp>> module =
      loadModule(context, common.model, common.imports);
  if (failed(module))
    return ExitModel;
  auto step = [&](StringRef text) { progress.step(text); };
  if (failed(lowerToPlan(**module, {common.pipeline, common.dumpFolder,
                                    common.printPlan, step})))
    return ExitPlan;
  FailureOr<std::string> bytes = getBytes(flags, **module);
  if (failed(bytes))
    return ExitModel;
  return writeOutput(common.out, *bytes);
}

static int makePlan(const PlanFlags &flags) {
  MLIRContext context;
  context.printOpOnDiagnostic(false);
  context.loadDialect<CleaveDialect, func::FuncDialect>();
  ErrorPrinter errors(&context);
  return makePlan(context, flags);
}

void cleave::addPlan(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App *command = app.add_subcommand(
      "plan", "Plans a model, for `compile --plan` or in the model itself.");
  addPlanningFlags(*command, flags->common,
                   "plan.json, or MODEL.onnx: the model with annotations");
  command->add_flag("--explain", flags->common.printPlan,
                    "print the plans that were considered, and why this one");
  command->add_option("--name", flags->name,
                      "of the annotations' configuration (default: cleave-N "
                      "for N ranks)");
  command->callback([flags, &verb] {
    parseModelFlags(flags->common);
    flags->common.imports.keepsTensors = flags->isModel();
    if (!flags->isModel())
      verifyPlanName(flags->common.out,
                     "a name in .json (a plan) or .onnx (the model with the "
                     "plan in it)");
    if (!flags->isModel() && !flags->name.empty())
      throw CLI::ValidationError("--name", "is for -o MODEL.onnx");
    llvm::StringRef model = flags->common.model;
    if (flags->isModel() && model.ends_with(".mlir"))
      throw CLI::ValidationError("-o", "a .mlir model has no annotations");
    verb = [flags] { return makePlan(*flags); };
  });
}
