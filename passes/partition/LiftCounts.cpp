//===- LiftCounts.cpp - counts over all micro-batches at once -------------===//
//
// A value that micro-batches need and that is reduced over all of them, as the
// number of labels that count, would have to be there before their loop begins.
// Where it comes from inputs alone, by a few ops, these are computed once more,
// on whole inputs and on every rank. Needs complete shardings. What is larger,
// or comes from products, stays as it is.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/Passes.h"
#include "passes/partition/ValueSharding.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace cleave {
#define GEN_PASS_DEF_LIFTCOUNTSPASS
#include "passes/partition/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

/// More ops than this are no count.
static constexpr size_t MaxOps = 64;

/// Whether each micro-batch has its own part of the value.
static bool isPerPart(Value value) {
  ShardingAttr sharding = getSharding(value);
  return sharding && llvm::any_of(sharding.getDims(), [](DimShardingAttr dim) {
           return llvm::any_of(dim.getAxes(), [](StringAttr axis) {
             return axis.getValue() == MeshAttr::MicroBatchAxis;
           });
         });
}

/// Adds the ops that make `value`, sources too; false if they cannot be lifted.
static bool collect(Value value, llvm::SetVector<Operation *> &ops,
                    bool &isReduced) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    isReduced |= isPerPart(value);
    return true;
  }
  if (ops.contains(op))
    return true;
  auto work = dyn_cast<WorkOpInterface>(op);
  if (!work || !isMemoryEffectFree(op) || work.getWork().isProduct ||
      ops.size() == MaxOps)
    return false;
  for (Value operand : op->getOperands())
    if (!collect(operand, ops, isReduced))
      return false;
  ops.insert(op);
  return true;
}

/// Computes `value` for `user` from whole inputs.
static void lift(OpOperand &use, const llvm::SetVector<Operation *> &ops) {
  OpBuilder builder(use.getOwner());
  IRMapping map;
  for (Operation *op : ops) {
    Operation *copy = builder.clone(*op, map);
    if (isa<LoadOp>(op))
      continue;
    for (Value result : copy->getResults())
      setSharding(result,
                  ShardingAttr::getReplicated(
                      getSharding(result).getMesh(),
                      cast<RankedTensorType>(result.getType()).getRank()));
  }
  use.set(map.lookup(use.get()));
}

namespace {
struct LiftCountsPass : cleave::impl::LiftCountsPassBase<LiftCountsPass> {
  void runOnOperation() override {
    func::FuncOp main = getMain(getOperation());
    if (!main)
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(main.front())) {
      if (!llvm::any_of(op.getResults(), isPerPart))
        continue;
      for (OpOperand &use : op.getOpOperands()) {
        llvm::SetVector<Operation *> ops;
        bool isReduced = false;
        if (!isPerPart(use.get()) && collect(use.get(), ops, isReduced) &&
            isReduced)
          lift(use, ops);
      }
    }
  }
};
} // namespace
