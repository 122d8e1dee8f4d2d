//===- Lower.cpp - run the passes and watch them --------------------------===//
//
// A pass instrumentation writes the IR after each pass (--dump-passes) and
// keeps the plan, which is complete right after the planner, as a module
// attribute.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/Lower.h"

#include "codegen/Codegen.h"
#include "passes/plan/CandidateTable.h"
#include "passes/plan/PlanFile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatAdapters.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace cleave;
using namespace mlir;

namespace {
class Watcher : public PassInstrumentation {
public:
  explicit Watcher(const LowerOptions &options) : options(options) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (isOnModule(pass) && options.progress)
      options.progress(getName(pass));
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    auto module = dyn_cast<ModuleOp>(op);
    if (!module || !isOnModule(pass))
      return;
    if (pass->getArgument() == "cleave-add-optimizer")
      addOutputs(module);
    if (pass->getArgument() == "cleave-plan")
      keepPlan(module);
    if (!options.dumpFolder.empty())
      dump(pass, op);
  }

private:
  /// Adaptors that only hold other passes have no flag.
  static bool isOnModule(Pass *pass) { return !pass->getArgument().empty(); }
  static StringRef getName(Pass *pass) {
    StringRef name = pass->getArgument();
    name.consume_front("cleave-");
    return name;
  }
  void addOutputs(ModuleOp module);
  void keepPlan(ModuleOp module);
  void dump(Pass *pass, Operation *op);

  const LowerOptions &options;
  int count = 0;
};
} // namespace

/// Gradients that are outputs belong to what the user sees of the model.
void Watcher::addOutputs(ModuleOp module) {
  [[maybe_unused]] LogicalResult known = recordSignature(module);
  assert(succeeded(known) && "the optimizer names the results that it adds");
}

void Watcher::keepPlan(ModuleOp module) {
  module->setAttr(PlanAttrName,
                  StringAttr::get(module.getContext(),
                                  llvm::formatv("{0:2}\n", writePlan(module))));
  if (options.printPlan)
    llvm::outs() << printCandidates(module);
}

void Watcher::dump(Pass *pass, Operation *op) {
  std::string number = llvm::utostr(++count);
  number.insert(0, number.size() < 2 ? "0" : "");
  std::string path = llvm::formatv("{0}/{1}-{2}.mlir", options.dumpFolder,
                                   number, getName(pass));
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    op->print(stream, OpPrintingFlags().useLocalScope());
    stream << "\n";
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    emitWarning(UnknownLoc::get(op->getContext()))
        << "cannot write '" << path << "': " << error.message();
}

using PipelineBuilder = void (*)(OpPassManager &, const PipelineOptions &);

static LogicalResult lower(ModuleOp module, const LowerOptions &options,
                           PipelineBuilder build) {
  PassManager manager(module.getContext());
  manager.addInstrumentation(std::make_unique<Watcher>(options));
  build(manager, options.pipeline);
  return manager.run(module);
}

LogicalResult cleave::lowerToPlan(ModuleOp module,
                                  const LowerOptions &options) {
  return lower(module, options, buildPlanPipeline);
}

LogicalResult cleave::lowerToRanks(ModuleOp module,
                                   const LowerOptions &options) {
  return lower(module, options, buildPipeline);
}
