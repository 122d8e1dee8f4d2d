//===- Buffers.h - where the values of a rank program live ----------------===//

#ifndef CLEAVE_CODEGEN_BUFFERS_H
#define CLEAVE_CODEGEN_BUFFERS_H

#include "ir/Cleave.h"
#include "ir/StridedView.h"

namespace cleave {

/// Buffer of a value: from `cleave.buffers` of its op, or `cleave.buffer` of
/// the function argument. Fails with a located error where there is none.
mlir::FailureOr<BufferAttr> getBuffer(mlir::Value value);

/// Buffers of all values.
mlir::FailureOr<llvm::SmallVector<BufferAttr>>
getBuffers(mlir::ValueRange values);

/// Buffer of a value that `user` needs dense.
mlir::FailureOr<BufferAttr> getDenseBuffer(mlir::Operation *user,
                                           mlir::Value value);

} // namespace cleave

#endif
