//===- FormPrepare.cpp - what needs no input runs once --------------------===//
//
// Needs kernels with resolved views, no memory yet. A kernel is constant when
// all that it reads comes from states that neither the function stores nor a
// run sets, or from arrays. From the end to the start, so that users are
// decided first, a constant kernel stays in the step if it would give more than
// it reads and the step reads it; what the step then reads of the rest are the
// results of the prepare. Loads, constants, indices and views that kernels need
// are made anew inside.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Layout.h"
#include "passes/memory/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_FORMPREPAREPASS
#include "passes/memory/Passes.h.inc"
} // namespace cleave

namespace {
class PrepareFormer {
public:
  explicit PrepareFormer(func::FuncOp function) : function(function) {}
  void run();

private:
  bool isConstant(Value value) const;
  void collect(Block &block);
  bool isReadInside(Operation *kernel) const;
  bool isReadByStep(Operation *kernel) const;
  void decide();
  void form();
  void makeSources(Operation *op, OpBuilder &builder);

  func::FuncOp function;
  llvm::StringSet<> stored; ///< or set by a run before each step
  /// Constant ops, with the elements of the states and arrays that each reads.
  llvm::DenseMap<Operation *, int64_t> constants;
  llvm::SetVector<Operation *> kernels; ///< in the prepare; program order
  llvm::DenseSet<Operation *> both;     ///< of them, those in the step too
  IRMapping inside;
};
} // namespace

static int64_t countElements(TypeRange types) {
  int64_t count = 0;
  for (Type type : types)
    count += cast<RankedTensorType>(type).getNumElements();
  return count;
}

static bool isSource(Operation *op) {
  return isa<LoadOp, ConstantOp>(op) || isViewOp(op);
}

bool PrepareFormer::isConstant(Value value) const {
  return constants.contains(value.getDefiningOp());
}

void PrepareFormer::collect(Block &block) {
  for (Operation &op : block) {
    if (auto chunk = dyn_cast<ChunkOp>(op))
      collect(chunk.getBody().front());
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (!stored.contains(load.getSymbol()))
        constants[&op] = countElements(load->getResultTypes());
      continue;
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      bool isSplat = isa<SplatElementsAttr>(constant.getValue());
      constants[&op] = isSplat ? 0 : countElements(op.getResultTypes());
      continue;
    }
    if (!isa<KernelOp>(op) && !isViewOp(&op))
      continue;
    if (!llvm::all_of(op.getOperands(),
                      [&](Value operand) { return isConstant(operand); }))
      continue;
    int64_t elements = 0;
    for (Value operand : op.getOperands())
      elements += constants.lookup(operand.getDefiningOp());
    constants[&op] = elements;
    if (isa<KernelOp>(op) && elements > 0)
      kernels.insert(&op);
  }
}

/// Kernels and other ops that read the results, views apart.
static SmallVector<Operation *> findReaders(Operation *kernel) {
  SmallVector<Operation *> users(kernel->getUsers()), readers;
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (isViewOp(user))
      llvm::append_range(users, user->getUsers());
    else
      readers.push_back(user);
  }
  return readers;
}

bool PrepareFormer::isReadInside(Operation *kernel) const {
  return llvm::any_of(findReaders(kernel), [&](Operation *reader) {
    return kernels.contains(reader);
  });
}

bool PrepareFormer::isReadByStep(Operation *kernel) const {
  return llvm::any_of(findReaders(kernel), [&](Operation *reader) {
    return !kernels.contains(reader) || both.contains(reader);
  });
}

void PrepareFormer::decide() {
  SmallVector<Operation *> all(kernels.begin(), kernels.end());
  for (Operation *op : llvm::reverse(all)) {
    bool isLarge = countElements(op->getResultTypes()) > constants.lookup(op);
    bool isOutput = llvm::any_of(
        findReaders(op), [](Operation *r) { return isa<func::ReturnOp>(r); });
    if (!isOutput && (!isLarge || !isReadByStep(op)))
      continue;
    if (isReadInside(op))
      both.insert(op);
    else
      kernels.remove(op);
  }
}

/// Makes the operands of `op` inside, as far as they are not there yet.
void PrepareFormer::makeSources(Operation *op, OpBuilder &builder) {
  for (Value operand : op->getOperands()) {
    if (inside.contains(operand))
      continue;
    Operation *source = operand.getDefiningOp();
    assert(isSource(source) && "a constant kernel comes before its users");
    makeSources(source, builder);
    builder.clone(*source, inside);
  }
}

void PrepareFormer::form() {
  Block *body = new Block;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> given, results;
  SmallVector<Attribute> orders;
  for (Operation *op : kernels) {
    makeSources(op, builder);
    Operation *kernel = builder.clone(*op, inside);
    if (both.contains(op) || !isReadByStep(op))
      continue;
    auto own = op->getAttrOfType<ArrayAttr>(OrdersAttrName);
    for (OpResult result : op->getResults()) {
      auto rank = cast<RankedTensorType>(result.getType()).getRank();
      given.push_back(kernel->getResult(result.getResultNumber()));
      results.push_back(result);
      orders.push_back(own ? own[result.getResultNumber()]
                           : builder.getDenseI64ArrayAttr(
                                 llvm::to_vector(llvm::seq<int64_t>(0, rank))));
    }
  }
  builder.create<YieldOp>(function.getLoc(), given);
  builder.setInsertionPointToStart(&function.front());
  auto prepare = builder.create<PrepareOp>(kernels.front()->getLoc(),
                                           TypeRange(ValueRange(given)));
  prepare.getBody().push_back(body);
  prepare->setAttr(OrdersAttrName, builder.getArrayAttr(orders));
  for (auto [result, replacement] : llvm::zip(results, prepare.getResults()))
    result.replaceAllUsesWith(replacement);
}

/// Removes what is left without a reader of the kernels and their sources.
static void removeUnread(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (auto chunk = dyn_cast<ChunkOp>(op))
      removeUnread(chunk.getBody().front());
    if ((isSource(&op) || isa<KernelOp>(op)) && op.use_empty())
      op.erase();
  }
}

void PrepareFormer::run() {
  function.walk([&](StoreOp store) { stored.insert(store.getSymbol()); });
  for (auto param : function->getParentOfType<ModuleOp>().getOps<ParamOp>()) {
    auto role = param->getAttrOfType<StringAttr>(RoleAttrName);
    if (role && role.getValue() == "setting")
      stored.insert(param.getSymName());
  }
  collect(function.front());
  decide();
  if (kernels.empty())
    return;
  form();
  removeUnread(function.front());
}

namespace {
struct FormPreparePass : cleave::impl::FormPreparePassBase<FormPreparePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        PrepareFormer(function).run();
  }
};
} // namespace
