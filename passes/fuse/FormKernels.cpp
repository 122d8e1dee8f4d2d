//===- FormKernels.cpp - outline groups of ops into kernels ---------------===//
//
// Needs rank programs: local ops in functions, and in the chunks of schedules.
// Guarantees that what needs code is in exactly one kernel, that kernels stand
// in an order in which every value is made before it is used, that
// collectives keep theirs, and that stores stand at the end. Refuses ops that
// no kernel can hold.
//
// A kernel takes in the broadcasts that its elementwise ops read, and constants
// that are splats or small; everything else that it reads is an operand.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Grouping.h"
#include "passes/fuse/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/fuse/Passes.h.inc"
} // namespace cleave

//===-- Outlining --------------------------------------------------------===//

/// Arrays up to this size are better in the code than in memory.
static constexpr int64_t SmallArray = 64;

/// Whether the kernel computes this operand of `user` itself from its source.
static bool isTakenIn(const Group &group, Operation *user, Value operand) {
  Operation *op = operand.getDefiningOp();
  if (!op || isa<AttentionOp, DotOp, ConvOp, ConvWeightGradOp, ResizeOp>(user))
    return false;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    bool isSmall = constant.getType().getNumElements() <= SmallArray;
    bool isLibrary =
        group.kind == KernelKind::Matmul || group.kind == KernelKind::Conv;
    return isa<SplatElementsAttr>(constant.getValue()) ||
           (isSmall && !isLibrary &&
            isa<DenseElementsAttr>(constant.getValue()));
  }
  return isa<BroadcastOp>(op);
}

namespace {
/// Makes one kernel of one group.
class Outliner {
public:
  explicit Outliner(const Group &group) : group(group) {
    for (Operation *op : group.ops)
      collect(op);
  }
  void run();

private:
  void collect(Operation *op);

  const Group &group;
  llvm::SetVector<Operation *> body; ///< in an order of definition
  llvm::SetVector<Value> operands;
};
} // namespace

/// Adds `op`, and before it what the kernel takes in for it.
void Outliner::collect(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (llvm::is_contained(group.ops, producer))
      continue;
    if (isTakenIn(group, op, operand))
      collect(producer);
    else
      operands.insert(operand);
  }
  body.insert(op);
}

void Outliner::run() {
  SmallVector<Value> results;
  for (Operation *op : group.ops) {
    bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !llvm::is_contained(group.ops, user);
    });
    if (isRead)
      results.push_back(op->getResult(0));
  }
  OpBuilder builder(group.ops.back());
  Location loc = group.root->getLoc();
  auto types = llvm::to_vector(TypeRange(ValueRange(results)));
  auto kernel =
      builder.create<KernelOp>(loc, types, group.kind, operands.getArrayRef());
  Block *block = builder.createBlock(&kernel.getBody());
  IRMapping map;
  for (Value operand : operands)
    map.map(operand, block->addArgument(operand.getType(), operand.getLoc()));
  for (Operation *op : body)
    builder.clone(*op, map);
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(map.lookup(result));
  builder.create<YieldOp>(loc, yielded);
  for (auto [result, replacement] : llvm::zip(results, kernel.getResults()))
    result.replaceAllUsesWith(replacement);
  for (Operation *op : llvm::reverse(group.ops))
    op->erase();
}

//===-- Order ------------------------------------------------------------===//

/// What needs no operand stands first, so that any kernel may read it.
static void hoistSources(Block &block) {
  Operation *last = nullptr;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<LoadOp, ConstantOp, AxisIndexOp>(op))
      continue;
    if (last)
      op.moveAfter(last);
    else
      op.moveBefore(&block, block.begin());
    last = &op;
  }
}

/// Stores are in force at the end of the step, wherever they stand: at the end
/// they keep no two ops apart.
static void sinkStores(Block &block) {
  for (StoreOp store : llvm::to_vector(block.getOps<StoreOp>()))
    store->moveBefore(block.getTerminator());
}

/// A kernel stands where its last op stood: views of its results go behind it.
/// Views and constants that nobody reads any more go away.
static void placeViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && (isView(&op) || isa<ConstantOp>(op)))
      op.erase();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Operation *source =
        isView(&op) ? op.getOperand(0).getDefiningOp() : nullptr;
    if (source && source->getBlock() == &block && op.isBeforeInBlock(source))
      op.moveAfter(source);
  }
}

/// Removes local ops whose results nobody reads.
static void removeUnused(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (needsCode(&op) && op.use_empty())
      op.erase();
}

static LogicalResult verifyOps(Block &block) {
  for (Operation &op : block) {
    bool isKnown =
        needsCode(&op) || isView(&op) || op.hasTrait<OpTrait::IsTerminator>() ||
        isa<LoadOp, StoreOp, ConstantOp, AxisIndexOp, AllReduceOp, AllGatherOp,
            ReduceScatterOp, AllToAllOp, SendOp, RecvOp, KernelOp>(op) ||
        op.getNumRegions() || op.getNumResults() == 0;
    if (!isKnown)
      return op.emitOpError()
             << "cannot be part of a kernel: it is no local op";
  }
  return success();
}

//===-- Pass -------------------------------------------------------------===//

/// Forms the kernels of a block and of the blocks inside of its ops.
static LogicalResult formKernels(Block &block) {
  if (failed(verifyOps(block)))
    return failure();
  for (Operation &op : block)
    if (!isa<KernelOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (failed(formKernels(inner)))
            return failure();
  removeUnused(block);
  hoistSources(block);
  sinkStores(block);
  for (const Group &group : Grouping(block).run())
    Outliner(group).run();
  placeViews(block);
  return success();
}

namespace {
class FormKernelsPass
    : public cleave::impl::FormKernelsPassBase<FormKernelsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (Block &block : function.getBody())
        if (failed(formKernels(block)))
          return signalPassFailure();
  }
};
} // namespace
