//===- Files.h - models that are read, files that are written -------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_FILES_H
#define CLEAVE_TOOLS_CLEAVE_FILES_H

#include "frontend/Import.h"
#include "llvm/Support/Error.h"

namespace cleave {

/// Imports a model; a .mlir file is a module as it is.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadModule(mlir::MLIRContext &context, llvm::StringRef path,
           const ImportOptions &options);

/// Replaces the file at `path` by `bytes` once all are written beside it; "-"
/// is standard output. The error says why not.
[[nodiscard]] llvm::Error writeWhole(llvm::StringRef path,
                                     llvm::StringRef bytes);
/// The same for a verb: prints the error, and gives the exit code.
[[nodiscard]] int writeOutput(llvm::StringRef path, llvm::StringRef bytes);

/// Whether a file can be made at `path`, if it is not there: the error of a
/// verb, before long work, is printed.
[[nodiscard]] bool verifyFilePlace(llvm::StringRef path);

} // namespace cleave

#endif
