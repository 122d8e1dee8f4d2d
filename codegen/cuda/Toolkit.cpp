//===- Toolkit.cpp - the assembler of the CUDA toolkit --------------------===//
//
// There is no library of it everywhere, so that the program is run, on
// temporary files.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Toolkit.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <optional>

using namespace cleave;
using namespace mlir;

FailureOr<std::string> cleave::findPtxas(MLIRContext *context,
                                         StringRef cudaPath) {
  auto inFolder = [](StringRef folder) -> std::optional<std::string> {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
    return std::nullopt;
  };
  if (!cudaPath.empty()) {
    if (auto found = inFolder(cudaPath))
      return *found;
    return emitError(UnknownLoc::get(context))
           << "there is no 'bin/ptxas' in '" << cudaPath
           << "'; expected the folder of a CUDA toolkit";
  }
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable))
      if (auto found = inFolder(folder))
        return *found;
  for (StringRef folder : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"})
    if (auto found = inFolder(folder))
      return *found;
  return emitError(UnknownLoc::get(context))
         << "programs for CUDA need the 'ptxas' of a CUDA toolkit, which is "
            "not "
            "on PATH, in CUDA_HOME or in /usr/local/cuda: --cuda-path DIR "
            "names "
            "one, --emit ptx needs none";
}

/// Parses lines such as "Compiling entry function 'row_1' for 'sm_90'", "0
/// bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" and "Used 32
/// registers, used 1 barriers, 4096 bytes smem".
static std::vector<KernelFigures> parseFigures(StringRef text) {
  std::vector<KernelFigures> kernels;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  auto numberBefore = [](StringRef line, StringRef what) -> int64_t {
    size_t at = line.find(what);
    if (at == StringRef::npos)
      return 0;
    StringRef before = line.take_front(at).rtrim();
    StringRef digits = before.take_back(
        before.size() - (before.find_last_not_of("0123456789") + 1));
    int64_t number = 0;
    digits.getAsInteger(10, number);
    return number;
  };
  for (StringRef line : lines) {
    if (size_t at = line.find("Compiling entry function '");
        at != StringRef::npos) {
      kernels.emplace_back().name =
          line.drop_front(at).split('\'').second.split('\'').first.str();
    } else if (!kernels.empty()) {
      KernelFigures &kernel = kernels.back();
      kernel.stackBytes += numberBefore(line, "bytes stack frame");
      kernel.spillBytes += numberBefore(line, "bytes spill stores") +
                           numberBefore(line, "bytes spill loads");
      kernel.registers += numberBefore(line, "registers");
      kernel.sharedBytes += numberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

FailureOr<Cubin> cleave::assemblePtx(MLIRContext *context, StringRef ptxas,
                                     StringRef ptx, StringRef arch) {
  Location loc = UnknownLoc::get(context);
  llvm::SmallString<128> input, output, messages;
  for (auto [path, suffix] :
       {std::pair(&input, "ptx"), {&output, "cubin"}, {&messages, "txt"}})
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("cleave", suffix, *path))
      return emitError(loc)
             << "cannot write a temporary file: " << error.message();
  llvm::FileRemover removers[] = {llvm::FileRemover(input),
                                  llvm::FileRemover(output),
                                  llvm::FileRemover(messages)};
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    stream << ptx;
    stream.close();
    if (error || (error = stream.error()))
      return emitError(loc)
             << "cannot write '" << input << "': " << error.message();
  }
  std::string target = "-arch=" + arch.str();
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages),
                                          StringRef(messages)};
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(
      ptxas, {ptxas, target, "-v", "-O3", input, "-o", output}, std::nullopt,
      redirects, 0, 0, &failure);
  std::string text = readFile(messages);
  if (status != 0)
    return emitError(loc) << "'" << ptxas << "' failed for " << arch << ": "
                          << (failure.empty() ? StringRef(text).trim()
                                              : StringRef(failure));
  return Cubin{readFile(output), parseFigures(text)};
}
