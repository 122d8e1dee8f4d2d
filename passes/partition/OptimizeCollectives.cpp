//===- OptimizeCollectives.cpp - fewer and smaller collectives ------------===//
//
// Collectives are not pure (their order matters), so CSE leaves them alone.
// Here all ranks of a mesh run the same program, and what is done to one is
// done to all:
//   * a collective that repeats an earlier one goes;
//   * an all_reduce of which each rank takes its chunk is a reduce_scatter;
//   * a reduce_scatter beside an all_reduce of the same value takes its chunk
//     of that;
//   * a collective whose result nothing reads goes.
// Needs: local programs. Keeps the order of what stays.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/Passes.h"

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

namespace cleave {
#define GEN_PASS_DEF_OPTIMIZECOLLECTIVESPASS
#include "passes/partition/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

bool isCollective(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op);
}

bool areEqual(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         llvm::equal(a->getOperands(), b->getOperands()) &&
         a->getResultTypes() == b->getResultTypes();
}

/// An earlier user of the same operand that does the same.
Operation *findEqual(Operation *op) {
  for (Operation *other : op->getOperand(0).getUsers())
    if (other != op && other->getBlock() == op->getBlock() &&
        other->isBeforeInBlock(op) && areEqual(op, other))
      return other;
  return nullptr;
}

/// take_shard(all_reduce(x)), the only use, over the same axes and an even dim.
void scatterWhatIsTaken(TakeShardOp take) {
  auto all = take.getX().getDefiningOp<AllReduceOp>();
  auto index = take.getIndex().getDefiningOp<AxisIndexOp>();
  if (!all || !index || !all->hasOneUse() || index.getAxes() != all.getAxes() ||
      index.getMesh() != all.getMesh())
    return;
  int64_t size = all.getType().getDimSize(take.getDim());
  int64_t chunk = take.getType().getDimSize(take.getDim());
  if (size % chunk || size / chunk < 2)
    return;
  // An even cut needs as many chunks as ranks; ranks that hold nothing have
  // none.
  auto module = take->getParentOfType<ModuleOp>();
  auto mesh = module.lookupSymbol<MeshOp>(all.getMesh());
  int64_t ranks = 1;
  for (StringRef axis : all.getAxes().getAsValueRange<StringAttr>())
    ranks *= mesh.getMesh().getAxisSize(axis);
  if (size != chunk * ranks)
    return;
  OpBuilder builder(all);
  Value scattered = builder.create<ReduceScatterOp>(
      all.getLoc(), take.getType(), all.getKind(), all.getX(), take.getDim(),
      all.getMesh(), all.getAxes());
  take.replaceAllUsesWith(scattered);
  take.erase();
  all.erase();
}

/// reduce_scatter(x) beside all_reduce(x): one message instead of two.
void takeWhatIsReduced(ReduceScatterOp scatter) {
  for (Operation *user : scatter.getX().getUsers()) {
    auto all = dyn_cast<AllReduceOp>(user);
    if (!all || all->getBlock() != scatter->getBlock() ||
        all.getAxes() != scatter.getAxes() ||
        all.getKind() != scatter.getKind() ||
        all.getMesh() != scatter.getMesh())
      continue;
    if (scatter->isBeforeInBlock(all))
      all->moveBefore(scatter);
    OpBuilder builder(scatter);
    auto scalar = RankedTensorType::get({}, builder.getI64Type());
    Value index = builder.create<AxisIndexOp>(
        scatter.getLoc(), scalar, scatter.getMeshAttr(), scatter.getAxes());
    Value taken = builder.create<TakeShardOp>(
        scatter.getLoc(), scatter.getType(), all.getResult(), index,
        scatter.getDimAttr());
    scatter.replaceAllUsesWith(taken);
    scatter.erase();
    return;
  }
}

void optimize(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto take = dyn_cast<TakeShardOp>(op))
      scatterWhatIsTaken(take);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (auto scatter = dyn_cast<ReduceScatterOp>(op))
      takeWhatIsReduced(scatter);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Operation *earlier = isCollective(&op) ? findEqual(&op) : nullptr;
    if (!earlier)
      continue;
    op.replaceAllUsesWith(earlier);
    op.erase();
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && (isCollective(&op) || isOpTriviallyDead(&op)))
      op.erase();
}

struct OptimizeCollectivesPass
    : cleave::impl::OptimizeCollectivesPassBase<OptimizeCollectivesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        optimize(block);
  }
};

} // namespace
