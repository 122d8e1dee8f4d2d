//===- Program.cpp - checks and work of kernels ---------------------------===//

#include "ir/Program.h"

#include "ir/Distribution.h"
#include "ir/State.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Program.cpp.inc"

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError()
           << "block arguments must have the types of the operands";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes())
    return emitOpError() << "must end in a yield of the result types";
  return success();
}

/// FLOPs of the body; bytes only of what crosses the kernel's border.
Work KernelOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  for (Operation &op : getBody().front())
    if (auto inner = dyn_cast<WorkOpInterface>(op))
      work.flops += inner.getWork().flops;
  return work;
}

Work CopyOp::getWork() { return getElementwiseWork(*this, 0); }

//===-- Chunks and schedules ----------------------------------------------===//

LogicalResult ChunkOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInits().getTypes())
    return emitOpError() << "block arguments must have the types of the inits";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  size_t count = getNumResults(), whole = count - getStacked();
  if (!yield || yield.getValues().size() != count || whole > count ||
      whole < getInits().size())
    return emitOpError() << "must yield " << count << " values, the "
                         << getInits().size() << " carried ones first";
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip(yield.getValues(), getResults()))) {
    auto type = cast<RankedTensorType>(std::get<1>(pair).getType());
    if (i >= whole && type.getRank() > 0)
      type = type.clone(type.getShape().drop_front());
    bool carried = i < getInits().size();
    if (std::get<0>(pair).getType() != type ||
        (carried && type != getInits()[i].getType()))
      return emitOpError() << "result " << i << " does not fit the yield of "
                           << std::get<0>(pair).getType();
  }
  return success();
}

LogicalResult PrepareOp::verify() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (block.getNumArguments() || !yield ||
      yield.getValues().getTypes() != getResultTypes())
    return emitOpError()
           << "must have no arguments and end in a yield of the result types";
  for (Operation &op : block) {
    if (isa<StoreOp, AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp,
            SendOp, RecvOp>(op))
      return op.emitOpError() << "cannot run before the first step";
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block)
        return op.emitOpError() << "reads a value from outside of its prepare";
  }
  return success();
}

/// Micro-batches in the order in which each chunk sees them.
static llvm::StringMap<SmallVector<int64_t>> listCalls(ArrayAttr loops) {
  llvm::StringMap<SmallVector<int64_t>> calls;
  for (auto loop : loops.getAsRange<LoopAttr>())
    for (int64_t turn = 0; turn < loop.getCount(); ++turn)
      for (ChunkCallAttr call : loop.getCalls())
        calls[call.getChunk()].push_back(call.getFirst() + turn);
  return calls;
}

LogicalResult ScheduleOp::verify() {
  llvm::StringMap<SmallVector<int64_t>> calls = listCalls(getLoops());
  size_t known = 0, microBatches = 0;
  for (auto &entry : calls)
    microBatches = std::max(microBatches, entry.second.size());
  for (Operation &op : *getOperation()->getBlock()) {
    auto chunk = dyn_cast<ChunkOp>(op);
    if (!chunk)
      continue;
    ++known;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, microBatches));
    if (calls.lookup(chunk.getName()) != order)
      return emitOpError() << "must call chunk \"" << chunk.getName()
                           << "\" once for each of " << microBatches
                           << " micro-batches, in order";
  }
  if (known != calls.size())
    return emitOpError() << "calls a chunk that the function does not have";
  return success();
}
