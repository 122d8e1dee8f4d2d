//===- OverlapCollectives.cpp - kernels between start and end -------------===//
//
// Collectives keep their order, and no op passes a send, receive or store: all
// ranks of a stage run the same code, so they agree, and what was free of
// deadlock stays so. Kernels that move up give results earlier, which then live
// longer: no more bytes of them than the collective itself has, twice.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Passes.h"

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVESPASS
#include "passes/schedule/Passes.h.inc"
} // namespace cleave

static bool isView(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op);
}

/// Ops that others may pass.
static bool isMovable(Operation *op) {
  return isView(op) || isa<KernelOp, LoadOp, ConstantOp>(op);
}

static double getBytes(ValueRange values) {
  double bytes = 0;
  for (Value value : values)
    bytes += getByteSize(value.getType());
  return bytes;
}

/// What a kernel does, in bytes that memory would move in its time: products do
/// about 16 operations while a byte comes.
static double getWork(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    return 0;
  Work work = kernel.getWork();
  return work.bytesRead + work.bytesWritten + work.flops / 16;
}

namespace {
/// Overlaps one collective with what stands around it in its block.
class Overlapper {
public:
  explicit Overlapper(Operation *collective)
      : collective(collective), block(collective->getBlock()) {}
  void run();

private:
  Operation *findFirstUser() const;
  void moveUp();
  double getWorkBefore(Operation *user) const;
  void fill(Operation *user, double missing);
  bool isReadyAt(Operation *op, Operation *user) const;

  Operation *collective;
  Block *block;
};
} // namespace

Operation *Overlapper::findFirstUser() const {
  Operation *first = nullptr;
  for (Operation *user : collective->getUsers()) {
    Operation *local = block->findAncestorOpInBlock(*user);
    if (!first || local->isBeforeInBlock(first))
      first = local;
  }
  return first;
}

void Overlapper::moveUp() {
  Operation *source = collective->getOperand(0).getDefiningOp();
  Operation *at = collective;
  while (Operation *before = at->getPrevNode()) {
    if (before == source || !isMovable(before))
      break;
    at = before;
  }
  if (at != collective)
    collective->moveBefore(at);
}

double Overlapper::getWorkBefore(Operation *user) const {
  double work = 0;
  for (Operation *op = collective->getNextNode(); op != user;
       op = op->getNextNode())
    work += getWork(op);
  return work;
}

bool Overlapper::isReadyAt(Operation *op, Operation *user) const {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return !source || source->getBlock() != block ||
           (source != collective && source->isBeforeInBlock(user));
  });
}

/// Moves kernels from behind `user` in front of it until `missing` work is
/// done.
void Overlapper::fill(Operation *user, double missing) {
  double room = 2 * getBytes(collective->getResults());
  for (Operation *op = user->getNextNode(); op && missing > 0;) {
    Operation *next = op->getNextNode();
    if (!isMovable(op))
      return;
    if (isReadyAt(op, user)) {
      double bytes = isa<KernelOp>(op) ? getBytes(op->getResults()) : 0;
      if (bytes <= room) {
        op->moveBefore(user);
        room -= bytes;
        missing -= getWork(op);
      }
    }
    op = next;
  }
}

void Overlapper::run() {
  Operation *user = findFirstUser();
  if (!user)
    return;
  moveUp();
  // A collective takes a few times as long as memory takes for its bytes.
  double wanted = 8 * getBytes(collective->getResults());
  double found = getWorkBefore(user);
  if (found < wanted) {
    fill(user, wanted - found);
    found = getWorkBefore(user);
  }
  if (found == 0)
    return;
  OpBuilder builder(user);
  Value result = collective->getResult(0);
  auto done = builder.create<DoneOp>(collective->getLoc(), result.getType(),
                                     result, collective->getOperand(0));
  result.replaceAllUsesExcept(done.getResult(), done);
  collective->setAttr("asynchronous", builder.getUnitAttr());
}

static void overlap(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto chunk = dyn_cast<ChunkOp>(op))
      overlap(chunk.getBody().front());
    if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
      Overlapper(&op).run();
  }
}

namespace {
struct OverlapCollectivesPass
    : cleave::impl::OverlapCollectivesPassBase<OverlapCollectivesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        overlap(function.getBody().front());
  }
};
} // namespace
