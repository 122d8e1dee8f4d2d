//===- AssignBuffers.cpp - give every value its place in memory -----------===//
//
// Needs: resolve-views has run, so every view has strides. Roots (results of
// kernels and collectives) that are no output of the program get arena blocks
// with the span from their definition to the last use of any of their views;
// blocks that may be shared in place are joined first; then the arena is
// packed.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Arena.h"
#include "passes/memory/Layout.h"
#include "passes/memory/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_ASSIGNBUFFERSPASS
#include "passes/memory/Passes.h.inc"
} // namespace cleave

namespace {
/// Where a root lives.
struct Place {
  BufferSpace space;
  int64_t index = 0;
  int64_t block = -1; ///< arena only
  int64_t slots = 1,
          slotBytes = 0; ///< one place per micro-batch, see BufferAttr
};

class Assigner {
public:
  Assigner(func::FuncOp function, bool reuse, bool addInPlace)
      : function(function), reuse(reuse), addInPlace(addInPlace) {}
  LogicalResult run();

private:
  LogicalResult collectLayouts();
  LogicalResult collectLayouts(Block &block);
  void addUse(Value value, Operation *user);
  void placeOutputs();
  void placeChunk(ChunkOp chunk);
  void placeYield(ChunkOp chunk, int64_t number);
  void placePrepare(PrepareOp prepare);
  void placeRoots();
  Place placeRoot(Value root);
  int64_t findInPlace(OpResult result);
  std::optional<int64_t> findState(OpResult result);
  void writeAttributes();
  BufferAttr makeBuffer(Value value);

  func::FuncOp function;
  bool reuse, addInPlace;
  Layouts layouts;
  llvm::DenseMap<Operation *, int64_t> steps;
  llvm::DenseMap<Value, int64_t> lastUse; ///< per root
  llvm::MapVector<Value, Place> places;   ///< per root
  SmallVector<ArenaBlock> blocks;
  llvm::MapVector<StringRef, int64_t> states;
  llvm::DenseMap<Value, StoreOp> stores; ///< by the root of what is stored
  llvm::DenseMap<StringRef, SmallVector<Value>> loads; ///< by state
  int64_t constants = 0;
  int64_t step = 0; ///< number of the next op; in the end, of all
  /// Span in which chunks run; empty without chunks.
  int64_t firstChunk = -1, scheduled = -1;
};
} // namespace

static int64_t getByteWidth(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return (type.getElementTypeBitWidth() + 7) / 8;
}

/// A use in a chunk of what was made outside of it repeats until the last turn.
void Assigner::addUse(Value value, Operation *user) {
  Value root = layouts.get(value).root;
  bool repeats = user->getBlock() != root.getParentBlock();
  int64_t &last = lastUse[root];
  last = std::max(last, repeats ? scheduled : steps[user]);
}

LogicalResult Assigner::collectLayouts(Block &block) {
  for (BlockArgument argument : block.getArguments())
    layouts.addArgument(argument);
  for (Operation &op : block) {
    steps[&op] = step++;
    if (!layouts.add(&op))
      return op.emitOpError() << "is a view that strides cannot express; run "
                                 "cleave-resolve-views first";
    if (auto chunk = dyn_cast<ChunkOp>(op)) {
      firstChunk = firstChunk < 0 ? steps[&op] : firstChunk;
      if (failed(collectLayouts(chunk.getBody().front())))
        return failure();
    }
    if (auto prepare = dyn_cast<PrepareOp>(op))
      if (failed(collectLayouts(prepare.getBody().front())))
        return failure();
    if (isa<ScheduleOp>(op))
      scheduled = steps[&op];
  }
  return success();
}

LogicalResult Assigner::collectLayouts() {
  if (failed(collectLayouts(function.front())))
    return failure();
  function.walk([&](Operation *op) {
    bool isInKernel = op->getParentOfType<KernelOp>() != nullptr;
    if (op != function && !isInKernel)
      for (Value operand : op->getOperands())
        addUse(operand, op);
    // A store is in force at the end of the step: its value lives until then.
    if (auto store = dyn_cast<StoreOp>(op)) {
      lastUse[layouts.get(store.getValue()).root] = step;
      stores[layouts.get(store.getValue()).root] = store;
    }
    if (auto load = dyn_cast<LoadOp>(op))
      loads[load.getSymbol()].push_back(load.getResult());
  });
  return success();
}

/// What the program returns is stored where the caller wants it, in each step.
void Assigner::placeOutputs() {
  Operation *ret = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
    Value root = layouts.get(value).root;
    if (!root.getDefiningOp<PrepareOp>())
      places[root] = {BufferSpace::Output, static_cast<int64_t>(i)};
  }
}

/// Whether argument `number` is only added to the result of a convolution.
static bool isSummand(KernelOp kernel, unsigned number) {
  Value argument = kernel.getBody().getArgument(number);
  if (kernel.getKind() != KernelKind::Conv || !argument.hasOneUse())
    return false;
  auto add = dyn_cast<BinaryOp>(*argument.getUsers().begin());
  return add && add.getKind() == BinaryKind::Add;
}

/// Whether the body reads argument `number` only element by element, at the
/// element that it computes.
static bool isReadInPlace(KernelOp kernel, unsigned number, bool addInPlace) {
  if (addInPlace && isSummand(kernel, number))
    return true;
  if (kernel.getKind() != KernelKind::Loop)
    return false;
  Block &body = kernel.getBody().front();
  for (Operation &op : body) {
    bool elementwise = op.hasTrait<OpTrait::Elementwise>() || isa<YieldOp>(op);
    bool unrelated =
        isa<BroadcastOp, ConstantOp>(op) &&
        !llvm::is_contained(op.getOperands(), body.getArgument(number));
    if (!elementwise && !unrelated)
      return false;
    // A broadcast must not see the argument through other ops either.
    if (isa<BroadcastOp>(op) && !isa<BlockArgument>(op.getOperand(0)) &&
        !op.getOperand(0).getDefiningOp<ConstantOp>())
      return false;
  }
  return true;
}

/// The arena block that `result` may overwrite: one of an operand that dies at
/// this op and has the same layout. -1: none.
int64_t Assigner::findInPlace(OpResult result) {
  Operation *op = result.getOwner();
  auto kernel = dyn_cast<KernelOp>(op);
  if (!reuse || !(kernel || isa<AllReduceOp>(op)) || isAsynchronous(op) ||
      op->getNumResults() != 1)
    return -1;
  for (OpOperand &operand : op->getOpOperands()) {
    const Layout &source = layouts.get(operand.get());
    auto *it = places.find(source.root);
    bool dies = it != places.end() && it->second.space == BufferSpace::Arena &&
                it->second.slots == 1 && !isa<BlockArgument>(source.root) &&
                !isa<ChunkOp>(source.root.getDefiningOp()) &&
                lastUse[source.root] == steps[op];
    bool same = operand.get().getType() == result.getType() &&
                source.view.offset == 0 &&
                source.root.getType() == operand.get().getType() &&
                source.view.strides == layouts.get(result).view.strides;
    bool once = llvm::count_if(op->getOperands(), [&](Value other) {
                  return layouts.get(other).root == source.root;
                }) == 1;
    if (dies && same && once &&
        (!kernel ||
         isReadInPlace(kernel, operand.getOperandNumber(), addInPlace)))
      return it->second.block;
  }
  return -1;
}

/// The state to which `result` is stored, if it may be written there at once:
/// no one reads the old value later, and this kernel element by element.
std::optional<int64_t> Assigner::findState(OpResult result) {
  StoreOp store = stores.lookup(result);
  auto kernel = dyn_cast<KernelOp>(result.getOwner());
  if (!reuse || !store || !kernel || kernel->getBlock() != store->getBlock())
    return std::nullopt;
  const StridedView &view = layouts.get(result).view;
  auto *state = states.find(store.getSymbol());
  if (state == states.end() || store.getValue().getType() != result.getType() ||
      layouts.get(store.getValue()).view.strides != view.strides ||
      !isDense(view.shape, view.strides))
    return std::nullopt;
  ArrayRef<Value> olds = loads[store.getSymbol()];
  if (llvm::any_of(
          olds, [&](Value old) { return lastUse.lookup(old) > steps[kernel]; }))
    return std::nullopt;
  bool isRead = false;
  for (OpOperand &operand : kernel->getOpOperands()) {
    const Layout &source = layouts.get(operand.get());
    if (!llvm::is_contained(olds, source.root))
      continue;
    if (isRead || source.view.offset != 0 ||
        source.view.strides != view.strides ||
        operand.get().getType() != result.getType() ||
        !isReadInPlace(kernel, operand.getOperandNumber(), addInPlace))
      return std::nullopt;
    isRead = true;
  }
  return state->second;
}

Place Assigner::placeRoot(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return {BufferSpace::Input, argument.getArgNumber()};
  Operation *op = root.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto [it, isNew] =
        states.insert({load.getSymbol(), static_cast<int64_t>(states.size())});
    return {BufferSpace::State, it->second};
  }
  if (isa<ConstantOp>(op))
    return {BufferSpace::Constant, constants++};
  int64_t first = steps[op];
  int64_t last = std::max(first, lastUse.lookup(root));
  // What lives at the schedule must not lie where a chunk that stands before
  // works.
  if (firstChunk >= 0 && op->getBlock() == &function.front() &&
      last >= scheduled && first < scheduled)
    first = std::min(first, firstChunk);
  if (std::optional<int64_t> state = findState(cast<OpResult>(root)))
    return {BufferSpace::State, *state};
  if (int64_t block = findInPlace(cast<OpResult>(root)); block >= 0) {
    blocks[block].last = std::max(blocks[block].last, last);
    return {BufferSpace::Arena, 0, block};
  }
  int64_t bytes = getExtent(layouts.get(root).view) * getByteWidth(root);
  blocks.push_back(
      {std::max<int64_t>(bytes, 1), reuse ? first : 0, reuse ? last : step, 0});
  return {BufferSpace::Arena, 0, static_cast<int64_t>(blocks.size()) - 1};
}

/// A value that a kernel or collective of the chunk makes lies at once where
/// the other chunks look for it.
void Assigner::placeYield(ChunkOp chunk, int64_t number) {
  Operation *yield = chunk.getBody().front().getTerminator();
  const Layout &layout = layouts.get(yield->getOperand(number));
  Operation *op = layout.root.getDefiningOp();
  bool own = op && op->getBlock() == yield->getBlock() &&
             !isa<LoadOp, ConstantOp, AxisIndexOp>(op) &&
             layout.root.getType() == yield->getOperand(number).getType() &&
             isDense(layout.view.shape, layout.view.strides) &&
             !places.count(layout.root);
  if (!own)
    return;
  Place place = places.find(chunk.getResult(number))->second;
  if (number >=
      chunk.getNumResults() - static_cast<int64_t>(chunk.getStacked())) {
    auto stack = cast<RankedTensorType>(chunk.getResult(number).getType());
    place.slots = stack.getDimSize(0);
    place.slotBytes = getByteSize(stack) / place.slots;
  }
  places[layout.root] = place;
}

/// Results live while chunks run and until their last use.
void Assigner::placeChunk(ChunkOp chunk) {
  size_t carried = chunk.getInits().size();
  size_t stacked = chunk.getNumResults() - chunk.getStacked();
  for (auto [i, result] : llvm::enumerate(chunk.getResults())) {
    if (!places.count(result)) {
      int64_t bytes = getByteSize(result.getType());
      Place place{BufferSpace::Arena, 0, static_cast<int64_t>(blocks.size())};
      if (i >= carried && i < stacked && chunk.getSlots() > 1) {
        place.slots = chunk.getSlots();
        place.slotBytes = llvm::alignTo(bytes, ArenaAlignment);
        bytes = place.slots * place.slotBytes;
      }
      int64_t last = std::max(scheduled, lastUse.lookup(result));
      blocks.push_back({std::max<int64_t>(bytes, 1), reuse ? firstChunk : 0,
                        reuse ? last : step, 0});
      places[result] = place;
    }
    Place place = places[result];
    if (i < carried)
      places[chunk.getBody().getArgument(i)] = place;
    else
      placeYield(chunk, i);
  }
}

/// Results are there in every step, so nothing else lies where they do. What
/// makes one puts it there at once.
void Assigner::placePrepare(PrepareOp prepare) {
  Operation *yield = prepare.getBody().front().getTerminator();
  for (auto [value, result] :
       llvm::zip(yield->getOperands(), prepare.getResults())) {
    Place place{BufferSpace::Arena, 0, static_cast<int64_t>(blocks.size())};
    blocks.push_back(
        {std::max<int64_t>(getByteSize(result.getType()), 1), 0, step, 0});
    places[result] = place;
    lastUse[result] = step;
    if (layouts.get(value).root == value && !places.count(value))
      places[value] = place;
  }
}

void Assigner::placeRoots() {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto chunk = dyn_cast<ChunkOp>(op))
      placeChunk(chunk);
    if (auto prepare = dyn_cast<PrepareOp>(op))
      placePrepare(prepare);
    if (op == function)
      for (BlockArgument argument : function.getArguments())
        places[argument] = placeRoot(argument);
    for (Value result : op->getResults())
      if (layouts.get(result).root == result && !places.count(result)) {
        Place place = placeRoot(result);
        places[result] = place;
      }
    return isa<KernelOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
}

BufferAttr Assigner::makeBuffer(Value value) {
  const Layout &layout = layouts.get(value);
  const Place &place = places.find(layout.root)->second;
  int64_t offset = layout.view.offset * getByteWidth(value);
  if (place.block >= 0)
    offset += blocks[place.block].offset;
  return BufferAttr::get(function.getContext(), place.space, place.index,
                         offset, layout.view.strides, place.slots,
                         place.slotBytes);
}

void Assigner::writeAttributes() {
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments())
    function.setArgAttr(argument.getArgNumber(), BufferAttrName,
                        makeBuffer(argument));
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    op->removeAttr(OrdersAttrName);
    op->removeAttr(PaddingAttrName);
    SmallVector<Attribute> buffers;
    for (Value result : op->getResults())
      buffers.push_back(makeBuffer(result));
    if (!buffers.empty())
      op->setAttr("cleave.buffers", builder.getArrayAttr(buffers));
    return isa<KernelOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (auto [i, value] :
       llvm::enumerate(function.front().getTerminator()->getOperands()))
    function.setResultAttr(i, BufferAttrName, makeBuffer(value));
}

LogicalResult Assigner::run() {
  if (failed(collectLayouts()))
    return failure();
  placeOutputs();
  placeRoots();
  int64_t bytes = placeBlocks(blocks);
  writeAttributes();
  Builder builder(function.getContext());
  function->setAttr("cleave.arena_bytes", builder.getI64IntegerAttr(bytes));
  function->setAttr("cleave.live_bytes",
                    builder.getI64IntegerAttr(getLivenessBound(blocks)));
  if (auto overlap = findOverlap(blocks))
    return function.emitError()
           << "arena blocks " << overlap->first << " and " << overlap->second
           << " share bytes while both live";
  return success();
}

namespace {
struct AssignBuffersPass
    : cleave::impl::AssignBuffersPassBase<AssignBuffersPass> {
  using AssignBuffersPassBase::AssignBuffersPassBase;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          failed(Assigner(function, reuse, addInPlace).run()))
        return signalPassFailure();
  }
};
} // namespace
