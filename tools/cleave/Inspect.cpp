//===- Inspect.cpp - cleave inspect: facts about files --------------------===//
//
// The kind of file decides: a folder is an OUT, .json a plan, .safetensors
// tensors, all else a model.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/Inspect.h"

#include "tools/cleave/CompileFlags.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"
#include "llvm/Support/FileSystem.h"

using namespace cleave;

static int inspect(const InspectFlags &flags, const ImportOptions &options) {
  llvm::StringRef path = flags.path;
  if (llvm::sys::fs::is_directory(path))
    return inspectOut(flags);
  if (flags.check) {
    printError("--check: '" + flags.path + "' is no folder made by cleave");
    return ExitUsage;
  }
  if (path.ends_with(".json"))
    return inspectPlan(flags);
  if (path.ends_with(".safetensors"))
    return inspectTensors(flags);
  return inspectModel(flags, options);
}

void cleave::addInspect(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App *command = app.add_subcommand(
      "inspect", "Says what is in a model, plan, weights file or OUT.");
  command
      ->add_option("path", flags->path,
                   "OUT, MODEL.onnx, plan.json or FILE.safetensors")
      ->required()
      ->check(CLI::ExistingPath);
  command->add_flag("--json", flags->json, "print JSON");
  command->add_flag("--check", flags->check,
                    "compare the files of OUT with their checksums");
  addModelFlags(*command, flags->modelFlags);
  command->callback([flags, &verb] {
    ImportOptions options = parseImports(flags->modelFlags);
    verb = [flags, options] { return inspect(*flags, options); };
  });
}
