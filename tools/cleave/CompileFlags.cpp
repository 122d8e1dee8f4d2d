//===- CompileFlags.cpp - the command line of cleave compile --------------===//

#include "tools/cleave/CompileFlags.h"

#include "codegen/cuda/DeviceCode.h"
#include "passes/plan/Options.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>

using namespace cleave;

void cleave::addModelFlags(CLI::App &command, ModelFlags &flags) {
  auto add = [&](const char *name, std::vector<std::string> &values,
                 const char *help) {
    command.add_option(name, values, help)->expected(1)->take_all();
  };
  add("--bind", flags.bindings, "DIM=SIZE of a symbolic dim");
  add("--shapes", flags.shapes, "INPUT:8x128, for dims without a usable name");
  add("--value", flags.values, "INPUT=1,2: an input that is a constant");
}

using ImportParser = mlir::LogicalResult (*)(llvm::StringRef, ImportOptions &,
                                             std::string &);

ImportOptions cleave::parseImports(const ModelFlags &flags) {
  ImportOptions options;
  auto parse = [&](const char *name, const std::vector<std::string> &values,
                   ImportParser parser) {
    std::string error;
    for (const std::string &text : values)
      if (failed(parser(text, options, error)))
        throw CLI::ValidationError(name, error);
  };
  parse("--bind", flags.bindings, parseBinding);
  parse("--shapes", flags.shapes, parseShape);
  parse("--value", flags.values, parseValue);
  return options;
}

static void addPlanFlags(CLI::App &command, CompileFlags &flags) {
  PlanPassOptions &plan = flags.pipeline.plan;
  auto verifySize = [](const std::string &text) -> std::string {
    int64_t value;
    if (llvm::StringRef(text).getAsInteger(10, value) || value < 1 ||
        value > plan::kMaxSize)
      return "expected a whole number from 1 to " +
             std::to_string(plan::kMaxSize) + ", found '" + text + "'";
    return "";
  };
  auto addSize = [&](const char *name, int64_t &size, const char *help) {
    command.add_option(name, size, help)
        ->check(CLI::Validator(verifySize, "N", name));
  };
  addSize("--ranks", plan.ranks,
          "ranks that will run (default: those of the cluster); sizes that are "
          "not given are chosen");
  command
      .add_option("--cluster", plan.cluster,
                  "FILE.yaml of the machines (default: ranks on this host)")
      ->check(CLI::ExistingFile);
  addSize("--dp", plan.dp, "ranks that share the batch");
  addSize("--tp", plan.tp, "ranks that share tensors");
  addSize("--pp", plan.pp, "pipeline stages");
  addSize("--microbatches", plan.microBatches,
          "parts of the batch that pass the stages one after the other");
  command
      .add_option("--schedule", plan.schedule,
                  "order of micro-batches in training: gpipe or 1f1b (default)")
      ->check(CLI::IsMember({"gpipe", "1f1b"}));
  command
      .add_option("--shard", flags.shards,
                  "GLOB=-,tp: per dim an axis, axes joined by +, or -")
      ->expected(1)
      ->take_all();
  command.add_option("--stage", flags.stages, "NODE-GLOB=K")
      ->expected(1)
      ->take_all();
  command.add_option("--plan", plan.planFile, "plan.json to replay")
      ->check(CLI::ExistingFile);
  CLI::Option *configuration =
      command.add_option("--configuration", flags.pipeline.plan.configuration,
                         "which of the model's own annotations to keep to");
  command
      .add_flag("--ignore-annotations", flags.imports.ignoresAnnotations,
                "plan as if the model had none of its own")
      ->excludes(configuration);
}

/// Accepts numbers from 0 to `most`.
static CLI::Validator isNumber(double most = HUGE_VAL) {
  auto verify = [=](const std::string &text) -> std::string {
    double number = 0;
    if (llvm::to_float(text, number) && std::isfinite(number) && number >= 0 &&
        number <= most)
      return "";
    std::string range = most == HUGE_VAL ? "0 or above" : "from 0 to 1";
    return "expected a number, " + range + ", found '" + text + "'";
  };
  return CLI::Validator(verify, "");
}

static void addLossFlags(CLI::App &command, CLI::Option *train,
                         CompileFlags &flags) {
  AddLossPassOptions &loss = flags.pipeline.loss;
  auto *output =
      command
          .add_option("--loss-output", flags.pipeline.differentiate.loss,
                      "the output to minimise, where the model ends in a loss")
          ->needs(train);
  auto *kind =
      command
          .add_option("--loss", loss.kind,
                      "cross_entropy, mse or bce (of probabilities): a loss "
                      "for a model without one; its labels are a new input")
          ->needs(train)
          ->excludes(output)
          ->check(CLI::IsMember({"cross_entropy", "mse", "bce"}));
  command
      .add_option("--logits", loss.logits,
                  "the output that the loss is of, where there are several")
      ->needs(kind);
  command
      .add_option("--labels", loss.labels,
                  "name of the input (default: labels)")
      ->needs(kind);
  command
      .add_option("--ignore-index", loss.ignoreIndex,
                  "label without a loss (default: -100)")
      ->needs(kind);
  command
      .add_option("--label-smoothing", loss.smoothing,
                  "what a label gives to all classes")
      ->needs(kind)
      ->check(isNumber(1));
}

static void addTrainFlags(CLI::App &command, CompileFlags &flags) {
  AddOptimizerPassOptions &optimizer = flags.pipeline.optimizer;
  CLI::Option *train =
      command.add_flag("--train", flags.pipeline.train, "a step that trains");
  addLossFlags(command, train, flags);
  command
      .add_option("--optimizer", optimizer.optimizer,
                  "sgd (default), adagrad, adam, adamw, lamb; or none: the "
                  "gradient of a parameter NAME is an output NAME.grad")
      ->needs(train)
      ->check(
          CLI::IsMember({"sgd", "adagrad", "adam", "adamw", "lamb", "none"}));
  auto addNumber = [&](const char *name, double &value, const char *help,
                       double most = HUGE_VAL) {
    command.add_option(name, value, help)->needs(train)->check(isNumber(most));
  };
  addNumber("--lr", optimizer.rate, "learning rate");
  addNumber("--momentum", optimizer.momentum, "momentum of sgd", 1);
  command
      .add_flag("--nesterov", optimizer.nesterov, "momentum as Nesterov has it")
      ->needs(train);
  command
      .add_option("--betas", flags.betas,
                  "B1,B2 of adam, adamw, lamb (default: 0.9,0.999)")
      ->needs(train)
      ->delimiter(',')
      ->expected(2)
      ->check(isNumber(1));
  addNumber("--eps", optimizer.epsilon, "of adagrad, adam, adamw, lamb");
  addNumber("--weight-decay", optimizer.decay, "weight decay");
  addNumber("--clip", optimizer.clip, "largest norm of all gradients together");
  auto addPatterns = [&](const char *name, std::vector<std::string> &values,
                         const char *help) {
    command.add_option(name, values, help)
        ->needs(train)
        ->expected(1)
        ->take_all();
  };
  addPatterns("--decay", flags.decays,
              "PATTERN=NUMBER: weight decay of parameters by name");
  addPatterns("--freeze", flags.freeze,
              "PATTERN of parameters to leave as they are");
  addPatterns("--only", flags.only, "PATTERN of the only parameters to train");
}

static std::string verifyArchs(const std::string &text) {
  for (llvm::StringRef arch : llvm::split(text, ','))
    if (!parseArch(arch))
      return "expected architectures from sm_80 on, such as sm_80,sm_90; found "
             "'" +
             arch.str() + "'";
  return "";
}

void cleave::addPlanningFlags(CLI::App &command, CompileFlags &flags,
                              const char *output) {
  command.add_option("model", flags.model, "MODEL.onnx, .onnxtxt or .mlir")
      ->required();
  command.add_option("-o", flags.out, output)
      ->required()
      ->check([](const std::string &path) -> std::string {
        return path.empty() ? "expected a path, found none" : "";
      });
  addModelFlags(command, flags.modelFlags);
  addPlanFlags(command, flags);
  addTrainFlags(command, flags);
}

void cleave::verifyPlanName(const std::string &path,
                            const std::string &expected) {
  namespace fs = llvm::sys::fs;
  bool isSpecial =
      path == "-" || (fs::exists(path) && !fs::is_regular_file(path) &&
                      !fs::is_directory(path));
  if (!isSpecial && !llvm::StringRef(path).ends_with(".json"))
    throw CLI::ValidationError("-o", "expected " + expected + ", found '" +
                                         path + "'");
}

CLI::App *cleave::addCompileFlags(CLI::App &app, CompileFlags &flags) {
  CLI::App *command =
      app.add_subcommand("compile", "Compiles a model for a number of ranks.");
  addPlanningFlags(*command, flags, "the folder to write");
  command->add_flag("--print-plan", flags.printPlan,
                    "print the plans that were considered, and why this one");
  command
      ->add_option("--keep", flags.kept,
                   "GLOB of values inside the model, by name, that become "
                   "outputs")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--target", flags.target,
                   "cpu or cuda (default: what the cluster's devices are)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command
      ->add_option("--arch", flags.archs,
                   "sm_80,sm_90: CUDA architectures to make binaries for "
                   "(default: the cluster's, else sm_80,sm_90,sm_100)")
      ->check(verifyArchs);
  command->add_option("--cuda-path", flags.cudaPath,
                      "the folder of a CUDA toolkit (default: that of the "
                      "ptxas on PATH, or a usual place)");
  command->add_option("--target-cpu", flags.cpu,
                      "a CPU that LLVM knows (default: this machine's)");
  command->add_option("--dump-passes", flags.dumpFolder,
                      "folder for the IR after each pass");
  command
      ->add_option("--emit", flags.emit,
                   "out, or a file: plan, mlir, llvm, ptx; or a folder: obj")
      ->check(CLI::IsMember({"out", "plan", "mlir", "llvm", "obj", "ptx"}));
  command
      ->add_option(
          "--bucket", flags.bucketTexts,
          "DIM=SIZE,... or INPUT:8x128,...: sizes of inputs to compile "
          "for, besides --bind and --shapes; repeatable, all in one "
          "OUT with one copy of the weights")
      ->expected(1)
      ->take_all()
      ->excludes("--train");
  command->add_flag("--no-verify{false}", flags.pipeline.verify,
                    "leave out the checks between phases");
  return command;
}

/// Adds the sizes of one `--bucket`.
static void addBucketSizes(llvm::StringRef text, ImportOptions &options) {
  for (llvm::StringRef size : llvm::split(text, ',')) {
    std::string error;
    auto parse = size.contains('=') ? parseBinding : parseShape;
    if (failed(parse(size, options, error)))
      throw CLI::ValidationError("--bucket", error);
  }
}

static void parseBuckets(CompileFlags &flags) {
  for (const std::string &text : flags.bucketTexts) {
    flags.buckets.push_back(flags.imports);
    addBucketSizes(text, flags.buckets.back());
  }
  if (flags.buckets.empty())
    flags.buckets.push_back(flags.imports);
  bool isOne = flags.emit != "out" && flags.emit != "plan";
  if (flags.buckets.size() > 1 && isOne)
    throw CLI::ValidationError("--bucket", "--emit " + flags.emit +
                                               " is of one bucket only");
}

void cleave::parseModelFlags(CompileFlags &flags) {
  bool ignoresAnnotations = flags.imports.ignoresAnnotations;
  flags.imports = parseImports(flags.modelFlags);
  flags.imports.train = flags.pipeline.train;
  flags.imports.kept = flags.kept;
  flags.imports.configuration = flags.pipeline.plan.configuration;
  flags.imports.ignoresAnnotations = ignoresAnnotations;
  flags.pipeline.plan.shards = llvm::join(flags.shards, ";");
  flags.pipeline.plan.stages = llvm::join(flags.stages, ";");
  flags.pipeline.optimizer.decays = llvm::join(flags.decays, ";");
  if (flags.betas.size() == 2) {
    flags.pipeline.optimizer.beta1 = flags.betas[0];
    flags.pipeline.optimizer.beta2 = flags.betas[1];
  }
  flags.pipeline.freeze.freeze = llvm::join(flags.freeze, ";");
  flags.pipeline.freeze.only = llvm::join(flags.only, ";");
  parseBuckets(flags);
}
