//===- FormChunks.cpp - what depends on the micro-batch goes into chunks --===//
//
// Needs a local stage function; the index along "mb" appears in axis_index, and
// in the axes of collectives that end the micro-batch's life of a value. Sends
// and receives that carry a micro-batch have `cleave.micro_batch`. Each op is
// one of BEFORE (needs no micro-batch), INSIDE (forward or backward) or AFTER
// (needs a value reduced or gathered over "mb").
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Passes.h"

#include "ir/Cleave.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_FORMCHUNKSPASS
#include "passes/schedule/Passes.h.inc"
} // namespace cleave

namespace {
enum class Part { Before, Forward, Backward, After };

/// What a chunk gives to the outside.
struct Exports {
  SmallVector<Value> inits, carried; ///< parallel; `carried` are yielded
  SmallVector<Value> carriedUses;    ///< what the results replace
  SmallVector<Value> ring;
  SmallVector<Value> stacked, stackedUses;
};

class ChunkFormer {
public:
  ChunkFormer(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh) {}
  LogicalResult run();

private:
  llvm::DenseSet<Operation *> findNeeded();
  LogicalResult classify();
  LogicalResult classifyOp(Operation &op);
  bool isBackward(Operation &op) const;
  LogicalResult splitEnds();
  void formChunk(Part part, StringRef name);
  void moveOps(Part part, Block *body);
  void collectExports(Part part, Block *body, Exports &exports);
  void endByCarry(AllReduceOp op, Block *body, Exports &exports);
  void endByStack(AllGatherOp op, Exports &exports);
  Value makeNeutral(RankedTensorType type, ReduceKind kind, Location loc);

  func::FuncOp function;
  MeshAttr mesh;
  llvm::MapVector<Operation *, Part> parts;
  Operation *anchor = nullptr; ///< chunks go in front of it
};
} // namespace

static ArrayAttr getAxes(Operation *op) {
  return op->getAttrOfType<ArrayAttr>("axes");
}

static bool isOverMicroBatches(Operation *op) {
  ArrayAttr axes = getAxes(op);
  return axes && llvm::is_contained(axes.getAsValueRange<StringAttr>(),
                                    StringRef(MeshAttr::MicroBatchAxis));
}

/// Ends the micro-batch's life of its operand: the result is the same for all.
static bool isEnd(Operation *op) {
  return isOverMicroBatches(op) && !isa<AxisIndexOp>(op);
}

//===-- Classes -----------------------------------------------------------===//

bool ChunkFormer::isBackward(Operation &op) const {
  if (op.hasAttr("cleave.origin"))
    return true;
  return llvm::any_of(op.getOperands(), [&](Value operand) {
    const auto *it = parts.find(operand.getDefiningOp());
    return it != parts.end() && it->second == Part::Backward;
  });
}

LogicalResult ChunkFormer::classifyOp(Operation &op) {
  bool inside = op.hasAttr("cleave.micro_batch") ||
                (isOverMicroBatches(&op) && !isEnd(&op));
  Operation *after = nullptr;
  for (Value operand : op.getOperands()) {
    Operation *def = operand.getDefiningOp();
    const auto *it = parts.find(def);
    if (it == parts.end() || it->second == Part::Before)
      continue;
    bool past = it->second == Part::After || isEnd(def);
    (past ? (after = def, past) : (inside = true));
  }
  if (inside && after) {
    InFlightDiagnostic diag =
        op.emitError()
        << "needs a value of one micro-batch and one reduced over all "
           "micro-batches in the same loop";
    diag.attachNote(after->getLoc()) << "reduced here";
    return failure();
  }
  Part part = inside ? (isBackward(op) ? Part::Backward : Part::Forward)
                     : (after ? Part::After : Part::Before);
  parts[&op] = part;
  return success();
}

/// Ops whose results lead into the loop over micro-batches.
llvm::DenseSet<Operation *> ChunkFormer::findNeeded() {
  llvm::DenseSet<Operation *> inside, needed;
  for (Operation &op : function.front())
    if (op.hasAttr("cleave.micro_batch") ||
        (isOverMicroBatches(&op) && !isEnd(&op)) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return inside.contains(def) && !isEnd(def);
        }))
      inside.insert(&op);
  for (Operation &op : llvm::reverse(function.front()))
    if (inside.contains(&op) ||
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return needed.contains(user); }))
      needed.insert(&op);
  return needed;
}

LogicalResult ChunkFormer::classify() {
  llvm::DenseSet<Operation *> needed = findNeeded();
  for (Operation &op : function.front().without_terminator())
    if (isa<RecvOp>(op) && !needed.contains(&op))
      parts[&op] = Part::After; // its sender may have to end its loop first
    else if (failed(classifyOp(op)))
      return failure();
  return success();
}

/// An end over "mb" and other axes is two collectives: a reduction sums
/// micro-batches first and ranks once, a gather joins ranks in each
/// micro-batch.
LogicalResult ChunkFormer::splitEnds() {
  Builder builder(function.getContext());
  auto mbOnly = builder.getStrArrayAttr({MeshAttr::MicroBatchAxis});
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (!isEnd(&op))
      continue;
    if (!isa<AllReduceOp, AllGatherOp>(op))
      return op.emitOpError() << "over micro-batches is not supported";
    SmallVector<Attribute> others;
    for (auto axis : getAxes(&op).getAsRange<StringAttr>())
      if (axis.getValue() != MeshAttr::MicroBatchAxis)
        others.push_back(axis);
    if (others.empty())
      continue;
    OpBuilder at(&op);
    if (auto reduce = dyn_cast<AllReduceOp>(op)) {
      reduce.setAxesAttr(mbOnly);
      at.setInsertionPointAfter(reduce);
      auto ranks = at.create<AllReduceOp>(reduce.getLoc(), reduce.getKind(),
                                          reduce.getResult(), reduce.getMesh(),
                                          builder.getArrayAttr(others));
      reduce.getResult().replaceAllUsesExcept(ranks.getResult(), ranks);
      continue;
    }
    auto gather = dyn_cast<AllGatherOp>(op);
    bool outermost =
        gather && cast<StringAttr>(getAxes(gather)[0]).getValue() ==
                      MeshAttr::MicroBatchAxis;
    if (!outermost)
      return op.emitOpError()
             << "over micro-batches and ranks at once is not supported";
    SmallVector<int64_t> shape(gather.getX().getType().getShape());
    int64_t whole = gather.getType().getDimSize(gather.getDim());
    shape[gather.getDim()] = whole / mesh.getMicroBatches();
    auto ranks = at.create<AllGatherOp>(
        gather.getLoc(), gather.getType().clone(shape), gather.getX(),
        gather.getDim(), gather.getMesh(), builder.getArrayAttr(others));
    gather.getXMutable().set(ranks);
    gather.setAxesAttr(mbOnly);
  }
  return success();
}

//===-- Chunks ------------------------------------------------------------===//

/// A buffer of neutral elements, made anew each step.
Value ChunkFormer::makeNeutral(RankedTensorType type, ReduceKind kind,
                               Location loc) {
  OpBuilder builder(anchor);
  auto kernel = builder.create<KernelOp>(loc, TypeRange{type}, KernelKind::Loop,
                                         ValueRange());
  builder.createBlock(&kernel.getBody());
  Attribute element = getNeutralElement(kind, type.getElementType());
  Value constant =
      builder.create<ConstantOp>(loc, DenseElementsAttr::get(type, element));
  builder.create<YieldOp>(loc, ValueRange{constant});
  return kernel.getResult(0);
}

void ChunkFormer::moveOps(Part part, Block *body) {
  for (auto &[op, which] : parts)
    if (which == part && !isEnd(op))
      op->moveBefore(body, body->end());
}

void ChunkFormer::endByCarry(AllReduceOp op, Block *body, Exports &exports) {
  RankedTensorType type = op.getType();
  exports.inits.push_back(makeNeutral(type, op.getKind(), op.getLoc()));
  Value carried = body->addArgument(type, op.getLoc());
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToEnd(body); // the body has no parent yet
  exports.carried.push_back(builder.create<BinaryOp>(
      op.getLoc(), type, getCombiningKind(op.getKind(), type.getElementType()),
      carried, op.getX()));
  exports.carriedUses.push_back(op.getResult());
}

void ChunkFormer::endByStack(AllGatherOp op, Exports &exports) {
  exports.stacked.push_back(op.getX());
  exports.stackedUses.push_back(op.getResult());
}

void ChunkFormer::collectExports(Part part, Block *body, Exports &exports) {
  for (auto &[op, which] : parts) {
    if (which != part || !isEnd(op))
      continue;
    if (auto reduce = dyn_cast<AllReduceOp>(op))
      endByCarry(reduce, body, exports);
    else
      endByStack(cast<AllGatherOp>(op), exports);
  }
  llvm::SetVector<Value> ring;
  for (Operation &op : *body)
    for (Value result : op.getResults())
      for (Operation *user : result.getUsers())
        if (user->getBlock() != body && !isEnd(user))
          ring.insert(result);
  exports.ring = ring.takeVector();
}

/// [M, ..., c, ...] -> [..., M * c, ...]: micro-batches joined along `dim`.
static Value joinStack(OpBuilder &builder, Location loc, Value stack,
                       RankedTensorType type, int64_t dim) {
  auto stackType = cast<RankedTensorType>(stack.getType());
  SmallVector<int64_t> perm;
  for (int64_t i = 1; i < stackType.getRank(); ++i)
    perm.push_back(i);
  perm.insert(perm.begin() + dim, 0);
  Value moved = builder.createOrFold<TransposeOp>(
      loc, stack, builder.getDenseI64ArrayAttr(perm));
  return builder.createOrFold<ReshapeOp>(loc, type, moved);
}

void ChunkFormer::formChunk(Part part, StringRef name) {
  if (llvm::none_of(parts, [&](auto &entry) { return entry.second == part; }))
    return;
  Region region;
  Block *body = &region.emplaceBlock();
  moveOps(part, body);
  Exports exports;
  collectExports(part, body, exports);
  SmallVector<Value> yielded(exports.carried);
  llvm::append_range(yielded, exports.ring);
  llvm::append_range(yielded, exports.stacked);
  SmallVector<Type> types;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (i >= yielded.size() - exports.stacked.size())
      shape.insert(shape.begin(), mesh.getMicroBatches());
    types.push_back(type.clone(shape));
  }
  OpBuilder builder(anchor);
  auto chunk = builder.create<ChunkOp>(
      function.getLoc(), types, name, exports.inits, 1, exports.stacked.size());
  chunk.getBody().takeBody(region);
  auto results = chunk.getResults();
  for (auto [use, result] : llvm::zip(exports.carriedUses, results))
    use.replaceAllUsesWith(result);
  for (auto [value, result] :
       llvm::zip(exports.ring, results.drop_front(exports.carried.size())))
    value.replaceUsesWithIf(result, [&](OpOperand &use) {
      return use.getOwner()->getBlock() != body && !isEnd(use.getOwner());
    });
  for (auto [use, result] : llvm::zip(
           exports.stackedUses, results.take_back(exports.stacked.size()))) {
    // Results are there after the schedule.
    builder.setInsertionPointAfter(anchor);
    auto gather = cast<AllGatherOp>(use.getDefiningOp());
    use.replaceAllUsesWith(joinStack(builder, gather.getLoc(), result,
                                     gather.getType(), gather.getDim()));
  }
  OpBuilder::atBlockEnd(body).create<YieldOp>(function.getLoc(), yielded);
}

LogicalResult ChunkFormer::run() {
  if (failed(splitEnds()) || failed(classify()))
    return failure();
  // Chunks stand between what runs before and what runs after.
  OpBuilder builder(function.front().getTerminator());
  anchor =
      builder.create<ScheduleOp>(function.getLoc(), builder.getArrayAttr({}));
  for (auto &[op, part] : parts)
    if (part == Part::After)
      op->moveBefore(function.front().getTerminator());
  formChunk(Part::Forward, "forward");
  formChunk(Part::Backward, "backward");
  for (auto &[op, part] : llvm::reverse(parts))
    if (isEnd(op))
      op->erase();
  anchor->erase();
  return success();
}

namespace {
struct FormChunksPass : cleave::impl::FormChunksPassBase<FormChunksPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto symbol = function->getAttrOfType<FlatSymbolRefAttr>("cleave.mesh");
      auto mesh = symbol
                      ? getOperation().lookupSymbol<MeshOp>(symbol.getValue())
                      : MeshOp();
      if (!mesh || mesh.getMesh().getMicroBatches() == 1)
        continue;
      if (failed(ChunkFormer(function, mesh.getMesh()).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
