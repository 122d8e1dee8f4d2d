//===- Files.cpp - models that are read, files that are written -----------===//

#include "tools/cleave/Files.h"

#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace cleave;
using namespace mlir;

namespace fs = llvm::sys::fs;

FailureOr<OwningOpRef<ModuleOp>>
cleave::loadModule(MLIRContext &context, StringRef path,
                   const ImportOptions &options) {
  if (!path.ends_with(".mlir"))
    return importModel(context, path, options);
  if (!options.bindings.empty() || !options.shapes.empty() ||
      !options.values.empty() || !options.kept.empty())
    return emitError(FileLineColLoc::get(&context, path, 0, 0))
           << "is no ONNX model: --bind, --shapes, --value and --keep are not "
              "for it";
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
  if (!module)
    return failure();
  return std::move(module);
}

static std::error_code writeTo(int file, StringRef bytes) {
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/false);
  stream << bytes;
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

/// Terminals, pipes and the like are written as they are.
static llvm::Error writeInPlace(StringRef path, StringRef bytes) {
  int file = -1;
  if (std::error_code error = fs::openFileForWrite(path, file))
    return llvm::errorCodeToError(error);
  std::error_code error = writeTo(file, bytes);
  std::error_code closed = llvm::sys::Process::SafelyCloseFileDescriptor(file);
  return llvm::errorCodeToError(error ? error : closed);
}

llvm::Error cleave::writeWhole(StringRef path, StringRef bytes) {
  if (path == "-")
    return llvm::errorCodeToError(writeTo(STDOUT_FILENO, bytes));
  fs::file_status status;
  bool isFound = !fs::status(path, status) && fs::exists(status);
  if (isFound && !fs::is_regular_file(status))
    return writeInPlace(path, bytes);
  auto file =
      fs::TempFile::create(path + ".%%%%%%.part", fs::all_read | fs::all_write);
  if (!file)
    return file.takeError();
  if (std::error_code error = writeTo(file->FD, bytes))
    return llvm::joinErrors(llvm::errorCodeToError(error), file->discard());
  return file->keep(path);
}

int cleave::writeOutput(StringRef path, StringRef bytes) {
  llvm::Error error = writeWhole(path, bytes);
  if (!error)
    return ExitDone;
  std::error_code code = llvm::errorToErrorCode(std::move(error));
  printError(("cannot write '" + path + "': " + code.message()).str());
  bool isFull = code == std::errc::no_space_on_device ||
                code == std::errc::file_too_large ||
                code == std::errc::io_error || code.value() == EDQUOT;
  return isFull ? ExitDevice : ExitUsage;
}

bool cleave::verifyFilePlace(StringRef path) {
  bool isThere = fs::exists(path);
  int file = -1;
  std::error_code error = fs::openFileForWrite(path, file, fs::CD_OpenAlways);
  if (error) {
    printError(("cannot write '" + path + "': " + error.message()).str());
    return false;
  }
  (void)llvm::sys::Process::SafelyCloseFileDescriptor(file);
  if (!isThere)
    (void)fs::remove(path);
  return true;
}
