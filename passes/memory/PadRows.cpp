//===- PadRows.cpp - keep rows that products read out of each other's way -===//
//
// Needs resolved views. A product reads its operands and its result in blocks
// of rows. Where rows lie a multiple of 1 KiB apart, the elements of a column
// share a few of the 64 sets, of 64 bytes a way, that first-level caches have,
// and drive each other out: gradients of weights run at half their speed then.
// So kernels store such rows 64 bytes further apart, if all that read them can
// do with it.
//
// What a library adds to a product has to lie as the result does: both are
// padded, or none.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Layout.h"
#include "passes/memory/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_PADROWSPASS
#include "passes/memory/Passes.h.inc"
} // namespace cleave

/// Rows that lie a multiple of this apart collide.
static constexpr int64_t CollidingBytes = 1024;
static constexpr int64_t PaddingBytes = 64;
/// Fewer rows fit into the cache as they are.
static constexpr int64_t FewRows = 64;

/// The elements to put behind each row of a result of this type; 0: none.
static int64_t getPadding(RankedTensorType type) {
  if (type.getRank() < 2 || type.getElementTypeBitWidth() % 8)
    return 0;
  int64_t width = type.getElementTypeBitWidth() / 8;
  int64_t columns = type.getShape().back();
  bool collides = columns > 0 && columns * width % CollidingBytes == 0 &&
                  type.getNumElements() / columns >= FewRows;
  return collides ? PaddingBytes / width : 0;
}

static DotOp findDot(KernelOp kernel) {
  auto dots = kernel.getBody().front().getOps<DotOp>();
  return dots.empty() ? DotOp() : *dots.begin();
}

/// Whether an operand of a product's kernel is one of its two sides.
static bool isSide(DotOp dot, Value argument) {
  return argument == dot.getLhs() || argument == dot.getRhs();
}

namespace {
/// A result that could be padded.
struct Candidate {
  bool isMultiplied = false;   ///< it is an operand or the result of a product
  SmallVector<Value> partners; ///< padded too, or this is not
};

class RowPadder {
public:
  void run(func::FuncOp function);

private:
  void addResults(KernelOp kernel);
  bool addSummands(KernelOp kernel, Candidate &candidate);
  bool acceptReaders(Value value, const StridedView &view, bool isRoot,
                     Candidate &candidate);
  bool acceptReader(KernelOp kernel, Value value, const StridedView &view,
                    bool isRoot, Candidate &candidate);
  void dropLonely();
  void spread();

  llvm::MapVector<Value, Candidate> candidates;
};
} // namespace

/// Whether a product's kernel can store padded rows. What lies in memory like
/// its result becomes a partner.
bool RowPadder::addSummands(KernelOp kernel, Candidate &candidate) {
  DotOp dot = findDot(kernel);
  for (Operation &op : kernel.getBody().front())
    if (!isa<DotOp, UnaryOp, BinaryOp, BroadcastOp, ConstantOp, YieldOp>(op))
      return false;
  candidate.isMultiplied = true;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    bool isRepeated = llvm::all_of(argument.getUsers(), [](Operation *user) {
      return isa<BroadcastOp>(user);
    });
    if (!isSide(dot, argument) && !isRepeated)
      candidate.partners.push_back(kernel.getInputs()[argument.getArgNumber()]);
  }
  return true;
}

/// Whether the kernel can read `value` as `view` says.
bool RowPadder::acceptReader(KernelOp kernel, Value value,
                             const StridedView &view, bool isRoot,
                             Candidate &candidate) {
  switch (kernel.getKind()) {
  case KernelKind::Loop:
  case KernelKind::Row:
  case KernelKind::Reduce:
  case KernelKind::Attention:
    return true;
  case KernelKind::Matmul:
    break;
  default:
    return false;
  }
  DotOp dot = findDot(kernel);
  return dot && llvm::all_of(kernel->getOpOperands(), [&](OpOperand &operand) {
           if (operand.get() != value)
             return true;
           Value side =
               kernel.getBody().getArgument(operand.getOperandNumber());
           if (!isSide(dot, side)) {
             candidate.partners.push_back(kernel.getResult(0));
             return isRoot;
           }
           candidate.isMultiplied = true;
           bool isLeft = side == dot.getLhs();
           return side.hasOneUse() &&
                  fitsLibrary(
                      view, isLeft ? dot.getLhsFree() : dot.getRhsFree(),
                      isLeft ? dot.getLhsContract() : dot.getRhsContract());
         });
}

/// The same for all that read it, through views too. `isRoot`: it is no view.
bool RowPadder::acceptReaders(Value value, const StridedView &view, bool isRoot,
                              Candidate &candidate) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto kernel = dyn_cast<KernelOp>(user))
      return acceptReader(kernel, value, view, isRoot, candidate);
    if (!isViewOp(user) || isa<DoneOp>(user))
      return false;
    std::optional<StridedView> next = applyView(user, view);
    return next && acceptReaders(user->getResult(0), *next, false, candidate);
  });
}

void RowPadder::addResults(KernelOp kernel) {
  bool isProduct = kernel.getKind() == KernelKind::Matmul;
  bool isOpen = isProduct || kernel.getKind() == KernelKind::Loop ||
                kernel.getKind() == KernelKind::Row;
  if (!isOpen || kernel->hasAttr(OrdersAttrName))
    return;
  for (Value result : kernel.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    int64_t padding = getPadding(type);
    if (padding == 0)
      continue;
    Candidate candidate;
    StridedView view = makePaddedView(type.getShape(), padding);
    if ((!isProduct || addSummands(kernel, candidate)) &&
        acceptReaders(result, view, true, candidate))
      candidates[result] = candidate;
  }
}

/// Drops those that have a partner which is none, until no more has.
void RowPadder::dropLonely() {
  size_t before = 0;
  do {
    before = candidates.size();
    candidates.remove_if([&](const auto &entry) {
      return llvm::any_of(entry.second.partners, [&](Value partner) {
        auto *found = candidates.find(partner);
        return found == candidates.end() ||
               partner.getType() != entry.first.getType() ||
               !llvm::is_contained(found->second.partners, entry.first);
      });
    });
  } while (candidates.size() != before);
}

/// Partners of what a product reads are padded with it.
void RowPadder::spread() {
  SmallVector<Value> known;
  for (auto &[value, candidate] : candidates)
    if (candidate.isMultiplied)
      known.push_back(value);
  while (!known.empty())
    for (Value partner : candidates[known.pop_back_val()].partners)
      if (!std::exchange(candidates[partner].isMultiplied, true))
        known.push_back(partner);
}

void RowPadder::run(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // The library packs what is the same in every step.
    if (isa<PrepareOp>(op))
      return WalkResult::skip();
    auto kernel = dyn_cast<KernelOp>(op);
    if (kernel)
      addResults(kernel);
    return kernel ? WalkResult::skip() : WalkResult::advance();
  });
  dropLonely();
  spread();
  Builder builder(function.getContext());
  for (auto &[value, candidate] : candidates) {
    if (!candidate.isMultiplied)
      continue;
    Operation *kernel = value.getDefiningOp();
    SmallVector<int64_t> paddings(kernel->getNumResults(), 0);
    if (auto known = kernel->getAttrOfType<DenseI64ArrayAttr>(PaddingAttrName))
      paddings = llvm::to_vector(known.asArrayRef());
    paddings[cast<OpResult>(value).getResultNumber()] =
        getPadding(cast<RankedTensorType>(value.getType()));
    kernel->setAttr(PaddingAttrName, builder.getDenseI64ArrayAttr(paddings));
  }
}

namespace {
struct PadRowsPass : cleave::impl::PadRowsPassBase<PadRowsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        RowPadder().run(function);
  }
};
} // namespace
