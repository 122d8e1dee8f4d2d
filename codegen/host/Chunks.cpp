//===- Chunks.cpp - chunks and the loops that call them -------------------===//
//
// A chunk becomes a function of the micro-batch's number, a schedule the loops
// that call them. What goes from call to call has one place: a chunk's argument
// lies where the result of the same number does, and the yielded value is moved
// there. What another chunk reads has a ring of places, what is stacked a place
// per micro-batch.
//
//===----------------------------------------------------------------------===//

#include "codegen/Buffers.h"
#include "codegen/host/StepEmitter.h"

using namespace cleave;
using namespace mlir;

static std::string getFunctionName(StringRef chunk) {
  return ("chunk_" + chunk).str();
}

/// Makes the chunk's function, and gives its carried values their start.
LogicalResult StepEmitter::emitChunk(ChunkOp op) {
  StepEmitter body(scope, getFunctionName(op.getName()), op);
  if (failed(body.emit(op.getBody().front())))
    return failure();
  for (auto [init, result] : llvm::zip(op.getInits(), op.getResults())) {
    FailureOr<BufferAttr> to = getDenseBuffer(op, result);
    if (failed(to) || failed(moveTo(op, init, *to)))
      return failure();
  }
  return success();
}

/// The part of a stacked result that one micro-batch fills.
static BufferAttr getPart(BufferAttr stack, RankedTensorType type) {
  int64_t count = type.getDimSize(0);
  int64_t bytes = getByteSize(type) / std::max<int64_t>(count, 1);
  return BufferAttr::get(stack.getContext(), stack.getSpace(), stack.getIndex(),
                         stack.getOffset(), stack.getStrides().drop_front(),
                         count, bytes);
}

LogicalResult StepEmitter::emitYield(YieldOp op) {
  if (auto prepare = dyn_cast<PrepareOp>(op->getParentOp()))
    return emitPrepared(prepare, op);
  int64_t firstStacked = chunk.getNumResults() - chunk.getStacked();
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    Value result = chunk.getResult(i);
    FailureOr<BufferAttr> to = getDenseBuffer(op, result);
    if (failed(to))
      return failure();
    if (static_cast<int64_t>(i) >= firstStacked)
      to = getPart(*to, cast<RankedTensorType>(result.getType()));
    if (failed(moveTo(op, value, *to)))
      return failure();
  }
  return success();
}

LogicalResult StepEmitter::emitSchedule(ScheduleOp op) {
  for (auto loop : op.getLoops().getAsRange<LoopAttr>())
    step.loop(loop.getCount(), [&](Value turn) {
      for (ChunkCallAttr call : loop.getCalls())
        step.callChunk(getFunctionName(call.getChunk()),
                       step.add(turn, call.getFirst()));
    });
  return success();
}
