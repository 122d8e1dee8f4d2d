//===- Files.h - models that are read, files that are written -------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_FILES_H
#define CLEAVE_TOOLS_CLEAVE_FILES_H

#include "frontend/Import.h"

namespace cleave {

/// Imports a model; a .mlir file is a module as it is.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
loadModule(mlir::MLIRContext &context, llvm::StringRef path,
           const ImportOptions &options);

/// Replaces the file at `path` by `bytes` once all are written beside it.
[[nodiscard]] mlir::LogicalResult writeWhole(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             llvm::StringRef bytes);

} // namespace cleave

#endif
