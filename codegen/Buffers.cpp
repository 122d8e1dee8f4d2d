//===- Buffers.cpp - read where the values of a rank program live ---------===//
//
// The memory phase wrote it down; here it is only read and checked.
//
//===----------------------------------------------------------------------===//

#include "codegen/Buffers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace cleave;
using namespace mlir;

static BufferAttr findBuffer(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto buffers =
        result.getOwner()->getAttrOfType<ArrayAttr>("cleave.buffers");
    unsigned number = result.getResultNumber();
    if (!buffers || number >= buffers.size())
      return {};
    return dyn_cast<BufferAttr>(buffers[number]);
  }
  auto argument = cast<BlockArgument>(value);
  // A carried value of a chunk lies where the result of the same number does.
  if (auto chunk = dyn_cast<ChunkOp>(argument.getOwner()->getParentOp()))
    return findBuffer(chunk.getResult(argument.getArgNumber()));
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function)
    return {};
  return function.getArgAttrOfType<BufferAttr>(argument.getArgNumber(),
                                               "cleave.buffer");
}

FailureOr<BufferAttr> cleave::getBuffer(Value value) {
  BufferAttr buffer = findBuffer(value);
  if (!buffer)
    return emitError(value.getLoc())
           << "this value has no buffer; expected one from the memory phase";
  auto rank =
      static_cast<size_t>(cast<RankedTensorType>(value.getType()).getRank());
  if (buffer.getStrides().size() != rank)
    return emitError(value.getLoc())
           << "buffer has " << buffer.getStrides().size()
           << " strides; expected one per dim of " << value.getType();
  return buffer;
}

FailureOr<SmallVector<BufferAttr>> cleave::getBuffers(ValueRange values) {
  SmallVector<BufferAttr> buffers;
  for (Value value : values) {
    FailureOr<BufferAttr> buffer = getBuffer(value);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

FailureOr<BufferAttr> cleave::getDenseBuffer(Operation *user, Value value) {
  FailureOr<BufferAttr> buffer = getBuffer(value);
  if (failed(buffer))
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  if (isDense(shape, buffer->getStrides()))
    return buffer;
  InFlightDiagnostic diag = user->emitOpError()
                            << "needs a dense buffer, found " << *buffer;
  diag.attachNote(value.getLoc()) << "for this value of " << value.getType();
  return diag;
}
