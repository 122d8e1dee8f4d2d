//===- ResolveViews.cpp - make every view one that strides can express ----===//
//
// Two steps a function. First the order of stored results: a kernel whose
// result is only read through one transpose stores it transposed. Then a walk
// in order with the layouts known so far, that adds a copy kernel in front of
// an operand that must be dense, or whose dims must join, and is not so. Equal
// copies are made once.
//
// Convolutions store channels last, the layout of oneDNN's fast code, and the
// elementwise and pooling kernels behind them follow; unless told otherwise.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Layout.h"
#include "passes/memory/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_RESOLVEVIEWSPASS
#include "passes/memory/Passes.h.inc"
} // namespace cleave

//===-- Order of stored results -------------------------------------------===//

/// The permutation of the transposes that are the only users of `value`; empty
/// if they differ or others read it.
static ArrayRef<int64_t> getCommonTranspose(Value value) {
  ArrayRef<int64_t> perm;
  for (Operation *user : value.getUsers()) {
    auto transpose = dyn_cast<TransposeOp>(user);
    if (!transpose || (!perm.empty() && perm != transpose.getPerm()))
      return {};
    perm = transpose.getPerm();
  }
  return perm;
}

static int64_t getRank(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// Sets the order in which a kernel stores its only result.
static void setOrder(KernelOp kernel, ArrayRef<int64_t> order) {
  Builder builder(kernel.getContext());
  kernel->setAttr(OrdersAttrName,
                  builder.getArrayAttr({builder.getDenseI64ArrayAttr(order)}));
}

/// Attention stores rows of any order of the outer dims; so does a loop kernel
/// as long as the innermost dim stays innermost.
static void chooseOrders(KernelOp kernel, bool channelsLast) {
  if (kernel.getKind() == KernelKind::Conv && channelsLast)
    return setOrder(kernel, getChannelsLast(getRank(kernel.getResult(0))));
  bool free = kernel.getKind() == KernelKind::Attention ||
              kernel.getKind() == KernelKind::Loop;
  if (!free || kernel.getNumResults() != 1 || kernel->hasAttr(OrdersAttrName))
    return;
  ArrayRef<int64_t> perm = getCommonTranspose(kernel.getResult(0));
  if (perm.empty() || perm.back() != static_cast<int64_t>(perm.size()) - 1)
    return;
  setOrder(kernel, perm);
}

//===-- Copies ----------------------------------------------------------===//

namespace {
/// Walks one function.
class Resolver {
public:
  Resolver(func::FuncOp function, bool channelsLast)
      : function(function), channelsLast(channelsLast) {}
  void run();

private:
  void visit(Operation *op);
  void visitBlock(Block &block);
  void visitMatmul(KernelOp kernel);
  void visitConv(KernelOp kernel);
  bool isChannelsLast(Value value) const;
  void followOperands(KernelOp kernel);
  void visitReturn(func::ReturnOp op);
  void makeDense(OpOperand &operand);
  Value copyBefore(Operation *user, Value value, ArrayRef<int64_t> order);

  func::FuncOp function;
  bool channelsLast; ///< of convolutions
  Layouts layouts;
  /// By the block they are for, the value and the order.
  llvm::DenseMap<std::pair<Block *, std::pair<Value, Attribute>>, Value> copies;
};
} // namespace

/// A loop kernel that stores `value` with its dims in `order`. It stands where
/// the value is made, so that all users in the block share it; what a chunk
/// gives is there only after the schedule, or in another chunk.
Value Resolver::copyBefore(Operation *user, Value value,
                           ArrayRef<int64_t> order) {
  OpBuilder builder(user);
  auto orderAttr = builder.getDenseI64ArrayAttr(order);
  Value &copy = copies[{user->getBlock(), {value, orderAttr}}];
  if (copy)
    return copy;
  if (!value.getDefiningOp<ChunkOp>())
    builder.setInsertionPointAfterValue(value);
  auto kernel =
      builder.create<KernelOp>(value.getLoc(), TypeRange{value.getType()},
                               KernelKind::Loop, ValueRange{value});
  kernel->setAttr(OrdersAttrName, builder.getArrayAttr({orderAttr}));
  Block *body = builder.createBlock(&kernel.getBody(), {}, {value.getType()},
                                    {value.getLoc()});
  Value inner = builder.create<CopyOp>(value.getLoc(), body->getArgument(0));
  builder.create<YieldOp>(value.getLoc(), ValueRange{inner});
  bool added = layouts.add(kernel);
  assert(added && "a kernel is no view");
  (void)added;
  return copy = kernel.getResult(0);
}

static SmallVector<int64_t> getRowMajor(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

void Resolver::makeDense(OpOperand &operand) {
  Value value = operand.get();
  const StridedView &view = layouts.get(value).view;
  if (!isDense(view.shape, view.strides))
    operand.set(copyBefore(operand.getOwner(), value, getRowMajor(value)));
}

/// View of a value of a kernel's body in terms of one operand; none where the
/// body computes it.
static std::optional<std::pair<unsigned, StridedView>>
traceBody(const Layouts &layouts, KernelOp kernel, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return std::pair(
        argument.getArgNumber(),
        layouts.get(kernel.getInputs()[argument.getArgNumber()]).view);
  Operation *op = value.getDefiningOp();
  if (!isViewOp(op))
    return std::nullopt;
  auto source = traceBody(layouts, kernel, op->getOperand(0));
  std::optional<StridedView> view;
  if (source)
    view = applyView(op, source->second);
  if (!view)
    return std::nullopt;
  return std::pair(source->first, *view);
}

/// Copies an operand of a product whose free or contracting dims do not join.
void Resolver::visitMatmul(KernelOp kernel) {
  auto dots = kernel.getBody().front().getOps<DotOp>();
  if (dots.empty())
    return;
  DotOp dot = *dots.begin();
  auto fix = [&](Value side, ArrayRef<int64_t> batch, ArrayRef<int64_t> free,
                 ArrayRef<int64_t> contract) {
    auto source = traceBody(layouts, kernel, side);
    auto argument = dyn_cast<BlockArgument>(side);
    if (!source || !argument || fitsLibrary(source->second, free, contract))
      return;
    SmallVector<int64_t> order(batch);
    order.append(free.begin(), free.end());
    order.append(contract.begin(), contract.end());
    OpOperand &operand = kernel.getInputsMutable()[argument.getArgNumber()];
    operand.set(copyBefore(kernel, operand.get(), order));
  };
  fix(dot.getLhs(), dot.getLhsBatch(), dot.getLhsFree(), dot.getLhsContract());
  fix(dot.getRhs(), dot.getRhsBatch(), dot.getRhsFree(), dot.getRhsContract());
}

/// Whether the value is an image batch whose channels lie together.
bool Resolver::isChannelsLast(Value value) const {
  const StridedView &view = layouts.get(value).view;
  return view.shape.size() >= 3 &&
         view.isDenseIn(getChannelsLast(view.shape.size()));
}

/// Takes operands row-major or, if their dims are those of the images, with
/// channels last.
void Resolver::visitConv(KernelOp kernel) {
  for (OpOperand &operand : kernel->getOpOperands())
    if (!isa_and_nonnull<BroadcastOp>(operand.get().getDefiningOp()) &&
        !(channelsLast && isChannelsLast(operand.get())))
      makeDense(operand);
}

/// Where an image comes in with its channels last, one goes out like that.
void Resolver::followOperands(KernelOp kernel) {
  if (kernel.getNumResults() != 1 || kernel->hasAttr(OrdersAttrName))
    return;
  int64_t rank = getRank(kernel.getResult(0));
  auto leads = [&](Value operand) {
    const StridedView &view = layouts.get(operand).view;
    return getRank(operand) == rank && isChannelsLast(operand) &&
           !isDense(view.shape, view.strides);
  };
  if (llvm::any_of(kernel.getInputs(), leads))
    setOrder(kernel, getChannelsLast(rank));
}

/// A result of the program is stored by the kernel that makes it, once;
/// anything else is copied.
void Resolver::visitReturn(func::ReturnOp op) {
  llvm::SmallDenseSet<Value> taken;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    const Layout &layout = layouts.get(value);
    Operation *owner = layout.root.getDefiningOp();
    bool own = owner && !isa<LoadOp, ConstantOp, AxisIndexOp>(owner) &&
               isDense(layout.view.shape, layout.view.strides) &&
               layout.view.offset == 0 &&
               cast<RankedTensorType>(layout.root.getType()).getNumElements() ==
                   cast<RankedTensorType>(value.getType()).getNumElements();
    if (own && taken.insert(layout.root).second)
      continue;
    auto order = Builder(op).getDenseI64ArrayAttr(getRowMajor(value));
    copies.erase({op->getBlock(), {value, order}});
    operand.set(copyBefore(op, value, getRowMajor(value)));
    taken.insert(operand.get());
  }
}

void Resolver::visit(Operation *op) {
  // The collective may take a copy by now.
  if (auto done = dyn_cast<DoneOp>(op))
    done.getXMutable().set(done.getStarted().getDefiningOp()->getOperand(0));
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    if (kernel.getKind() == KernelKind::Matmul)
      visitMatmul(kernel);
    if (kernel.getKind() == KernelKind::Conv ||
        kernel.getKind() == KernelKind::ConvWeightGrad)
      visitConv(kernel);
    if (kernel.getKind() == KernelKind::Loop)
      followOperands(kernel);
  } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    visitReturn(ret);
  } else if (!isViewOp(op)) {
    for (OpOperand &operand : op->getOpOperands())
      makeDense(operand);
  }
  if (!layouts.add(op)) {
    makeDense(op->getOpOperand(0));
    bool added = layouts.add(op);
    assert(added && "a dense tensor has every view");
    (void)added;
  }
}

void Resolver::visitBlock(Block &block) {
  for (auto kernel : block.getOps<KernelOp>())
    chooseOrders(kernel, channelsLast);
  for (BlockArgument argument : block.getArguments())
    layouts.addArgument(argument);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    visit(&op);
    if (auto chunk = dyn_cast<ChunkOp>(op))
      visitBlock(chunk.getBody().front());
  }
}

void Resolver::run() { visitBlock(function.front()); }

namespace {
struct ResolveViewsPass : cleave::impl::ResolveViewsPassBase<ResolveViewsPass> {
  using ResolveViewsPassBase::ResolveViewsPassBase;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        Resolver(function, channelsLast).run();
  }
};
} // namespace
