//===- Prepare.cpp - what runs once, before the first step ----------------===//
//
// A prepare becomes a function of its own. Its results have places that no
// other value shares; the runtime is told that they stay as they are.
//
//===----------------------------------------------------------------------===//

#include "codegen/Buffers.h"
#include "codegen/host/StepEmitter.h"

using namespace cleave;
using namespace mlir;

LogicalResult StepEmitter::emitPrepare(PrepareOp op) {
  StepEmitter body(scope, PrepareFunction);
  return body.emit(op.getBody().front());
}

/// Values lie in place, or are copied as they are: the strides are the same.
LogicalResult StepEmitter::emitPrepared(PrepareOp op, YieldOp yield) {
  for (auto [value, result] : llvm::zip(yield.getValues(), op.getResults())) {
    FailureOr<BufferAttr> from = getBuffer(value), to = getBuffer(result);
    if (failed(from) || failed(to))
      return failure();
    if (from->getStrides() != to->getStrides())
      return yield.emitOpError()
             << "gives " << *from << "; expected the strides of " << *to;
    Value bytes = step.i64(getByteSize(value.getType()));
    if (*from != *to) {
      FailureOr<Value> source = address(value);
      if (failed(source))
        return failure();
      step.call("cleaveCopy", {step.address(*to), *source, bytes});
    }
    step.call("cleaveConstant", {step.address(*to), bytes});
  }
  return success();
}
