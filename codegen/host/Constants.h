//===- Constants.h - constants of a program as bytes ----------------------===//

#ifndef CLEAVE_CODEGEN_HOST_CONSTANTS_H
#define CLEAVE_CODEGEN_HOST_CONSTANTS_H

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave {

/// Elements of a constant, dense and row-major, little-endian, bool as a byte.
/// A splat is written out.
mlir::FailureOr<std::string> getElementBytes(mlir::Operation *user,
                                             mlir::ElementsAttr value);

/// Bytes that lie at the base of a buffer of space constant: those of the
/// constant of the stage that has the buffer's index.
mlir::FailureOr<std::string> getConstantBytes(mlir::func::FuncOp stage,
                                              BufferAttr buffer);

} // namespace cleave

#endif
