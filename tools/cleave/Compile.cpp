//===- Compile.cpp - cleave compile: from a model to OUT ------------------===//
//
// Imports the model, runs the passes, emits. A .mlir model is a logical module,
// or a rank program as `--emit mlir` writes it, which is only emitted.
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"
#include "codegen/cuda/DeviceCode.h"
#include "ir/Cleave.h"
#include "passes/cost/Cluster.h"
#include "passes/plan/Planner.h"
#include "tools/cleave/CompileFlags.h"
#include "tools/cleave/Files.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <set>

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

/// Target and architectures that the flags leave open are those of the cluster,
/// whose devices must be of one kind then.
static LogicalResult chooseTarget(MLIRContext &context, CompileFlags &flags) {
  std::set<std::string> targets, archs;
  const std::string &path = flags.pipeline.plan.cluster;
  if (!path.empty()) {
    FailureOr<Cluster> cluster = readCluster(&context, path);
    if (failed(cluster))
      return failure();
    for (const Device &device : cluster->devices) {
      targets.insert(device.target);
      if (device.target == "cuda" && !device.arch.empty())
        archs.insert(device.arch);
    }
  }
  auto refuse = [&](const Twine &why) {
    return emitError(FileLineColLoc::get(&context, path, 0, 0)) << why;
  };
  if (flags.target.empty()) {
    if (targets.size() > 1 && flags.emit != "plan")
      return refuse("has devices of several targets, but the programs of a "
                    "model are for one: --target says which");
    flags.target = targets.empty() ? "cpu" : *targets.begin();
  }
  if (flags.archs.empty())
    flags.archs = archs.empty() ? "sm_80,sm_90,sm_100" : llvm::join(archs, ",");
  for (StringRef arch : llvm::split(flags.archs, ','))
    if (flags.target == "cuda" && !parseArch(arch))
      return refuse("has the architecture '" + arch +
                    "', which is none of CUDA from sm_80 on");
  flags.pipeline.target = flags.target;
  if (flags.emit == "ptx" && flags.target != "cuda")
    return emitError(UnknownLoc::get(&context))
           << "--emit ptx needs --target cuda";
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

namespace {
/// The model for one set of sizes of its inputs.
struct Bucket {
  std::string name; ///< as the user wrote it; empty: the only one
  OwningOpRef<ModuleOp> module;
};

/// Says of every error in which bucket it is.
class BucketNotes {
public:
  BucketNotes(MLIRContext &context, const std::string &name)
      : handler(&context, [&name](Diagnostic &diagnostic) {
          if (!name.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            diagnostic.attachNote() << "in the bucket '" << name << "'";
          return failure(); // others print it
        }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// What `--emit` says.
static int emit(ArrayRef<Bucket> buckets, const CompileFlags &flags,
                const EmitOptions &options) {
  if (flags.emit == "plan")
    return writeOutput(flags.out, options.plan);
  SmallVector<ModuleOp> modules;
  for (const Bucket &bucket : buckets)
    modules.push_back(*bucket.module);
  if (flags.emit != "mlir")
    return getExitCode(emitProgram(modules, options));
  std::string text;
  llvm::raw_string_ostream stream(text);
  modules.front()->print(stream,
                         OpPrintingFlags().useLocalScope().enableDebugInfo());
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
                 : flags.emit == "ptx" ? EmitKind::Ptx
                                       : EmitKind::Llvm;
  options.model = llvm::sys::path::stem(flags.model).str();
  options.cpu = flags.cpu;
  options.target = flags.target;
  for (llvm::StringRef arch : llvm::split(flags.archs, ','))
    options.archs.push_back(arch.str());
  options.cudaPath = flags.cudaPath;
  options.resources = findResources();
  options.progress = [&progress](StringRef text) { progress.step(text); };
  return options;
}

/// Bytes of all inputs.
static int64_t countInputBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (auto input : module->getAttrOfType<ArrayAttr>("cleave.inputs")
                        .getAsRange<DictionaryAttr>())
    bytes += getByteSize(
        cast<RankedTensorType>(input.getAs<TypeAttr>("type").getValue()));
  return bytes;
}

/// Dim 0 of the first input that has dims; 0 where there is none.
static int64_t getBatch(ModuleOp module) {
  for (auto input : module->getAttrOfType<ArrayAttr>("cleave.inputs")
                        .getAsRange<DictionaryAttr>()) {
    auto type =
        cast<RankedTensorType>(input.getAs<TypeAttr>("type").getValue());
    if (type.getRank())
      return type.getDimSize(0);
  }
  return 0;
}

/// Imports the model for every bucket; the one with most input comes first.
static LogicalResult loadBuckets(MLIRContext &context,
                                 const CompileFlags &flags,
                                 std::vector<Bucket> &buckets) {
  for (auto [i, imports] : llvm::enumerate(flags.buckets)) {
    std::string name = flags.bucketTexts.empty() ? "" : flags.bucketTexts[i];
    BucketNotes notes(context, name);
    FailureOr<OwningOpRef<ModuleOp>> module =
        loadModule(context, flags.model, imports);
    if (failed(module) ||
        (!isRankModule(**module) && failed(recordSignature(**module))))
      return failure();
    if (!name.empty() && StringRef(flags.model).ends_with(".mlir"))
      return (*module)->emitError("has its sizes already: --bucket is for "
                                  "models whose inputs have none");
    auto place = llvm::find_if(buckets, [&](const Bucket &other) {
      return countInputBytes(*other.module) < countInputBytes(**module);
    });
    buckets.insert(place, {std::move(name), std::move(*module)});
  }
  return success();
}

/// Lowers all buckets; those after the first keep to its plan, so that they
/// share its weights.
static LogicalResult lowerBuckets(MLIRContext &context, CompileFlags flags,
                                  ArrayRef<Bucket> buckets,
                                  const EmitOptions &options) {
  PlanPassOptions &plan = flags.pipeline.plan;
  if (buckets.size() > 1)
    plan.leastBatch = getBatch(
        *std::min_element(buckets.begin(), buckets.end(),
                          [](const Bucket &a, const Bucket &b) {
                            return getBatch(*a.module) < getBatch(*b.module);
                          })
             ->module);
  std::string dumpFolder = flags.dumpFolder;
  for (auto [i, bucket] : llvm::enumerate(buckets)) {
    BucketNotes notes(context, bucket.name);
    ModuleOp module = *bucket.module;
    if (i) {
      plan.planFile.clear();
      module->setAttr(BasePlanAttrName,
                      StringAttr::get(&context, getPlan(*buckets[0].module)));
      if (!dumpFolder.empty())
        flags.dumpFolder = dumpFolder + "/bucket-" + std::to_string(i);
    }
    if (failed(makeFolder(&context, flags.dumpFolder)) ||
        failed(lowerToRanks(module, {flags.pipeline, flags.dumpFolder,
                                     flags.printPlan, options.progress})))
      return failure();
  }
  return success();
}

static int compileModel(MLIRContext &context, CompileFlags flags) {
  Progress progress;
  if (failed(chooseTarget(context, flags)))
    return ExitPlan;
  EmitOptions options = getEmitOptions(flags, progress);
  if (failed(verifyOutput(&context, options)) ||
      failed(makeFolder(&context, flags.dumpFolder)))
    return ExitUsage;
  progress.step("importing");
  std::vector<Bucket> buckets;
  if (failed(loadBuckets(context, flags, buckets)))
    return ExitModel;
  ModuleOp first = *buckets.front().module;
  if (!isRankModule(first) &&
      failed(lowerBuckets(context, flags, buckets, options)))
    return ExitPlan;
  options.plan = getPlan(first);
  return emit(buckets, flags, options);
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
    if (flags->emit == "plan")
      verifyPlanName(flags->out, "a name in .json");
    verb = [flags] { return compile(*flags); };
  });
}
