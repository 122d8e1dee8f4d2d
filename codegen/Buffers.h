//===- Buffers.h - where the values of a rank program live ----------------===//

#ifndef CLEAVE_CODEGEN_BUFFERS_H
#define CLEAVE_CODEGEN_BUFFERS_H

#include "ir/Cleave.h"

namespace cleave {

/// Buffer of a value: from `cleave.buffers` of its op, or `cleave.buffer` of
/// the function argument. Fails with a located error where there is none.
mlir::FailureOr<BufferAttr> getBuffer(mlir::Value value);

/// Buffers of all values.
mlir::FailureOr<llvm::SmallVector<BufferAttr>>
getBuffers(mlir::ValueRange values);

/// Strides of a dense row-major tensor.
llvm::SmallVector<int64_t> getDenseStrides(llvm::ArrayRef<int64_t> shape);

/// Whether strides are those of a dense tensor; strides of dims of size 1 do
/// not count.
bool isDense(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// Buffer of a value that `user` needs dense.
mlir::FailureOr<BufferAttr> getDenseBuffer(mlir::Operation *user,
                                           mlir::Value value);

} // namespace cleave

#endif
