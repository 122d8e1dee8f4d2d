//===- HostStep.cpp - generate the program of one stage -------------------===//
//
// The step function is straight-line: one runtime call per kernel, library
// operation and collective, in the order of the stage function. Views and loads
// cost nothing: a user of their value addresses the buffer. Stores and outputs
// that do not lie in place are copied at the end of the step.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/HostStep.h"

#include "codegen/Buffers.h"
#include "codegen/cpu/Collectives.h"
#include "codegen/cpu/Constants.h"
#include "codegen/cpu/KernelSet.h"
#include "codegen/cpu/LibraryCall.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace mlir;

namespace {
class StepEmitter {
public:
  StepEmitter(const RankModule &ranks, const Program &program,
              const KernelSet &kernels, ProgramCode &code)
      : ranks(ranks), program(program), stage(program.function),
        kernels(kernels), code(code), step(*code.module, StepFunction) {}
  LogicalResult emit();

private:
  LogicalResult planArena();
  LogicalResult emitOp(Operation *op);
  LogicalResult emitKernel(KernelOp kernel);
  LogicalResult emitGenerated(KernelOp kernel);
  LogicalResult emitLibrary(KernelOp kernel);
  LogicalResult emitAxisIndex(AxisIndexOp op);
  LogicalResult emitEnd(func::ReturnOp op);
  LogicalResult emitCopy(Operation *user, Value from, BufferAttr to);
  LogicalResult emitCopyOp(CopyOp op);
  BufferAttr getCoords(int64_t position);
  FailureOr<Value> address(Value value);
  FailureOr<Value> address(KernelOp kernel, const LibraryOperand &operand);
  void trace(Operation *op, StringRef category);

  const RankModule &ranks;
  const Program &program;
  func::FuncOp stage;
  const KernelSet &kernels;
  ProgramCode &code;
  StepBuilder step;
  /// Where the workspace of collectives begins in the arena.
  int64_t workspace = 0;
  SmallVector<StoreOp> stores;
};
} // namespace

/// The arena of the memory phase, then the workspace of collectives.
LogicalResult StepEmitter::planArena() {
  auto bytes = stage->getAttrOfType<IntegerAttr>("cleave.arena_bytes");
  if (!bytes)
    return stage.emitError()
           << "stage '" << stage.getSymName()
           << "' has no `cleave.arena_bytes`; expected memory to be planned";
  workspace = llvm::alignTo(bytes.getInt(), 64);
  int64_t most = 0;
  stage.walk([&](Operation *op) {
    most = std::max(most, getWorkspaceBytes(ranks, op));
  });
  code.arenaBytes = workspace + llvm::alignTo(most, 64);
  return success();
}

void StepEmitter::trace(Operation *op, StringRef category) {
  step.call("cleaveTrace",
            {step.text(getNodeName(op->getLoc())), step.text(category)});
}

//===-- Addresses
//-----------------------------------------------------------===//

/// The coordinate along an axis of the stage's mesh.
BufferAttr StepEmitter::getCoords(int64_t position) {
  return BufferAttr::get(stage.getContext(), BufferSpace::Coords,
                         program.axes[position], 0, {});
}

/// Address of a value's first element. Constants are found by their op, all
/// else by its buffer.
FailureOr<Value> StepEmitter::address(Value value) {
  FailureOr<BufferAttr> buffer = getBuffer(value);
  if (failed(buffer))
    return failure();
  if (buffer->getSpace() == BufferSpace::Coords)
    return step.address(getCoords(buffer->getIndex()));
  if (buffer->getSpace() != BufferSpace::Constant)
    return step.address(*buffer);
  FailureOr<std::string> bytes = getConstantBytes(stage, *buffer);
  if (failed(bytes))
    return failure();
  return step.offset(step.constant(*bytes), buffer->getOffset());
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
    return step.constant(*bytes);
  }
  FailureOr<Value> base = address(kernel.getInputs()[operand.operand]);
  if (failed(base))
    return failure();
  auto element = RankedTensorType::get({}, operand.elementType);
  return step.offset(*base, operand.view.offset * getByteSize(element));
}

//===-- Kernels
//-------------------------------------------------------------===//

LogicalResult StepEmitter::emitKernel(KernelOp kernel) {
  trace(kernel, stringifyKernelKind(kernel.getKind()));
  return isGenerated(kernel.getKind()) ? emitGenerated(kernel)
                                       : emitLibrary(kernel);
}

LogicalResult StepEmitter::emitGenerated(KernelOp kernel) {
  const KernelFunction &function = kernels.get(kernel);
  SmallVector<Value> pointers;
  for (ValueRange values :
       {ValueRange(kernel.getInputs()), ValueRange(kernel.getResults())})
    for (Value value : values) {
      FailureOr<Value> pointer = address(value);
      if (failed(pointer))
        return failure();
      pointers.push_back(*pointer);
    }
  if (function.plan.mayFail)
    pointers.push_back(step.cell());
  step.call("cleaveParallelFor",
            {step.symbol(function.name), step.array(pointers),
             step.i64(function.plan.extent), step.i64(function.plan.grain),
             step.null(), step.i64(function.plan.scratchBytesPerThread)});
  if (function.plan.mayFail)
    step.ifNotZero(pointers.back(), [&] {
      step.call("cleaveFail", {step.text(getNodeName(kernel.getLoc())),
                               step.text(function.plan.failMessage)});
    });
  return success();
}

LogicalResult StepEmitter::emitLibrary(KernelOp kernel) {
  bool isMatmul = kernel.getKind() == KernelKind::Matmul;
  FailureOr<LibraryCall> call =
      isMatmul ? readMatmul(kernel) : readConv(kernel);
  if (failed(call))
    return failure();
  FailureOr<Value> lhs = address(kernel, call->lhs);
  FailureOr<Value> rhs = address(kernel, call->rhs);
  FailureOr<Value> result = address(kernel.getResult(0));
  if (failed(lhs) || failed(rhs) || failed(result))
    return failure();
  SmallVector<Value> post;
  for (const std::optional<LibraryOperand> &operand : call->post) {
    FailureOr<Value> pointer =
        operand ? address(kernel, *operand) : FailureOr<Value>(step.null());
    if (failed(pointer))
      return failure();
    post.push_back(*pointer);
  }
  step.call(isMatmul ? "cleaveMatmul" : "cleaveConv",
            {step.i32(code.slotCount++), step.constant(call->descriptor), *lhs,
             *rhs, *result, step.array(post)});
  return success();
}

//===-- Other ops
//-----------------------------------------------------------===//

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
    int64_t position = program.mesh.getAxisPosition(axis.getValue());
    Value coord = step.load(IntegerType::get(op.getContext(), 64),
                            step.address(getCoords(position)));
    index = step.multiplyAdd(index, program.mesh.getAxes()[position].getSize(),
                             coord);
  }
  step.store(index, step.address(*buffer));
  return success();
}

LogicalResult StepEmitter::emitCopy(Operation *user, Value from,
                                    BufferAttr to) {
  FailureOr<BufferAttr> source = getDenseBuffer(user, from);
  FailureOr<Value> address = this->address(from);
  if (failed(source) || failed(address))
    return failure();
  step.call("cleaveCopy", {step.address(to), *address,
                           step.i64(getByteSize(from.getType()))});
  return success();
}

LogicalResult StepEmitter::emitCopyOp(CopyOp op) {
  trace(op, "copy");
  FailureOr<BufferAttr> to = getDenseBuffer(op, op.getResult());
  return failed(to) ? failure() : emitCopy(op, op.getX(), *to);
}

/// Whether a value lies where it is wanted already.
static bool isAt(BufferAttr buffer, BufferAttr wanted) {
  return buffer.getSpace() == wanted.getSpace() &&
         buffer.getIndex() == wanted.getIndex() &&
         buffer.getOffset() == wanted.getOffset();
}

LogicalResult StepEmitter::emitEnd(func::ReturnOp op) {
  step.setLoc(op.getLoc());
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto to = stage.getResultAttrOfType<BufferAttr>(i, "cleave.buffer");
    FailureOr<BufferAttr> from = getBuffer(value);
    if (failed(from) || (!isAt(*from, to) && failed(emitCopy(op, value, to))))
      return failure();
  }
  for (StoreOp store : stores) {
    FailureOr<BufferAttr> from = getBuffer(store.getValue());
    if (failed(from))
      return failure();
    auto to = BufferAttr::get(op.getContext(), BufferSpace::State,
                              program.getStateIndex(store.getSymbol()), 0, {});
    if (isAt(*from, to))
      continue;
    if (from->getSpace() == BufferSpace::State)
      return store.emitOpError() << "takes its value from another state, which "
                                    "a store may change; expected a copy";
    if (failed(emitCopy(store, store.getValue(), to)))
      return failure();
  }
  return success();
}

LogicalResult StepEmitter::emitOp(Operation *op) {
  step.setLoc(op->getLoc());
  if (isCollective(op)) {
    trace(op, "collective");
    return emitCollective(step, ranks, op, workspace);
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, ConstantOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp>(
          [](Operation *) { return success(); })
      .Case([&](KernelOp op) { return emitKernel(op); })
      .Case([&](AxisIndexOp op) { return emitAxisIndex(op); })
      .Case([&](CopyOp op) { return emitCopyOp(op); })
      .Case([&](StoreOp op) {
        stores.push_back(op);
        return success();
      })
      .Case([&](func::ReturnOp op) { return emitEnd(op); })
      .Default([](Operation *op) {
        return op->emitOpError()
               << "has no place in a stage function; expected "
                  "it inside of a kernel";
      });
}

LogicalResult StepEmitter::emit() {
  if (failed(planArena()))
    return failure();
  for (Operation &op : stage.getBody().front())
    if (failed(emitOp(&op)))
      return failure();
  step.finish();
  return success();
}

FailureOr<ProgramCode> cleave::buildProgram(const RankModule &ranks,
                                            const Program &program) {
  ProgramCode code;
  func::FuncOp stage = program.function;
  code.module = ModuleOp::create(stage.getLoc(), program.name);
  KernelSet kernels;
  if (failed(kernels.build(stage, *code.module)) ||
      failed(StepEmitter(ranks, program, kernels, code).emit()))
    return failure();
  return std::move(code);
}
