//===- Compile.cpp - cleave compile: from a model to OUT ------------------===//
//
// Imports the model, runs the passes, emits. A .mlir model is a logical module,
// or a rank program as `--emit mlir` writes it, which is only emitted.
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"
#include "ir/Cleave.h"
#include "passes/cost/Cluster.h"
#include "tools/cleave/CompileFlags.h"
#include "tools/cleave/Files.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace cleave;
using namespace mlir;

/// The folder lib/cleave beside the folder of this executable.
static std::string findResources() {
  std::string self = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&findResources));
  llvm::SmallString<128> folder(self);
  llvm::sys::path::remove_filename(folder);
  llvm::sys::path::append(folder, "..", "lib", "cleave");
  llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  return folder.str().str();
}

/// Programs are for CPUs: a cluster of others can be planned for, no more.
static LogicalResult verifyCluster(MLIRContext &context,
                                   const CompileFlags &flags) {
  const std::string &path = flags.pipeline.plan.cluster;
  if (path.empty())
    return success();
  FailureOr<Cluster> cluster = readCluster(&context, path);
  if (failed(cluster))
    return failure();
  for (const Device &device : cluster->devices)
    if (device.target != "cpu" && flags.emit != "plan")
      return emitError(FileLineColLoc::get(&context, path, 0, 0))
             << "device '" << device.name << "' has target " << device.target
             << ", but programs are made for cpu only (--emit plan plans for "
                "any)";
  return success();
}

/// For the IR after each pass; an empty path is none.
static LogicalResult makeFolder(MLIRContext *context, StringRef path) {
  if (path.empty())
    return success();
  if (std::error_code error = llvm::sys::fs::create_directories(path))
    return emitError(UnknownLoc::get(context))
           << "cannot create '" << path << "': " << error.message();
  return success();
}

static int getExitCode(EmitResult result) {
  switch (result) {
  case EmitResult::Done:
    return ExitDone;
  case EmitResult::Invalid:
    return ExitPlan;
  case EmitResult::NotWritten:
    return ExitDevice;
  }
  llvm_unreachable("unknown result");
}

/// What `--emit` says.
static int emit(ModuleOp module, const CompileFlags &flags,
                const EmitOptions &options) {
  if (flags.emit == "plan")
    return writeOutput(flags.out, options.plan);
  if (flags.emit != "mlir")
    return getExitCode(emitProgram(module, options));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope().enableDebugInfo());
  stream << "\n";
  return writeOutput(flags.out, text);
}

/// The plan in force; a rank program without one was written by hand.
static std::string getPlan(ModuleOp module) {
  auto plan = module->getAttrOfType<StringAttr>(PlanAttrName);
  return plan ? plan.str() : "{}\n";
}

static EmitOptions getEmitOptions(const CompileFlags &flags,
                                  Progress &progress) {
  EmitOptions options;
  options.output = flags.out;
  // MLIR is text in one file, too, which is not written by emitProgram.
  options.kind = flags.emit == "out"   ? EmitKind::Out
                 : flags.emit == "obj" ? EmitKind::Object
                                       : EmitKind::Llvm;
  options.model = llvm::sys::path::stem(flags.model).str();
  options.cpu = flags.cpu;
  options.resources = findResources();
  options.progress = [&progress](StringRef text) { progress.step(text); };
  return options;
}

static int compileModel(MLIRContext &context, const CompileFlags &flags) {
  Progress progress;
  EmitOptions options = getEmitOptions(flags, progress);
  if (failed(verifyOutput(&context, options)) ||
      failed(makeFolder(&context, flags.dumpFolder)))
    return ExitUsage;
  if (failed(verifyCluster(context, flags)))
    return ExitPlan;
  progress.step("importing");
  FailureOr<OwningOpRef<ModuleOp>> module =
      loadModule(context, flags.model, flags.imports);
  if (failed(module) ||
      (!isRankModule(**module) && failed(recordSignature(**module))))
    return ExitModel;
  if (!isRankModule(**module) &&
      failed(lowerToRanks(**module, {flags.pipeline, flags.dumpFolder,
                                     flags.printPlan, options.progress})))
    return ExitPlan;
  options.plan = getPlan(**module);
  return emit(**module, flags, options);
}

static int compile(const CompileFlags &flags) {
  DialectRegistry registry;
  registry.insert<CleaveDialect, func::FuncDialect>();
  registerCodegenDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  ErrorPrinter errors(&context);
  return compileModel(context, flags);
}

void cleave::addCompile(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App *command = addCompileFlags(app, *flags);
  command->callback([flags, &verb] {
    parseModelFlags(*flags);
    verb = [flags] { return compile(*flags); };
  });
}
