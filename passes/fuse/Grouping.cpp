//===- Grouping.cpp - which ops of a block run as one kernel --------------===//
//
// Products choose first, then rows, reductions and loops, each in program
// order: the order of README.md's table. An op that is in a group is no longer
// free.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Grouping.h"

using namespace cleave;
using namespace mlir;

//===-- Classes of ops ---------------------------------------------------===//

bool cleave::isView(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op);
}

static bool isProduct(Operation *op) {
  return isa<DotOp, ConvOp, ConvWeightGradOp>(op);
}

static bool isRowOp(Operation *op) {
  return isa<NormOp, NormGradOp, SoftmaxOp, CrossEntropyOp, CrossEntropyGradOp>(
      op);
}

/// Each element of the result needs the same element of the operands.
static bool isElementwise(Operation *op) {
  return isa<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp, MaskOp, CopyOp>(
      op);
}

/// Computes an element of the result from its index.
static bool isPointwise(Operation *op) {
  return isElementwise(op) || isa<IotaOp, GatherOp, TakeShardOp>(op);
}

/// Walks its operands in a way of its own, so that nothing joins it.
static bool isAlone(Operation *op) {
  return isa<ResizeOp, PoolOp, PoolGradOp, CumulateOp, TopKOp, ScatterOp,
             GatherGradOp>(op);
}

static bool isLoopOp(Operation *op) {
  return isPointwise(op) || isAlone(op) || isa<ConcatOp, PadOp>(op);
}

bool cleave::needsCode(Operation *op) {
  return isProduct(op) || isRowOp(op) || isLoopOp(op) ||
         isa<AttentionOp, ReduceOp>(op);
}

static ArrayRef<int64_t> getShape(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

//===-- Groups and anchors -----------------------------------------------===//

Grouping::Grouping(Block &block) : block(block) {
  for (Operation &op : block)
    index[&op] = index.size();
}

Group &Grouping::makeGroup(KernelKind kind, Operation *root) {
  groups.push_back(
      std::make_unique<Group>(Group{kind, root, {root}, index[root]}));
  groupOf[root] = groups.back().get();
  return *groups.back();
}

Group *Grouping::findGroup(Operation *op) { return groupOf.lookup(op); }

int64_t Grouping::getAnchor(Operation *op) {
  if (Group *group = findGroup(op))
    return group->anchor;
  return index.lookup(op);
}

void Grouping::findUsers(Operation *op, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : op->getUsers()) {
    Operation *local = block.findAncestorOpInBlock(*user);
    if (isView(local) && !findGroup(local))
      findUsers(local, users);
    else
      users.push_back(local);
  }
}

bool Grouping::canStandAt(ArrayRef<Operation *> ops, int64_t anchor) {
  SmallVector<Operation *> users;
  for (Operation *op : ops)
    findUsers(op, users);
  return llvm::all_of(users, [&](Operation *user) {
    return llvm::is_contained(ops, user) || getAnchor(user) > anchor;
  });
}

bool Grouping::tryAdd(Group &group, ArrayRef<Operation *> added) {
  Ops all = group.ops;
  llvm::append_range(all, added);
  llvm::sort(all,
             [&](Operation *a, Operation *b) { return index[a] < index[b]; });
  int64_t anchor = index[all.back()];
  if (!canStandAt(all, anchor))
    return false;
  group.ops = all;
  group.anchor = anchor;
  for (Operation *op : added)
    groupOf[op] = &group;
  return true;
}

/// Moves the ops of `other`, which tryAdd has put into `group`, out of it.
void Grouping::absorb(Group &group, Group &other) {
  other.ops.clear();
  llvm::erase_if(groups,
                 [&](const auto &entry) { return entry.get() == &other; });
}

//===-- Growing ----------------------------------------------------------===//

/// Follows single uses from the group's last result. `accepts(op, value)`:
/// whether op, which uses value, may join; at most `limit` do.
void Grouping::addChain(Group &group,
                        function_ref<bool(Operation *, Value)> accepts,
                        int64_t limit, bool throughViews) {
  Value value = group.root->getResult(0);
  for (int64_t count = 0; count < limit; ++count) {
    Ops added;
    Value last = value;
    auto follow = [&]() -> Operation * {
      if (!last.hasOneUse())
        return nullptr;
      Operation *user = *last.getUsers().begin();
      return user->getBlock() == &block && !findGroup(user) ? user : nullptr;
    };
    Operation *user = follow();
    while (user && throughViews && isa<ReshapeOp, TransposeOp>(user)) {
      added.push_back(user);
      last = user->getResult(0);
      user = follow();
    }
    if (!user || !accepts(user, last))
      return;
    added.push_back(user);
    if (!tryAdd(group, added))
      return;
    value = user->getResult(0);
  }
}

bool Grouping::isFreeElementwise(Operation *op, ArrayRef<int64_t> shape) {
  return op && op->getBlock() == &block && isElementwise(op) &&
         !findGroup(op) && getShape(op) == shape;
}

/// Adds the elementwise ops that make `value`, nearest first. `onlyOwn`: only
/// those that nobody outside of the group uses.
void Grouping::addProducers(Group &group, Value value, bool onlyOwn) {
  Operation *op = value.getDefiningOp();
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  if (!isFreeElementwise(op, shape))
    return;
  bool isOwn = llvm::all_of(op->getUsers(), [&](Operation *user) {
    return findGroup(user) == &group;
  });
  if ((onlyOwn && !isOwn) || !tryAdd(group, op))
    return;
  for (Value operand : op->getOperands())
    addProducers(group, operand, onlyOwn);
}

//===-- Rules ------------------------------------------------------------===//

static bool isPostOp(Operation *op, Value value) {
  if (auto unary = dyn_cast<UnaryOp>(op))
    return llvm::is_contained({UnaryKind::GeluErf, UnaryKind::GeluTanh,
                               UnaryKind::Relu, UnaryKind::Sigmoid,
                               UnaryKind::Tanh, UnaryKind::Silu},
                              unary.getKind());
  if (auto binary = dyn_cast<BinaryOp>(op))
    return binary.getKind() == BinaryKind::Add ||
           binary.getKind() == BinaryKind::Mul;
  return false;
}

void Grouping::groupProduct(Operation *op) {
  if (isa<ConvWeightGradOp>(op)) {
    makeGroup(KernelKind::ConvWeightGrad, op);
    return;
  }
  auto conv = dyn_cast<ConvOp>(op);
  Group &group = makeGroup(conv ? KernelKind::Conv : KernelKind::Matmul, op);
  // oneDNN does the post-operations of a transposed convolution at every
  // position of its window: 13 ms become 70 with a relu, 156 with a bias.
  if (conv && conv.getTransposed())
    return;
  addChain(group, isPostOp, MaxPostOps, /*throughViews=*/!conv);
}

void Grouping::groupRow(Operation *op) {
  Group &group = makeGroup(KernelKind::Row, op);
  addProducers(group, op->getOperand(0), /*onlyOwn=*/false);
  if (auto gradient = dyn_cast<NormGradOp>(op))
    addProducers(group, gradient.getDresult(), /*onlyOwn=*/false);
  addChain(
      group,
      [&](Operation *user, Value) {
        return isFreeElementwise(user, getShape(op));
      },
      INT64_MAX, /*throughViews=*/false);
}

void Grouping::groupReduce(ReduceOp op) {
  Group &group = makeGroup(KernelKind::Reduce, op);
  addProducers(group, op.getX(), /*onlyOwn=*/true);
  addChain(
      group,
      [&](Operation *user, Value) {
        return isFreeElementwise(user, getShape(op));
      },
      INT64_MAX, /*throughViews=*/false);
}

/// Whether a loop may take in the ops of `group` as producers.
static bool isOpen(Group *group) {
  return group && group->kind == KernelKind::Loop &&
         isPointwise(group->ops.back());
}

void Grouping::groupLoop(Operation *op) {
  Group &group = makeGroup(KernelKind::Loop, op);
  bool joins = isa<ConcatOp, PadOp>(op);
  if (!joins && !isElementwise(op))
    return;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    Group *other = producer ? findGroup(producer) : nullptr;
    if (!isOpen(other) || other == &group)
      continue;
    if (!joins && getShape(producer) != getShape(op))
      continue;
    // What a concat reads is evaluated in parts, and is no result of its own.
    SmallVector<Operation *> users;
    for (Operation *inner : other->ops)
      findUsers(inner, users);
    bool isOwn = llvm::all_of(users, [&](Operation *user) {
      return findGroup(user) == &group || findGroup(user) == other;
    });
    bool isDirect = producer->hasOneUse() &&
                    llvm::all_of(other->ops, [&](Operation *inner) {
                      return getShape(inner) == getShape(producer);
                    });
    if ((!joins || (isOwn && isDirect)) && tryAdd(group, Ops(other->ops)))
      absorb(group, *other);
  }
}

SmallVector<Group> Grouping::run() {
  auto forFree = [&](auto isWanted, auto makeGroup) {
    for (Operation &op : block)
      if (isWanted(&op) && !findGroup(&op))
        makeGroup(&op);
  };
  forFree(isProduct, [&](Operation *op) { groupProduct(op); });
  forFree([](Operation *op) { return isa<AttentionOp>(op); },
          [&](Operation *op) { makeGroup(KernelKind::Attention, op); });
  forFree(isRowOp, [&](Operation *op) { groupRow(op); });
  forFree([](Operation *op) { return isa<ReduceOp>(op); },
          [&](Operation *op) { groupReduce(cast<ReduceOp>(op)); });
  forFree(isLoopOp, [&](Operation *op) { groupLoop(op); });
  SmallVector<Group> result;
  for (const auto &group : groups)
    result.push_back(*group);
  llvm::sort(result, [](const Group &a, const Group &b) {
    return a.anchor < b.anchor;
  });
  return result;
}
