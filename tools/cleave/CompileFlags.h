//===- CompileFlags.h - the command line of cleave compile ----------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_COMPILEFLAGS_H
#define CLEAVE_TOOLS_CLEAVE_COMPILEFLAGS_H

#include "frontend/Import.h"
#include "tools/cleave/Lower.h"

#include <CLI/CLI.hpp>

namespace cleave {

/// The flags of every verb that reads a model, as given.
struct ModelFlags {
  std::vector<std::string> bindings, shapes, values;
};

struct CompileFlags {
  std::string model, out;
  std::string emit = "out"; ///< out, plan, mlir, llvm, obj or ptx
  std::string target;       ///< cpu or cuda; empty: what the cluster says
  std::string archs;        ///< "sm_80,sm_90"; empty: what the cluster says
  std::string cudaPath;
  std::string cpu = "native";
  std::string dumpFolder;
  bool printPlan = false;
  PipelineOptions pipeline;
  ImportOptions imports;
  /// As given; parseModelFlags fills the options above.
  ModelFlags modelFlags;
  std::vector<std::string> shards, stages, decays, freeze, only, kept;
  std::vector<double> betas; ///< none, or two
  std::vector<std::string> bucketTexts;
  /// `imports` with the sizes of each bucket; one where none was asked for.
  std::vector<ImportOptions> buckets;
};

/// Adds the verb `compile` and its flags.
CLI::App *addCompileFlags(CLI::App &app, CompileFlags &flags);
/// Adds what every verb that plans needs: the model, its sizes, the plan.
void addPlanningFlags(CLI::App &command, CompileFlags &flags,
                      const char *output);

/// Throws CLI::ValidationError where a plan, which is JSON, would get another
/// name: `cleave inspect` goes by names. "-" and what is no regular file are
/// fine. `expected` says what else the verb writes.
void verifyPlanName(const std::string &path, const std::string &expected);

/// Parses the repeated flags. Throws CLI::ValidationError.
void parseModelFlags(CompileFlags &flags);

/// Adds `--bind`, `--shapes` and `--value`.
void addModelFlags(CLI::App &command, ModelFlags &flags);
ImportOptions parseImports(const ModelFlags &flags);

} // namespace cleave

#endif
