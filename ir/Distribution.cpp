//===- Distribution.cpp - checks and work of collectives ------------------===//

#include "ir/Distribution.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Distribution.cpp.inc"

LogicalResult cleave::verifySharding(Operation *op, ShardingAttr sharding,
                                     RankedTensorType type, MeshAttr mesh) {
  if (static_cast<int64_t>(sharding.getDims().size()) != type.getRank())
    return op->emitOpError() << "sharding of " << sharding.getDims().size()
                             << " dims for a tensor of rank " << type.getRank();
  llvm::SmallSet<StringRef, 4> seen;
  auto checkAxis = [&](StringAttr axis) -> LogicalResult {
    if (!mesh.getAxisSize(axis.getValue()))
      return op->emitOpError()
             << "sharding names axis " << axis << ", mesh "
             << sharding.getMesh() << " has none of that name";
    if (!seen.insert(axis.getValue()).second)
      return op->emitOpError() << "sharding uses axis " << axis << " twice";
    return success();
  };
  for (auto [dim, entry] : llvm::enumerate(sharding.getDims())) {
    if (entry.getBlock() < 1 || type.getDimSize(dim) % entry.getBlock())
      return op->emitOpError()
             << "block " << entry.getBlock() << " does not divide dim " << dim
             << " of " << type;
    for (StringAttr axis : entry.getAxes())
      if (failed(checkAxis(axis)))
        return failure();
  }
  for (StringAttr axis : sharding.getPartialAxes())
    if (failed(checkAxis(axis)))
      return failure();
  return success();
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto mesh =
      tables.lookupNearestSymbolFrom<MeshOp>(*this, getSharding().getMesh());
  if (!mesh)
    return emitOpError() << "names no mesh: " << getSharding().getMesh();
  if (getSharding().isPartial())
    return emitOpError() << "cannot make a partial value, found "
                         << getSharding();
  return verifySharding(*this, getSharding(), getType(), mesh.getMesh());
}

//===-- Collectives -------------------------------------------------------===//

bool cleave::isAsynchronous(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op) &&
         op->hasAttr("asynchronous");
}

LogicalResult DoneOp::verify() {
  Operation *collective = getStarted().getDefiningOp();
  if (!collective || !isAsynchronous(collective) ||
      collective->getOperand(0) != getX())
    return emitOpError() << "needs the result of an asynchronous collective, "
                            "and what that takes";
  if (!getStarted().hasOneUse())
    return emitOpError() << "must be the only one that reads what it waits for";
  return success();
}

/// Number of ranks along `axes` of the mesh; an error when mesh or axis is
/// missing.
static FailureOr<int64_t> getGroupSize(Operation *op, FlatSymbolRefAttr symbol,
                                       ArrayAttr axes,
                                       SymbolTableCollection &tables) {
  auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(op, symbol);
  if (!mesh)
    return op->emitOpError() << "names no mesh: " << symbol;
  int64_t size = 1;
  llvm::SmallSet<StringRef, 4> seen;
  for (StringRef axis : axes.getAsValueRange<StringAttr>()) {
    if (!seen.insert(axis).second)
      return op->emitOpError() << "names axis \"" << axis << "\" twice";
    int64_t axisSize = mesh.getMesh().getAxisSize(axis);
    if (!axisSize)
      return op->emitOpError()
             << "mesh " << symbol << " has no axis \"" << axis << "\"";
    size *= axisSize;
  }
  return size;
}

/// `whole` is `part` with dim `dim` taken `count` times.
static LogicalResult verifyParts(Operation *op, RankedTensorType part,
                                 RankedTensorType whole, int64_t dim,
                                 int64_t count) {
  if (dim < 0 || dim >= part.getRank())
    return op->emitOpError() << "dim " << dim << " is out of range of " << part;
  SmallVector<int64_t> shape(part.getShape());
  shape[dim] *= count;
  if (part.clone(shape) != whole)
    return op->emitOpError()
           << "needs " << part.clone(shape) << " for " << count << " parts of "
           << part << ", found " << whole;
  return success();
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &tables) {
  return getGroupSize(*this, getMeshAttr(), getAxes(), tables);
}
LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size =
      getGroupSize(*this, getMeshAttr(), getAxes(), tables);
  if (failed(size))
    return failure();
  return verifyParts(*this, getX().getType(), getType(), getDim(), *size);
}
LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size =
      getGroupSize(*this, getMeshAttr(), getAxes(), tables);
  if (failed(size))
    return failure();
  return verifyParts(*this, getType(), getX().getType(), getDim(), *size);
}
LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<int64_t> size =
      getGroupSize(*this, getMeshAttr(), getAxes(), tables);
  if (failed(size))
    return failure();
  RankedTensorType type = getX().getType();
  if (type != getType() || type.getRank() == 0 || type.getDimSize(0) != *size)
    return emitOpError() << "needs dim 0 of size " << *size
                         << " and keeps the type, found " << type << " and "
                         << getType();
  return success();
}

static LogicalResult verifyPairs(Operation *op, ArrayRef<int64_t> pairs) {
  if (pairs.size() % 2 ||
      llvm::any_of(pairs, [](int64_t rank) { return rank < 0; }))
    return op->emitOpError() << "pairs must list a sender and a receiver each";
  return success();
}
LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyPairs(*this, getPairs());
}
LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyPairs(*this, getPairs());
}

LogicalResult AxisIndexOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getType().getRank() != 0 || !getType().getElementType().isInteger(64))
    return emitOpError() << "gives tensor<i64>, found " << getType();
  return getGroupSize(*this, getMeshAttr(), getAxes(), tables);
}

Work AllReduceOp::getWork() { return getElementwiseWork(*this, 1); }
Work AllGatherOp::getWork() { return getElementwiseWork(*this, 0); }
Work ReduceScatterOp::getWork() { return getElementwiseWork(*this, 1); }
Work AllToAllOp::getWork() { return getElementwiseWork(*this, 0); }
Work SendOp::getWork() { return getElementwiseWork(*this, 0); }
Work RecvOp::getWork() { return getElementwiseWork(*this, 0); }

//===-- Local helpers -----------------------------------------------------===//

static LogicalResult verifyIndex(Operation *op, RankedTensorType index,
                                 int64_t dim, RankedTensorType type) {
  if (index.getRank() != 0 || !index.getElementType().isInteger(64))
    return op->emitOpError() << "index must be tensor<i64>, found " << index;
  if (dim < 0 || dim >= type.getRank())
    return op->emitOpError() << "dim " << dim << " is out of range of " << type;
  return success();
}

LogicalResult TakeShardOp::verify() {
  if (failed(verifyIndex(*this, getIndex().getType(), getDim(), getType())))
    return failure();
  SmallVector<int64_t> shape(getX().getType().getShape());
  if (static_cast<int64_t>(shape.size()) == getType().getRank())
    shape[getDim()] = getType().getDimSize(getDim());
  if (getX().getType().clone(shape) != getType())
    return emitOpError() << "shapes must agree but for dim " << getDim()
                         << ", found " << getX().getType() << " and "
                         << getType();
  return success();
}
Work TakeShardOp::getWork() {
  Work work;
  work.bytesRead = work.bytesWritten = getByteSize(getType());
  return work;
}
LogicalResult MaskOp::verify() {
  if (static_cast<int64_t>(getSize()) < 0)
    return emitOpError() << "size must not be negative, found "
                         << static_cast<int64_t>(getSize());
  return verifyIndex(*this, getIndex().getType(), getDim(), getType());
}
Work MaskOp::getWork() { return getElementwiseWork(*this, 1); }
