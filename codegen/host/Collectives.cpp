//===- Collectives.cpp - calls of collectives, sends and receives ---------===//
//
// A collective becomes one call with the index of its group; a tensor is seen
// as [outer, dim, inner] (runtime/Abi.h). Operands and results are dense.
//
//===----------------------------------------------------------------------===//

#include "codegen/host/Collectives.h"

#include "codegen/Buffers.h"
#include "codegen/Dtypes.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

std::string cleave::getNodeName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    return getNodeName(fused.getLocations().front());
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getNodeName(call.getCallee());
  if (auto file = dyn_cast<FileLineColLoc>(loc))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  return "?";
}

bool cleave::isCollective(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, SendOp,
             RecvOp, DoneOp>(op);
}

static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

namespace {
/// Emits one collective.
class Emitter {
public:
  Emitter(StepBuilder &step, const RankModule &ranks, Operation *op)
      : step(step), ranks(ranks), op(op) {}

  LogicalResult emit(AllReduceOp op);
  LogicalResult emit(AllGatherOp op);
  LogicalResult emit(ReduceScatterOp op);
  LogicalResult emit(AllToAllOp op);
  LogicalResult emit(SendOp op);
  LogicalResult emit(RecvOp op);
  LogicalResult emit(DoneOp op);
  void deferIfAsynchronous() {
    if (isAsynchronous(op))
      step.call("cleaveDefer", {group(op)});
  }

private:
  /// Reads dense buffers and the element type of the operand and result.
  LogicalResult prepare(Value in, Value out);
  /// Number of the group that a collective of several ranks is for.
  Value group(Operation *collective) {
    auto symbol = collective->getAttrOfType<FlatSymbolRefAttr>("mesh");
    auto mesh =
        SymbolTable::lookupNearestSymbolFrom<MeshOp>(collective, symbol);
    auto axes = collective->getAttrOfType<ArrayAttr>("axes");
    return step.i32(ranks.getGroup(mesh.getMesh(), axes));
  }
  Value name() { return step.text(getNodeName(op->getLoc())); }

  StepBuilder &step;
  const RankModule &ranks;
  Operation *op;
  Value in, out, dtype;
};
} // namespace

LogicalResult Emitter::prepare(Value input, Value output) {
  Value any = input ? input : output;
  FailureOr<CleaveDtype> number = getDtype(op, getType(any).getElementType());
  if (failed(number))
    return failure();
  dtype = step.i32(*number);
  for (auto [value, address] :
       {std::pair(input, &in), std::pair(output, &out)}) {
    if (!value)
      continue;
    FailureOr<BufferAttr> buffer = getDenseBuffer(op, value);
    if (failed(buffer))
      return failure();
    *address = step.address(*buffer);
  }
  return success();
}

LogicalResult Emitter::emit(AllReduceOp reduce) {
  if (failed(prepare(reduce.getX(), reduce.getResult())))
    return failure();
  step.call("cleaveAllReduce",
            {group(reduce), in, out,
             step.i64(getType(reduce.getX()).getNumElements()), dtype,
             step.i32(static_cast<int32_t>(reduce.getKind())), name()});
  return success();
}

LogicalResult Emitter::emit(AllGatherOp gather) {
  RankedTensorType part = getType(gather.getX());
  int64_t dim = gather.getDim();
  if (failed(prepare(gather.getX(), gather.getResult())))
    return failure();
  step.call("cleaveAllGather",
            {group(gather), in, out,
             step.i64(product(part.getShape().take_front(dim))),
             step.i64(product(part.getShape().drop_front(dim))), dtype,
             name()});
  return success();
}

LogicalResult Emitter::emit(ReduceScatterOp scatter) {
  RankedTensorType part = getType(scatter.getResult());
  int64_t dim = scatter.getDim();
  if (failed(prepare(scatter.getX(), scatter.getResult())))
    return failure();
  step.call("cleaveReduceScatter",
            {group(scatter), in, out,
             step.i64(product(part.getShape().take_front(dim))),
             step.i64(product(part.getShape().drop_front(dim))), dtype,
             step.i32(static_cast<int32_t>(scatter.getKind())), name()});
  return success();
}

LogicalResult Emitter::emit(AllToAllOp exchange) {
  RankedTensorType type = getType(exchange.getX());
  if (failed(prepare(exchange.getX(), exchange.getResult())))
    return failure();
  step.call("cleaveAllToAll",
            {group(exchange), in, out,
             step.i64(product(type.getShape().drop_front())), dtype, name()});
  return success();
}

LogicalResult Emitter::emit(DoneOp done) {
  step.call("cleaveFinish", {group(done.getStarted().getDefiningOp()), name()});
  return success();
}

LogicalResult Emitter::emit(SendOp send) {
  if (failed(prepare(send.getX(), {})))
    return failure();
  step.call("cleaveSend", {step.i32(ranks.getRoute(send.getPairs())), in,
                           step.i64(getType(send.getX()).getNumElements()),
                           dtype, step.i32(send.getTag()), name()});
  return success();
}

LogicalResult Emitter::emit(RecvOp recv) {
  if (failed(prepare({}, recv.getResult())))
    return failure();
  step.call("cleaveRecv", {step.i32(ranks.getRoute(recv.getPairs())), out,
                           step.i64(getType(recv.getResult()).getNumElements()),
                           dtype, step.i32(recv.getTag()), name()});
  return success();
}

LogicalResult cleave::emitCollective(StepBuilder &step, const RankModule &ranks,
                                     Operation *op) {
  Emitter emitter(step, ranks, op);
  emitter.deferIfAsynchronous();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, SendOp,
            RecvOp, DoneOp>(
          [&](auto collective) { return emitter.emit(collective); });
}
