//===- LoopKernel.cpp - elementwise and moving kernels --------------------===//
//
// All results have one shape, the domain. Each element is computed from kernel
// operands by the Evaluator. concat and pad, which may only be what a kernel
// yields, split their result into pieces: boxes that are domains of their own
// and are written into a part of the result. Ops that walk their operands in a
// way of their own have templates of their own.
//
// An item is a block of the group of dims that is innermost in the first
// result. Where an operand is contiguous along another dim than the result (a
// transposing copy), an item is a strip of 16 indices of that dim, done in
// tiles of 16 x 16, so that each cache line that is read serves 16 vectors.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

namespace {
/// How a piece is walked: `outer` groups and the innermost one in blocks.
struct Walk {
  SmallVector<Group> outer;
  Group inner{1, -1};
  std::optional<Group> strip; ///< the dim of a transposing walk
  int64_t block = 1;
  int64_t getBlocks() const { return llvm::divideCeil(inner.size, block); }
  int64_t getStrips() const {
    return strip ? llvm::divideCeil(strip->size, Lanes) : 1;
  }
  int64_t getExtent() const {
    return getCount(outer) * (strip ? getStrips() : getBlocks());
  }
};

class LoopWriter {
public:
  LoopWriter(Template &kernel) : kernel(kernel), code(kernel.code) {}
  FailureOr<KernelPlan> write();

private:
  Walk plan(const Piece &piece);
  void write(const Piece &piece, const Walk &walk, Value from, Value to);
  void writeItem(const Piece &piece, const Walk &walk, Value item);
  void writeStrip(const Piece &piece, const Walk &walk, Value item);
  void writeVectors(const Piece &piece, const Walk &walk,
                    ArrayRef<Index> origin, Value from, Value to);
  void writeVector(const Piece &piece, const Walk &walk, ArrayRef<Index> origin,
                   Value base, Value mask);

  Template &kernel;
  Code &code;
  bool failed = false;
};
} // namespace

//===-- Walks -------------------------------------------------------------===//

Walk LoopWriter::plan(const Piece &piece) {
  int64_t rank = piece.shape.size();
  Accesses accesses(rank, kernel.getStrides());
  ValueMap map = getIdentityMap(rank);
  for (const View &target : piece.targets)
    accesses.addAccess(target.strides, map);
  for (Value value : piece.values)
    if (value)
      accesses.addReads(value, map);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<Group> groups = mergeDims(dims, piece.shape, accesses.list);
  Walk walk;
  if (groups.empty())
    return walk;
  // The lanes run along the result's innermost dim in memory.
  for (size_t i = 0; i + 1 < groups.size(); ++i)
    if (piece.targets[0].strides[groups[i].carrier] == 1)
      std::rotate(groups.begin() + i, groups.begin() + i + 1, groups.end());
  walk.inner = groups.pop_back_val();
  constexpr int64_t Block = 2048;
  walk.block = walk.inner.size <= Block ? walk.inner.size : Block;
  for (auto *group = groups.begin(); group != groups.end(); ++group) {
    bool crosses = llvm::any_of(accesses.list, [&](ArrayRef<int64_t> access) {
      return access[walk.inner.carrier] > 1 && access[group->carrier] == 1;
    });
    if (!crosses || group->size < 4 || walk.inner.size < 4)
      continue;
    walk.strip = *group;
    groups.erase(group);
    break;
  }
  walk.outer = groups;
  return walk;
}

//===-- Code --------------------------------------------------------------===//

void LoopWriter::writeVector(const Piece &piece, const Walk &walk,
                             ArrayRef<Index> origin, Value base, Value mask) {
  Evaluator evaluator = kernel.makeEvaluator();
  Frame frame;
  frame.point = llvm::to_vector(origin);
  frame.mask = mask;
  if (walk.inner.carrier >= 0)
    frame.point[walk.inner.carrier] = {base, 1, Value()};
  // All loads come before the first store: a result may lie on an operand.
  Code::Values stored;
  for (auto [value, target] : llvm::zip(piece.values, piece.targets)) {
    Type type = code.vectorOf(getComputeType(target.element));
    stored.push_back(value ? evaluator.at(value, frame)
                           : code.constant(type, piece.fill));
  }
  for (auto [value, target] : llvm::zip(stored, piece.targets))
    evaluator.store(value, target, frame);
  failed |= evaluator.failed;
}

void LoopWriter::writeVectors(const Piece &piece, const Walk &walk,
                              ArrayRef<Index> origin, Value from, Value to) {
  forVectors(code, from, to, walk.inner.size % Lanes != 0,
             [&](Value base, Value mask) {
               writeVector(piece, walk, origin, base, mask);
             });
}

void LoopWriter::writeItem(const Piece &piece, const Walk &walk, Value item) {
  SmallVector<Index> origin = getOrigin(code, piece.shape.size());
  if (walk.strip)
    return writeStrip(piece, walk, item);
  Value from = code.mul(code.rem(item, walk.getBlocks()), walk.block);
  setPoint(code, origin, walk.outer, code.div(item, walk.getBlocks()));
  Value to = code.min(code.add(from, walk.block), code.index(walk.inner.size));
  if (walk.getBlocks() == 1)
    from = code.index(0), to = code.index(walk.inner.size);
  writeVectors(piece, walk, origin, from, to);
}

/// For each tile of 16 inner indices: 16 vectors, one per index of the strip.
void LoopWriter::writeStrip(const Piece &piece, const Walk &walk, Value item) {
  SmallVector<Index> origin = getOrigin(code, piece.shape.size());
  Value first = code.mul(code.rem(item, walk.getStrips()), Lanes);
  setPoint(code, origin, walk.outer, code.div(item, walk.getStrips()));
  Value last = code.min(code.add(first, Lanes), code.index(walk.strip->size));
  forVectors(code, code.index(0), code.index(walk.inner.size),
             walk.inner.size % Lanes != 0, [&](Value base, Value mask) {
               code.loop(first, last, 1, [&](Value i) {
                 origin[walk.strip->carrier] = {i, 0, Value()};
                 writeVector(piece, walk, origin, base, mask);
               });
             });
}

/// Items [from, to) of a piece. One group: neighbouring blocks are one loop.
void LoopWriter::write(const Piece &piece, const Walk &walk, Value from,
                       Value to) {
  if (!walk.outer.empty() || walk.strip || walk.inner.carrier < 0) {
    code.loop(from, to, 1, [&](Value item) { writeItem(piece, walk, item); });
    return;
  }
  Value end = code.min(code.mul(to, walk.block), code.index(walk.inner.size));
  writeVectors(piece, walk, getOrigin(code, piece.shape.size()),
               code.mul(from, walk.block), end);
}

FailureOr<KernelPlan> LoopWriter::write() {
  auto yields = kernel.getYields();
  for (Value value : yields)
    if (cast<RankedTensorType>(value.getType()).getShape() !=
        cast<RankedTensorType>(yields[0].getType()).getShape())
      return kernel.op.emitOpError()
             << "of kind loop must have results of one shape, found "
             << yields[0].getType() << " and " << value.getType();
  KernelPlan plan{0, 1, 0, false, ""};
  int64_t elements = 0;
  for (const Piece &piece : getPieces(kernel)) {
    if (llvm::is_contained(piece.shape, 0))
      continue;
    Walk walk = this->plan(piece);
    Value first = code.index(plan.extent);
    Value extent = code.index(walk.getExtent());
    Value from = code.max(code.sub(kernel.begin, first), code.index(0));
    Value to = code.max(from, code.min(code.sub(kernel.end, first), extent));
    write(piece, walk, from, to);
    plan.extent += walk.getExtent();
    elements += ShapedType::getNumElements(piece.shape);
  }
  if (failed)
    return failure();
  plan.grain = getGrain(elements / std::max<int64_t>(1, plan.extent));
  return plan;
}

FailureOr<KernelPlan> cleave::buildLoopKernel(Template &kernel) {
  auto yields = kernel.getYields();
  Operation *op = yields.size() == 1 ? yields[0].getDefiningOp() : nullptr;
  if (!op)
    return LoopWriter(kernel).write();
  return llvm::TypeSwitch<Operation *, FailureOr<KernelPlan>>(op)
      .Case([&](ResizeOp op) { return buildResizeKernel(kernel, op); })
      .Case([&](PoolOp op) { return buildPoolKernel(kernel, op); })
      .Case([&](CumulateOp op) { return buildCumulateKernel(kernel, op); })
      .Case([&](TopKOp op) { return buildTopKKernel(kernel, op); })
      .Case([&](ScatterOp op) { return buildScatterKernel(kernel, op); })
      .Case([&](GatherGradOp op) { return buildGatherGradKernel(kernel, op); })
      .Case([&](PoolGradOp op) { return buildPoolGradKernel(kernel, op); })
      .Default([&](Operation *) { return LoopWriter(kernel).write(); });
}
