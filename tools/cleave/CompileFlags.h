//===- CompileFlags.h - the command line of cleave compile ----------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_COMPILEFLAGS_H
#define CLEAVE_TOOLS_CLEAVE_COMPILEFLAGS_H

#include "frontend/Import.h"
#include "tools/cleave/Lower.h"

#include <CLI/CLI.hpp>

namespace cleave {

struct CompileFlags {
  std::string model, out;
  std::string emit = "out"; ///< out, plan, mlir, llvm or obj
  std::string cpu = "native";
  std::string dumpFolder;
  bool printPlan = false;
  PipelineOptions pipeline;
  ImportOptions imports;
  /// As given; parseModelFlags fills the options above.
  std::vector<std::string> bindings, shapes, shards, stages;
};

/// Adds the verb and its flags.
CLI::App *addCompileFlags(CLI::App &app, CompileFlags &flags);

/// Parses the repeated flags. Throws CLI::ValidationError.
void parseModelFlags(CompileFlags &flags);

/// `--bind` and `--shapes`, which every verb that reads a model has.
void addModelFlags(CLI::App &command, std::vector<std::string> &bindings,
                   std::vector<std::string> &shapes);
ImportOptions parseImports(const std::vector<std::string> &bindings,
                           const std::vector<std::string> &shapes);

} // namespace cleave

#endif
