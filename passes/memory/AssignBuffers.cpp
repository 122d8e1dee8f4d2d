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
};

class Assigner {
public:
  Assigner(func::FuncOp function, bool reuse)
      : function(function), reuse(reuse) {}
  LogicalResult run();

private:
  LogicalResult collectLayouts();
  void placeOutputs();
  void placeRoots();
  Place placeRoot(Value root);
  int64_t findInPlace(OpResult result);
  void writeAttributes();
  BufferAttr makeBuffer(Value value);

  func::FuncOp function;
  bool reuse;
  Layouts layouts;
  llvm::DenseMap<Operation *, int64_t> steps;
  llvm::DenseMap<Value, int64_t> lastUse; ///< per root
  llvm::MapVector<Value, Place> places;   ///< per root
  SmallVector<ArenaBlock> blocks;
  llvm::MapVector<StringRef, int64_t> states;
  int64_t constants = 0;
};
} // namespace

static int64_t getByteWidth(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return (type.getElementTypeBitWidth() + 7) / 8;
}

LogicalResult Assigner::collectLayouts() {
  for (BlockArgument argument : function.getArguments())
    layouts.addArgument(argument);
  int64_t step = 0;
  for (Operation &op : function.front()) {
    steps[&op] = step;
    if (!layouts.add(&op))
      return op.emitOpError() << "is a view that strides cannot express; run "
                                 "cleave-resolve-views first";
    for (Value operand : op.getOperands())
      lastUse[layouts.get(operand).root] = step;
    ++step;
  }
  // A store is in force at the end of the step: its value lives until then.
  for (auto store : function.getOps<StoreOp>())
    lastUse[layouts.get(store.getValue()).root] = step;
  return success();
}

/// What the program returns is stored where the caller wants it.
void Assigner::placeOutputs() {
  Operation *ret = function.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(ret->getOperands()))
    places[layouts.get(value).root] = {BufferSpace::Output,
                                       static_cast<int64_t>(i)};
}

/// Whether the body reads argument `number` only element by element, at the
/// element that it computes.
static bool isReadInPlace(KernelOp kernel, unsigned number) {
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
  if (!reuse || !(kernel || isa<AllReduceOp>(op)) || op->getNumResults() != 1)
    return -1;
  for (OpOperand &operand : op->getOpOperands()) {
    const Layout &source = layouts.get(operand.get());
    auto it = places.find(source.root);
    bool dies = it != places.end() && it->second.space == BufferSpace::Arena &&
                lastUse[source.root] == steps[op];
    bool same = operand.get().getType() == result.getType() &&
                source.view.offset == 0 &&
                source.root.getType() == operand.get().getType() &&
                source.view.strides == layouts.get(result).view.strides;
    bool once = llvm::count_if(op->getOperands(), [&](Value other) {
                  return layouts.get(other).root == source.root;
                }) == 1;
    if (dies && same && once &&
        (!kernel || isReadInPlace(kernel, operand.getOperandNumber())))
      return it->second.block;
  }
  return -1;
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
  int64_t last = lastUse.count(root) ? lastUse[root] : first;
  if (int64_t block = findInPlace(cast<OpResult>(root)); block >= 0) {
    blocks[block].last = std::max(blocks[block].last, last);
    return {BufferSpace::Arena, 0, block};
  }
  int64_t bytes = cast<RankedTensorType>(root.getType()).getNumElements() *
                  getByteWidth(root);
  blocks.push_back({std::max<int64_t>(bytes, 1), reuse ? first : 0,
                    reuse ? last : static_cast<int64_t>(steps.size()), 0});
  return {BufferSpace::Arena, 0, static_cast<int64_t>(blocks.size()) - 1};
}

void Assigner::placeRoots() {
  auto place = [&](Value value) {
    if (layouts.get(value).root == value && !places.count(value)) {
      Place found = placeRoot(value);
      places[value] = found;
    }
  };
  for (BlockArgument argument : function.getArguments())
    place(argument);
  for (Operation &op : function.front())
    for (Value result : op.getResults())
      place(result);
}

BufferAttr Assigner::makeBuffer(Value value) {
  const Layout &layout = layouts.get(value);
  const Place &place = places.find(layout.root)->second;
  int64_t offset = layout.view.offset * getByteWidth(value);
  if (place.block >= 0)
    offset += blocks[place.block].offset;
  return BufferAttr::get(function.getContext(), place.space, place.index,
                         offset, layout.view.strides);
}

void Assigner::writeAttributes() {
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments())
    function.setArgAttr(argument.getArgNumber(), BufferAttrName,
                        makeBuffer(argument));
  for (Operation &op : function.front()) {
    op.removeAttr(OrdersAttrName);
    if (op.getNumResults() == 0)
      continue;
    SmallVector<Attribute> buffers;
    for (Value result : op.getResults())
      buffers.push_back(makeBuffer(result));
    op.setAttr("cleave.buffers", builder.getArrayAttr(buffers));
  }
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
      if (!function.isExternal() && failed(Assigner(function, reuse).run()))
        return signalPassFailure();
  }
};
} // namespace
