//===- Files.cpp - models that are read, files that are written -----------===//

#include "tools/cleave/Files.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace cleave;
using namespace mlir;

namespace fs = llvm::sys::fs;

FailureOr<OwningOpRef<ModuleOp>>
cleave::loadModule(MLIRContext &context, StringRef path,
                   const ImportOptions &options) {
  if (!path.ends_with(".mlir"))
    return importModel(context, path, options);
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

static llvm::Error replace(StringRef path, StringRef bytes) {
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

LogicalResult cleave::writeWhole(MLIRContext *context, StringRef path,
                                 StringRef bytes) {
  if (llvm::Error error = replace(path, bytes))
    return emitError(UnknownLoc::get(context))
           << "cannot write '" << path
           << "': " << llvm::toString(std::move(error));
  return success();
}
