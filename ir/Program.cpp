//===- Program.cpp - checks and work of kernels ---------------------------===//

#include "ir/Program.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

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
