//===- Domain.cpp - the iteration space of a kernel -----------------------===//
//
// One case per op that moves indices; all other ops read their operands at the
// index of their result.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Domain.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

ValueMap cleave::getMap(ArrayRef<int64_t> dims) {
  ValueMap map;
  for (int64_t dim : dims)
    map.push_back({dim, 1});
  return map;
}

ValueMap cleave::getIdentityMap(int64_t rank) {
  return getMap(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
}

void Accesses::addAccess(ArrayRef<int64_t> strides, const ValueMap &map) {
  SmallVector<int64_t> access(rank, 0);
  for (auto [stride, index] : llvm::zip(strides, map))
    if (index.dim >= 0)
      access[index.dim] += stride * index.factor;
  list.push_back(access);
}

void Accesses::keepApart(IndexMap index) { addAccess({1}, {index}); }

/// Map of a broadcast's operand; its dims of size 1 stay at index 0.
static ValueMap getOperandMap(BroadcastOp op, const ValueMap &map) {
  ValueMap result;
  for (auto [dim, size] :
       llvm::zip(op.getDims(), op.getX().getType().getShape()))
    result.push_back(size == 1 ? IndexMap() : map[dim]);
  return result;
}

static ValueMap getOperandMap(TransposeOp op, const ValueMap &map) {
  ValueMap result(map.size());
  for (auto [i, dim] : llvm::enumerate(op.getPerm()))
    result[dim] = map[i];
  return result;
}

static ValueMap getOperandMap(SliceOp op, const ValueMap &map) {
  ValueMap result = map;
  for (auto [index, stride] : llvm::zip(result, op.getStrides()))
    index.factor *= stride;
  return result;
}

void Accesses::addOperands(Operation *op, const ValueMap &map) {
  for (Value operand : op->getOperands())
    addReads(operand, map);
}

void Accesses::addReads(Value value, const ValueMap &map) {
  if (!seen.insert({value.getAsOpaquePointer(), map}).second)
    return;
  if (auto found = strides.find(value); found != strides.end())
    addAccess(found->second, map);
  if (stops.count(value.getAsOpaquePointer()) || !value.getDefiningOp())
    return;
  llvm::TypeSwitch<Operation *>(value.getDefiningOp())
      .Case<BroadcastOp, TransposeOp, SliceOp>(
          [&](auto op) { addReads(op.getX(), getOperandMap(op, map)); })
      .Case([&](IotaOp op) { keepApart(map[op.getDim()]); })
      .Case<MaskOp, TakeShardOp>([&](auto op) {
        keepApart(map[op.getDim()]);
        addReads(op.getX(), map);
      })
      .Case([&](GatherOp op) {
        int64_t dim = op.getDim(), batch = op.getBatchDims();
        int64_t own = op.getIndices().getType().getRank() - batch;
        ValueMap indices(map.begin(), map.begin() + batch);
        indices.insert(indices.end(), map.begin() + dim,
                       map.begin() + dim + own);
        addReads(op.getIndices(), indices);
        ValueMap rest(map.begin(), map.begin() + dim);
        rest.push_back(IndexMap());
        rest.insert(rest.end(), map.begin() + dim + own, map.end());
        addReads(op.getX(), rest);
      })
      .Case([&](NormOp op) {
        addReads(op.getX(), map);
        ValueMap row(map.begin() + op.getAxis(), map.end());
        for (Value affine : {op.getScale(), op.getBias()})
          if (affine)
            addReads(affine, row);
      })
      .Case([&](CrossEntropyOp op) {
        ValueMap row = map;
        row.push_back({rank - 1, 1});
        addReads(op.getLogits(), row);
        addReads(op.getLabels(), map);
      })
      .Case([&](CrossEntropyGradOp op) {
        ValueMap outer(map.begin(), map.end() - 1);
        addReads(op.getLogits(), map);
        addReads(op.getLabels(), outer);
        addReads(op.getDloss(), outer);
      })
      .Default([&](Operation *op) { addOperands(op, map); });
}

SmallVector<Group> cleave::mergeDims(ArrayRef<int64_t> dims,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<SmallVector<int64_t>> accesses) {
  SmallVector<Group> groups;
  for (int64_t dim : dims) {
    if (shape[dim] == 1)
      continue;
    bool merges =
        !groups.empty() &&
        llvm::all_of(accesses, [&](ArrayRef<int64_t> access) {
          return access[groups.back().carrier] == access[dim] * shape[dim];
        });
    if (merges)
      groups.back() = {groups.back().size * shape[dim], dim};
    else
      groups.push_back({shape[dim], dim});
  }
  return groups;
}

int64_t cleave::getCount(ArrayRef<Group> groups) {
  int64_t count = 1;
  for (const Group &group : groups)
    count *= group.size;
  return count;
}
