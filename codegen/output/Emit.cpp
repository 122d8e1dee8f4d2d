//===- Emit.cpp - forms of a program: LLVM IR, objects, identity ----------===//
//
// What `--emit llvm` and `--emit obj` write, and what OUT is made from.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/Emit.h"

#include "codegen/cpu/CpuTarget.h"
#include "codegen/cuda/CudaTarget.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace cleave;
using namespace mlir;

std::unique_ptr<ProgramTarget> cleave::makeTarget(const EmitOptions &options) {
  if (options.target == "cuda")
    return std::make_unique<CudaTarget>(
        CudaOptions{options.archs, options.cudaPath});
  return std::make_unique<CpuTarget>();
}

std::string cleave::identify(const ProgramCode &code,
                             const EmitOptions &options, StringRef build) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ModuleOp module = code.module.get();
  module->print(stream, OpPrintingFlags().printGenericOpForm());
  stream << "\n" << options.cpu << "\n" << options.plan << "\n" << build;
  return getDigest(text);
}

FailureOr<TemporaryFile> cleave::writeTemporary(const OutFolder &folder,
                                                ArrayRef<char> bytes) {
  llvm::SmallString<128> path;
  int descriptor;
  std::error_code error =
      llvm::sys::fs::createTemporaryFile("cleave", "o", descriptor, path);
  if (!error) {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream.write(bytes.data(), bytes.size());
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return folder.emitError() << "cannot write an object file '" << path
                              << "': " << error.message();
  return TemporaryFile{path.str().str(),
                       std::make_unique<llvm::FileRemover>(path)};
}

static InFlightDiagnostic emitPlain(const RankModule &ranks) {
  func::FuncOp function = ranks.programs.front().function;
  return mlir::emitError(UnknownLoc::get(function.getContext()));
}

/// Builds a program with its symbol.
static FailureOr<ProgramCode> buildWhole(const RankModule &ranks,
                                         const Program &program,
                                         const EmitOptions &options) {
  std::unique_ptr<ProgramTarget> target = makeTarget(options);
  FailureOr<ProgramCode> code = buildProgram(ranks, program, *target);
  if (failed(code))
    return failure();
  addProgramSymbol(*code, program.name, identify(*code, options, ""));
  return code;
}

/// "-" is standard output.
static EmitResult writeFile(const RankModule &ranks, StringRef path,
                            StringRef bytes) {
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_None);
  if (!error) {
    file.os() << bytes;
    file.os().flush();
    error = file.os().error();
    file.os().clear_error();
  }
  if (error) {
    emitPlain(ranks) << "cannot write '" << path << "': " << error.message();
    return EmitResult::NotWritten;
  }
  file.keep();
  return EmitResult::Done;
}

EmitResult cleave::emitLlvm(const RankModule &ranks,
                            const EmitOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Program &program : ranks.programs) {
    FailureOr<ProgramCode> code = buildWhole(ranks, program, options);
    if (failed(code))
      return EmitResult::Invalid;
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> llvmModule =
        translateModuleToLLVMIR(*code->module, context, program.name);
    if (!llvmModule)
      return EmitResult::Invalid;
    llvmModule->print(stream, nullptr);
  }
  return writeFile(ranks, options.output, text);
}

EmitResult cleave::emitObjects(const RankModule &ranks,
                               const EmitOptions &options) {
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.output)) {
    emitPlain(ranks) << "cannot create '" << options.output
                     << "': " << error.message();
    return EmitResult::NotWritten;
  }
  for (const Program &program : ranks.programs) {
    FailureOr<ProgramCode> code = buildWhole(ranks, program, options);
    SmallVector<char, 0> object;
    if (failed(code) || failed(emitObject(*code->module, options.cpu, object)))
      return EmitResult::Invalid;
    EmitResult written =
        writeFile(ranks, options.output + "/" + program.name + ".o",
                  StringRef(object.data(), object.size()));
    if (written != EmitResult::Done)
      return written;
  }
  return EmitResult::Done;
}

EmitResult cleave::emitPtx(const RankModule &ranks,
                           const EmitOptions &options) {
  std::string text;
  for (const Program &program : ranks.programs) {
    CudaTarget target({options.archs, options.cudaPath, /*ptxOnly=*/true});
    FailureOr<ProgramCode> code = buildProgram(ranks, program, target);
    if (failed(code))
      return EmitResult::Invalid;
    text += target.getPtx();
  }
  return writeFile(ranks, options.output, text);
}
