//===- State.cpp - checks of state symbols --------------------------------===//

#include "ir/State.h"

#include "ir/Distribution.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/State.cpp.inc"

LogicalResult ParamOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape())
    return emitOpError() << "needs a ranked tensor with static shape, found "
                         << getType();
  if (auto weights = dyn_cast_or_null<WeightsAttr>(getValueAttr()))
    if (weights.getLength() != getByteSize(type))
      return emitOpError() << "has " << weights.getLength()
                           << " bytes of weights, its type " << type
                           << " needs " << getByteSize(type);
  if (auto dense = dyn_cast_or_null<ElementsAttr>(getValueAttr()))
    if (dense.getShapedType() != type)
      return emitOpError() << "has a value of type " << dense.getShapedType()
                           << ", expected " << type;
  if (auto shape = getTrueShape()) {
    int64_t count = std::accumulate(shape->begin(), shape->end(), int64_t(1),
                                    std::multiplies<>());
    if (count != type.getNumElements())
      return emitOpError() << "true_shape has " << count
                           << " elements, its type " << type << " has "
                           << type.getNumElements();
  }
  return success();
}

/// The type that a load or store of `param` has where `op` stands: local in a
/// function that has a mesh, else whole.
static FailureOr<RankedTensorType> getStateType(Operation *op,
                                                FlatSymbolRefAttr symbol,
                                                SymbolTableCollection &tables) {
  auto param = tables.lookupNearestSymbolFrom<ParamOp>(op, symbol);
  if (!param)
    return op->emitOpError() << "names no param: " << symbol;
  auto type = cast<RankedTensorType>(param.getType());
  Operation *function = op->getParentOp();
  while (function && !function->hasAttr("cleave.mesh"))
    function = function->getParentOp();
  if (!function || !param.getSharding())
    return type;
  auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(
      op, param.getSharding()->getMesh());
  if (!mesh)
    return op->emitOpError()
           << "symbol " << symbol << " is sharded over an unknown mesh "
           << param.getSharding()->getMesh();
  if (failed(verifySharding(param, *param.getSharding(), type, mesh.getMesh())))
    return failure();
  return getLocalType(type, *param.getSharding(), mesh.getMesh());
}

static LogicalResult verifyStateUse(Operation *op, FlatSymbolRefAttr symbol,
                                    Type found, SymbolTableCollection &tables) {
  FailureOr<RankedTensorType> type = getStateType(op, symbol, tables);
  if (failed(type))
    return failure();
  if (found != *type)
    return op->emitOpError()
           << "has type " << found << ", symbol " << symbol << " has " << *type;
  return success();
}

LogicalResult LoadOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyStateUse(*this, getSymbolAttr(), getType(), tables);
}
ShardingRule LoadOp::getShardingRule() {
  return getElementwiseRule(*this, false);
}
/// The bytes are read by whoever uses the value.
Work LoadOp::getWork() { return Work(); }

/// Checks all stores of a block from its first one, so that each is seen once.
static LogicalResult verifyStoredOnce(StoreOp first) {
  for (Operation *op = first->getPrevNode(); op; op = op->getPrevNode())
    if (isa<StoreOp>(op))
      return success();
  llvm::SmallPtrSet<StringAttr, 8> stored;
  for (Operation *op = first; op; op = op->getNextNode())
    if (auto store = dyn_cast<StoreOp>(op))
      if (!stored.insert(store.getSymbolAttr().getAttr()).second)
        return store.emitOpError()
               << "stores " << store.getSymbolAttr() << " a second time";
  return success();
}

LogicalResult StoreOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (failed(verifyStoredOnce(*this)))
    return failure();
  return verifyStateUse(*this, getSymbolAttr(), getValue().getType(), tables);
}
