//===- Compile.cpp - cleave compile: from a model to OUT ------------------===//
//
// Imports the model, runs the passes, emits. A .mlir model is a logical module,
// or a rank program as `--emit mlir` writes it, which is only emitted.
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"
#include "frontend/Import.h"
#include "ir/Cleave.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <memory>

using namespace cleave;
using namespace mlir;

namespace {
struct CompileFlags {
  std::string model, out, emit = "out", cpu = "native";
  std::vector<std::string> bindings, shapes;
};
} // namespace

using Module = FailureOr<OwningOpRef<ModuleOp>>;

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

static EmitKind getEmitKind(StringRef emit) {
  if (emit == "llvm")
    return EmitKind::Llvm;
  return emit == "obj" ? EmitKind::Object : EmitKind::Out;
}

static Module loadModel(MLIRContext &context, const CompileFlags &flags,
                        const ImportOptions &options) {
  if (!StringRef(flags.model).ends_with(".mlir"))
    return importModel(context, flags.model, options);
  auto module = parseSourceFile<ModuleOp>(flags.model, &context);
  if (!module)
    return failure();
  return module;
}

static int compile(const CompileFlags &flags, const ImportOptions &imports) {
  DialectRegistry registry;
  registry.insert<CleaveDialect, func::FuncDialect>();
  registerCodegenDialects(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  ErrorPrinter errors(&context);
  Progress progress;

  EmitOptions options;
  options.output = flags.out;
  options.kind = getEmitKind(flags.emit);
  options.model = llvm::sys::path::stem(flags.model).str();
  options.plan = "{}\n";
  options.cpu = flags.cpu;
  options.resources = findResources();
  options.progress = [&](StringRef text) { progress.step(text); };
  if (failed(verifyOutput(&context, options)))
    return ExitUsage;

  progress.step("importing");
  Module module = loadModel(context, flags, imports);
  if (failed(module))
    return ExitModel;
  return succeeded(emitProgram(**module, options)) ? ExitDone : ExitPlan;
}

void cleave::addCompile(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App *command =
      app.add_subcommand("compile", "Compiles a model for a number of ranks.");
  command->add_option("model", flags->model, "MODEL.onnx, .onnxtxt or .mlir")
      ->required();
  command->add_option("-o", flags->out, "the folder to write")->required();
  command->add_option("--emit", flags->emit, "out, mlir, llvm or obj")
      ->check(CLI::IsMember({"out", "mlir", "llvm", "obj"}));
  command->add_option("--target-cpu", flags->cpu, "a CPU that LLVM knows");
  command->callback(
      [flags, &verb] { verb = [flags] { return compile(*flags, {}); }; });
}
