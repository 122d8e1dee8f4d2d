//===- Codegen.cpp - from rank programs to the folder OUT -----------------===//
//
// Compiles one program per stage and bucket, then writes OUT from the inside
// out: programs, executables, libraries, weights, and the manifest as the last
// file.
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"

#include "codegen/RankModule.h"
#include "codegen/cpu/kernels/Kernels.h"
#include "codegen/cuda/CudaTarget.h"
#include "codegen/cuda/Toolkit.h"
#include "codegen/host/HostStep.h"
#include "codegen/output/Emit.h"
#include "codegen/output/Link.h"
#include "codegen/output/Manifest.h"
#include "codegen/output/Weights.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "runtime/Format.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;
using namespace mlir;

void cleave::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {
/// Writes the folder OUT.
class OutWriter {
public:
  OutWriter(ArrayRef<RankModule> buckets, const EmitOptions &options,
            OutFolder &folder)
      : buckets(buckets), options(options),
        folder(folder), resources{options.resources} {}
  LogicalResult write();

private:
  LogicalResult readBuild();
  LogicalResult writePrograms(const RankModule &ranks);
  FailureOr<ProgramFigures> writeProgram(const RankModule &ranks,
                                         const Program &program);
  LogicalResult writeExecutables();
  LogicalResult writeLibraries();
  void progress(const Twine &text) {
    if (options.progress)
      options.progress(text.str());
  }

  ArrayRef<RankModule> buckets;
  const EmitOptions &options;
  OutFolder &folder;
  Resources resources;
  ManifestInfo info;
};
} // namespace

/// The build's identity is that of the runtime that programs are linked to.
LogicalResult OutWriter::readBuild() {
  std::string file =
      resources.getPath(std::string(format::LibDir) + "/" + format::RuntimeLib);
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return folder.emitError()
           << "cannot read '" << file << "': " << buffer.getError().message();
  info.build = getDigest((*buffer)->getBuffer());
  info.plan = getDigest(options.plan);
  info.model = options.model;
  return success();
}

FailureOr<ProgramFigures> OutWriter::writeProgram(const RankModule &ranks,
                                                  const Program &program) {
  progress("compiling program " + program.name);
  std::unique_ptr<ProgramTarget> target = makeTarget(options);
  FailureOr<ProgramCode> code = buildProgram(ranks, program, *target);
  if (failed(code))
    return failure();
  std::string identity = identify(*code, options, info.build);
  addProgramSymbol(*code, program.name, identity);
  SmallVector<char, 0> object;
  if (failed(emitObject(*code->module, options.cpu, object)))
    return failure();
  std::string file =
      std::string(format::ProgramDir) + "/" + program.name + ".so";
  FailureOr<TemporaryFile> objectFile = writeTemporary(folder, object);
  if (failed(objectFile) ||
      failed(linkProgram(resources, folder, objectFile->path, file)))
    return failure();
  return ProgramFigures{file, identity, code->arenaBytes, target->getFigures()};
}

LogicalResult OutWriter::writePrograms(const RankModule &ranks) {
  BucketInfo bucket{ranks, {}};
  for (const Program &program : ranks.programs) {
    FailureOr<ProgramFigures> figures = writeProgram(ranks, program);
    if (failed(figures))
      return failure();
    bucket.programs.push_back(std::move(*figures));
  }
  info.buckets.push_back(std::move(bucket));
  return success();
}

/// Ranks of one program are one executable under several names.
LogicalResult OutWriter::writeExecutables() {
  const RankModule &ranks = buckets.front();
  ArrayRef<ProgramFigures> programs = info.buckets.front().programs;
  SmallVector<std::string> byProgram(ranks.programs.size());
  for (auto [rank, place] : llvm::enumerate(ranks.ranks)) {
    std::string name = format::RankPrefix + std::to_string(rank);
    std::string &first = byProgram[place.program];
    LogicalResult made =
        first.empty()
            ? linkRank(resources, folder, programs[place.program].file, name)
            : folder.copy(folder.getPath(first), name,
                          folder.getFiles().at(first).digest);
    if (failed(made))
      return failure();
    if (first.empty())
      first = name;
  }
  return success();
}

/// Copies what the build's list of digests names: launch, lib/ and include/.
LogicalResult OutWriter::writeLibraries() {
  std::string list = resources.getPath("digests");
  auto buffer = llvm::MemoryBuffer::getFile(list);
  if (!buffer)
    return folder.emitError()
           << "cannot read '" << list << "': " << buffer.getError().message();
  if (failed(folder.addFolder(format::LibDir)) ||
      failed(folder.addFolder(format::IncludeDir)))
    return failure();
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1,
                               /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    auto [digest, name] = line.split(' ');
    if (failed(folder.copy(resources.getPath(name), name, digest)))
      return failure();
  }
  return success();
}

LogicalResult OutWriter::write() {
  if (failed(readBuild()) || failed(folder.addFolder(format::ProgramDir)))
    return failure();
  for (const RankModule &ranks : buckets)
    if (failed(writePrograms(ranks)))
      return failure();
  progress("linking");
  if (failed(writeExecutables()) || failed(writeLibraries()) ||
      failed(folder.write(format::PlanFile, options.plan)))
    return failure();
  FailureOr<RankWeights> weights =
      writeWeights(buckets, folder, [&](StringRef text) { progress(text); });
  if (failed(weights))
    return failure();
  info.weights = *weights;
  FailureOr<Requirements> requirements = findRequirements(folder);
  if (failed(requirements))
    return failure();
  info.requirements = *requirements;
  if (options.target == "cuda")
    info.requirements.cudaArchs = options.archs;
  FailureOr<std::string> manifest = printManifest(info, folder.getFiles());
  if (failed(manifest) || failed(folder.write(format::ManifestFile, *manifest)))
    return failure();
  return folder.commit();
}

EmitResult cleave::emitProgram(ArrayRef<ModuleOp> modules,
                               const EmitOptions &options) {
  FailureOr<std::vector<RankModule>> buckets = readRankModules(modules);
  if (failed(buckets))
    return EmitResult::Invalid;
  const RankModule &first = buckets->front();
  if (options.kind == EmitKind::Llvm)
    return emitLlvm(first, options);
  if (options.kind == EmitKind::Object)
    return emitObjects(first, options);
  if (options.kind == EmitKind::Ptx)
    return emitPtx(first, options);
  FailureOr<std::unique_ptr<OutFolder>> folder =
      OutFolder::create(ModuleOp(modules.front()).getContext(), options.output);
  if (failed(folder))
    return EmitResult::NotWritten;
  if (succeeded(OutWriter(*buckets, options, **folder).write()))
    return EmitResult::Done;
  return (*folder)->hasFailed() ? EmitResult::NotWritten : EmitResult::Invalid;
}

LogicalResult cleave::verifyOutput(MLIRContext *context,
                                   const EmitOptions &options) {
  bool isLinked =
      options.kind == EmitKind::Out || options.kind == EmitKind::Object;
  if (options.target == "cuda" && isLinked &&
      failed(findPtxas(context, options.cudaPath)))
    return failure();
  if (options.kind == EmitKind::Out)
    return OutFolder::verify(context, options.output);
  return options.output == "-"
             ? success()
             : OutFolder::verifyPlace(context, options.output);
}
