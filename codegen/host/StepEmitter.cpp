//===- StepEmitter.cpp - emit the ops of a stage function -----------------===//
//
// One runtime call per kernel, library operation and collective, in the order
// of the block. Views and loads cost nothing: a user of their value addresses
// the buffer. Stores and outputs that do not lie in place are copied at the
// end.
//
//===----------------------------------------------------------------------===//

#include "codegen/host/StepEmitter.h"

#include "codegen/Buffers.h"
#include "codegen/host/Collectives.h"
#include "codegen/host/Constants.h"
#include "codegen/kernels/Template.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

StepEmitter::StepEmitter(StepScope &scope, StringRef name, ChunkOp chunk)
    : scope(scope), stage(scope.program.function), chunk(chunk),
      step(scope.constants, name, /*isChunk=*/static_cast<bool>(chunk)) {}

void StepEmitter::trace(Operation *op, StringRef category) {
  step.call("cleaveTrace",
            {step.text(getNodeName(op->getLoc())), step.text(category)});
}

//===-- Addresses ---------------------------------------------------------===//

/// The coordinate along an axis of the stage's mesh.
BufferAttr StepEmitter::getCoords(int64_t position) {
  return BufferAttr::get(stage.getContext(), BufferSpace::Coords,
                         scope.program.axes[position], 0, {});
}

/// Address of a value's first element. Constants are found by their op, all
/// else by its buffer.
FailureOr<Value> StepEmitter::address(Value value) {
  FailureOr<BufferAttr> buffer = getBuffer(value);
  if (failed(buffer))
    return failure();
  if (buffer->getSpace() == BufferSpace::Coords)
    return step.address(getCoords(buffer->getIndex()));
  if (buffer->getSlots() > 1 && !chunk)
    return emitError(value.getLoc())
           << "a value of one micro-batch is used outside of its chunk";
  if (buffer->getSpace() != BufferSpace::Constant)
    return step.address(*buffer);
  FailureOr<std::string> bytes = getConstantBytes(stage, *buffer);
  if (failed(bytes))
    return failure();
  return step.offset(scope.target.addConstant(step, *bytes),
                     buffer->getOffset());
}

Value StepEmitter::getCoord(StringRef axis) {
  if (axis == MeshAttr::MicroBatchAxis)
    return step.microBatch();
  int64_t position = scope.program.mesh.getAxisPosition(axis);
  return step.coord(scope.program.axes[position]);
}

FailureOr<Value> StepEmitter::address(KernelOp kernel,
                                      const LibraryOperand &operand) {
  if (operand.operand < 0) {
    SplatElementsAttr splat = operand.constant;
    FailureOr<std::string> bytes = getElementBytes(
        kernel,
        splat.resizeSplat(RankedTensorType::get({}, operand.elementType)));
    if (failed(bytes))
      return failure();
    return scope.target.addConstant(step, *bytes);
  }
  FailureOr<Value> base = address(kernel.getInputs()[operand.operand]);
  if (failed(base))
    return failure();
  auto element = RankedTensorType::get({}, operand.elementType);
  return step.offset(*base, operand.view.offset * getByteSize(element));
}

//===-- Kernels -----------------------------------------------------------===//

LogicalResult StepEmitter::emitKernel(KernelOp kernel) {
  trace(kernel, stringifyKernelKind(kernel.getKind()));
  return isGenerated(kernel.getKind()) ? emitGenerated(kernel)
                                       : emitLibrary(kernel);
}

LogicalResult StepEmitter::emitGenerated(KernelOp kernel) {
  SmallVector<Value> pointers;
  for (ValueRange values :
       {ValueRange(kernel.getInputs()), ValueRange(kernel.getResults())})
    for (Value value : values) {
      FailureOr<Value> pointer = address(value);
      if (failed(pointer))
        return failure();
      pointers.push_back(*pointer);
    }
  scope.target.emitCall(step, kernel, pointers);
  return success();
}

LogicalResult StepEmitter::emitLibrary(KernelOp kernel) {
  FailureOr<LibraryCall> call = scope.target.readLibrary(kernel);
  if (failed(call))
    return failure();
  FailureOr<Value> lhs = address(kernel, call->lhs);
  FailureOr<Value> rhs = address(kernel, call->rhs);
  FailureOr<Value> result = address(kernel.getResult(0));
  if (failed(lhs) || failed(rhs) || failed(result))
    return failure();
  SmallVector<Value> arguments = {step.i32(scope.slotCount++),
                                  step.constant(call->descriptor), *lhs, *rhs,
                                  *result};
  if (kernel.getKind() == KernelKind::ConvWeightGrad) {
    step.call("cleaveConvWeightGrad", arguments);
    return success();
  }
  SmallVector<Value> post;
  for (const std::optional<LibraryOperand> &operand : call->post) {
    FailureOr<Value> pointer =
        operand ? address(kernel, *operand) : FailureOr<Value>(step.null());
    if (failed(pointer))
      return failure();
    post.push_back(*pointer);
  }
  arguments.push_back(step.array(post));
  step.call(kernel.getKind() == KernelKind::Matmul ? "cleaveMatmul"
                                                   : "cleaveConv",
            arguments);
  return scope.target.finishLibrary(
      step, kernel, *result,
      [&](const LibraryOperand &operand) { return address(kernel, operand); });
}

//===-- Other ops ---------------------------------------------------------===//

/// Writes the mixed radix of this rank's coordinates; one that lies in the
/// coordinates is there already.
LogicalResult StepEmitter::emitAxisIndex(AxisIndexOp op) {
  FailureOr<BufferAttr> buffer = getBuffer(op.getResult());
  if (failed(buffer))
    return failure();
  if (buffer->getSpace() == BufferSpace::Coords)
    return success();
  if (!op.getType().getElementType().isInteger(64))
    return op.emitOpError() << "has type " << op.getType() << "; expected i64";
  Value index = step.i64(0);
  for (auto axis : op.getAxes().getAsRange<StringAttr>()) {
    Value coord = getCoord(axis.getValue());
    if (!coord)
      return op.emitOpError()
             << "along \"" << axis.getValue() << "\" is outside of a chunk";
    index = step.multiplyAdd(
        index, scope.program.mesh.getAxisSize(axis.getValue()), coord);
  }
  scope.target.storeIndex(step, index, step.address(*buffer));
  return success();
}

/// Whether a value lies where it is wanted already.
static bool isAt(BufferAttr buffer, BufferAttr wanted) {
  return buffer.getSpace() == wanted.getSpace() &&
         buffer.getIndex() == wanted.getIndex() &&
         buffer.getOffset() == wanted.getOffset() &&
         buffer.getSlots() == wanted.getSlots();
}

LogicalResult StepEmitter::moveTo(Operation *user, Value value, BufferAttr to) {
  FailureOr<BufferAttr> from = getDenseBuffer(user, value);
  if (failed(from))
    return failure();
  if (isAt(*from, to))
    return success();
  FailureOr<Value> source = address(value);
  if (failed(source))
    return failure();
  step.call("cleaveCopy", {step.address(to), *source,
                           step.i64(getByteSize(value.getType()))});
  return success();
}

LogicalResult StepEmitter::emitCopy(CopyOp op) {
  trace(op, "copy");
  FailureOr<BufferAttr> to = getDenseBuffer(op, op.getResult());
  return failed(to) ? failure() : moveTo(op, op.getX(), *to);
}

LogicalResult StepEmitter::emitStores() {
  for (StoreOp store : stores) {
    FailureOr<BufferAttr> from = getBuffer(store.getValue());
    if (failed(from))
      return failure();
    int64_t index = scope.program.getStateIndex(store.getSymbol());
    if (from->getSpace() == BufferSpace::State && from->getIndex() != index)
      return store.emitOpError() << "takes its value from another state, which "
                                    "a store may change; expected a copy";
    auto to =
        BufferAttr::get(stage.getContext(), BufferSpace::State, index, 0, {});
    if (failed(moveTo(store, store.getValue(), to)))
      return failure();
  }
  return success();
}

LogicalResult StepEmitter::emitReturn(func::ReturnOp op) {
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto to = stage.getResultAttrOfType<BufferAttr>(i, "cleave.buffer");
    if (failed(moveTo(op, value, to)))
      return failure();
  }
  return emitStores();
}

LogicalResult StepEmitter::emitOp(Operation *op) {
  step.setLoc(op->getLoc());
  if (isCollective(op)) {
    trace(op, isa<DoneOp>(op) ? "wait" : "collective");
    return emitCollective(step, scope.ranks, op);
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, ConstantOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp>(
          [](Operation *) { return success(); })
      .Case([&](KernelOp op) { return emitKernel(op); })
      .Case([&](AxisIndexOp op) { return emitAxisIndex(op); })
      .Case([&](CopyOp op) { return emitCopy(op); })
      .Case([&](ChunkOp op) { return emitChunk(op); })
      .Case([&](ScheduleOp op) { return emitSchedule(op); })
      .Case([&](StoreOp op) { return stores.push_back(op), success(); })
      .Case([&](PrepareOp op) { return emitPrepare(op); })
      .Case([&](YieldOp op) { return emitYield(op); })
      .Case([&](func::ReturnOp op) { return emitReturn(op); })
      .Default([](Operation *op) {
        return op->emitOpError()
               << "has no place in a stage function; expected "
                  "it inside of a kernel";
      });
}

LogicalResult StepEmitter::emit(Block &block) {
  for (Operation &op : block)
    if (failed(emitOp(&op)))
      return failure();
  step.finish();
  return success();
}
