//===- Dtypes.h - element types of compiled programs ----------------------===//

#ifndef CLEAVE_CODEGEN_DTYPES_H
#define CLEAVE_CODEGEN_DTYPES_H

#include "mlir/IR/Operation.h"
#include "runtime/Abi.h"

namespace cleave {

/// Number of an element type in runtime/Abi.h, or an error at `user`.
mlir::FailureOr<CleaveDtype> getDtype(mlir::Operation *user,
                                      mlir::Type element);

/// As in manifest.json: "f32".
llvm::StringRef getManifestName(CleaveDtype dtype);

/// As in .safetensors files: "F32".
llvm::StringRef getSafetensorsName(CleaveDtype dtype);

} // namespace cleave

#endif
