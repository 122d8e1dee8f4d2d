//===- LoopKernel.cpp - elementwise and moving kernels --------------------===//
//
// A thread computes a vector of 16 bytes of the group of dims that is innermost
// in the first result, and goes on by the size of the grid. Elements behind the
// last whole vector are done one by one; where rows are no whole vectors, all
// are.
//
// Where an operand is contiguous along another dim than the result (a
// transposing copy), a block computes a tile of 32 x 32 in the operand's order
// into shared memory, and stores it in the result's. A row of the tile has 33
// places, so that neither order meets one bank twice.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

static constexpr int64_t TileSize = 32;

int64_t cuda::getVectorLanes(ArrayRef<View> views) {
  constexpr int64_t VectorBytes = 16;
  int64_t widest = 1;
  for (const View &view : views)
    widest = std::max(widest, getMemoryBytes(view.element));
  return widest == 1 ? 4 : VectorBytes / widest;
}

namespace {
/// How a piece is walked.
struct Walk {
  SmallVector<Group> outer;
  Group inner{1, -1};
  std::optional<Group> strip; ///< the dim of a transposing walk
  int64_t lanes = 1;

  int64_t getVectors() const { return inner.size / lanes; }
  int64_t getTail() const { return inner.size % lanes; }
  int64_t getTiles(const Group &group) const {
    return llvm::divideCeil(group.size, TileSize);
  }
  int64_t getItems() const { return getCount(outer) * getVectors(); }
  int64_t getTileCount() const {
    return getCount(outer) * getTiles(inner) * getTiles(*strip);
  }
};

class LoopWriter {
public:
  explicit LoopWriter(Template &kernel) : kernel(kernel), code(kernel.code) {}
  FailureOr<LaunchPlan> write();

private:
  Walk plan(const Piece &piece);
  void write(const Piece &piece, const Walk &walk, int64_t grid);
  void writeVector(const Piece &piece, const Walk &walk, Value item);
  void writeTail(const Piece &piece, const Walk &walk, Value item);
  void store(const Piece &piece, int64_t lanes, ArrayRef<Index> point);
  void writeTile(const Piece &piece, const Walk &walk, Value tile);

  Template &kernel;
  Code &code;
  bool failed = false;
};
} // namespace

/// As on the CPU, but for the blocks.
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
  int64_t lanes = getVectorLanes(piece.targets);
  walk.lanes = groups.empty() ? lanes : std::gcd(lanes, walk.inner.size);
  for (auto *group = groups.begin(); group != groups.end(); ++group) {
    bool crosses = llvm::any_of(accesses.list, [&](ArrayRef<int64_t> access) {
      return access[walk.inner.carrier] > 1 && access[group->carrier] == 1;
    });
    if (!crosses || group->size < 8 || walk.inner.size < 8)
      continue;
    walk.strip = *group;
    groups.erase(group);
    break;
  }
  walk.outer = groups;
  return walk;
}

/// All loads come before the first store: a result may lie on an operand.
void LoopWriter::store(const Piece &piece, int64_t lanes,
                       ArrayRef<Index> point) {
  Evaluator evaluator = kernel.makeEvaluator(lanes);
  Frame frame;
  frame.point = llvm::to_vector(point);
  Code::Values stored;
  for (auto [value, target] : llvm::zip(piece.values, piece.targets)) {
    Type type = code.vectorOf(getComputeType(target.element), lanes);
    stored.push_back(value ? evaluator.at(value, frame)
                           : code.constant(type, piece.fill));
  }
  for (auto [value, target] : llvm::zip(stored, piece.targets))
    evaluator.store(value, target, frame);
  failed |= evaluator.failed;
}

void LoopWriter::writeVector(const Piece &piece, const Walk &walk, Value item) {
  SmallVector<Index> point = getOrigin(code, piece.shape.size());
  Value vector = item;
  if (!walk.outer.empty()) {
    vector = code.rem(item, walk.getVectors());
    setPoint(code, point, walk.outer, code.div(item, walk.getVectors()));
  }
  if (walk.inner.carrier >= 0)
    point[walk.inner.carrier] = {code.mul(vector, walk.lanes), 1, Value(),
                                 walk.lanes};
  store(piece, walk.lanes, point);
}

/// One of the elements behind the last whole vector; there are no outer dims.
void LoopWriter::writeTail(const Piece &piece, const Walk &walk, Value item) {
  SmallVector<Index> point = getOrigin(code, piece.shape.size());
  int64_t first = walk.getVectors() * walk.lanes;
  point[walk.inner.carrier] = {code.add(item, first), 1, Value()};
  store(piece, 1, point);
}

/// What lies beyond the tile's box is computed at the box's last element, and
/// not stored.
void LoopWriter::writeTile(const Piece &piece, const Walk &walk, Value tile) {
  constexpr int64_t Pitch = TileSize + 1, Rows = BlockSize / TileSize;
  int64_t across = walk.getTiles(*walk.strip), down = walk.getTiles(walk.inner);
  SmallVector<Index> origin = getOrigin(code, piece.shape.size());
  Value firstStrip = code.mul(code.rem(tile, across), TileSize);
  Value rest = code.div(tile, across);
  Value firstInner = code.mul(code.rem(rest, down), TileSize);
  setPoint(code, origin, walk.outer, code.div(rest, down));
  Value x = code.rem(getThread(code), TileSize);
  Value y = code.div(getThread(code), TileSize);

  SmallVector<Value> memories;
  for (const View &target : piece.targets)
    memories.push_back(
        makeShared(code, getMemoryType(target.element), TileSize * Pitch));
  auto place = [&](size_t i, Value row, Value column) {
    return code.address(memories[i], getMemoryType(piece.targets[i].element),
                        code.add(code.mul(row, Pitch), column));
  };
  auto clamp = [&](Value index, const Group &group) {
    return Index{code.min(index, code.index(group.size - 1)), 1, Value()};
  };
  for (int64_t row = 0; row < TileSize; row += Rows) {
    Evaluator evaluator = kernel.makeEvaluator(1);
    Frame frame;
    frame.point = origin;
    Value down = code.add(y, row);
    frame.point[walk.strip->carrier] =
        clamp(code.add(firstStrip, x), *walk.strip);
    frame.point[walk.inner.carrier] =
        clamp(code.add(firstInner, down), walk.inner);
    for (auto [i, value] : llvm::enumerate(piece.values))
      code.store(evaluator.at(value, frame), place(i, down, x),
                 piece.targets[i].element, 1, Value());
    failed |= evaluator.failed;
  }
  makeBarrier(code);
  for (int64_t row = 0; row < TileSize; row += Rows) {
    Value across = code.add(y, row);
    Value strip = code.add(firstStrip, across);
    Value inner = code.add(firstInner, x);
    Value isInside = code.both(code.less(strip, code.index(walk.strip->size)),
                               code.less(inner, code.index(walk.inner.size)));
    code.ifThen(isInside, [&] {
      Evaluator evaluator = kernel.makeEvaluator(1);
      Frame frame;
      frame.point = origin;
      frame.point[walk.strip->carrier] = {strip, 0, Value()};
      frame.point[walk.inner.carrier] = {inner, 1, Value()};
      for (auto [i, target] : llvm::enumerate(piece.targets))
        evaluator.store(
            code.load(place(i, x, across), target.element, 1, Value(), 1),
            target, frame);
    });
  }
  makeBarrier(code);
}

void LoopWriter::write(const Piece &piece, const Walk &walk, int64_t grid) {
  if (walk.strip)
    return forItems(code, getBlock(code), grid, walk.getTileCount(),
                    [&](Value tile) { writeTile(piece, walk, tile); });
  Value self = code.add(code.mul(getBlock(code), BlockSize), getThread(code));
  if (walk.getItems())
    forItems(code, self, grid * BlockSize, walk.getItems(),
             [&](Value item) { writeVector(piece, walk, item); });
  if (walk.getTail())
    forItems(code, self, grid * BlockSize, walk.getTail(),
             [&](Value item) { writeTail(piece, walk, item); });
}

FailureOr<LaunchPlan> LoopWriter::write() {
  auto yields = kernel.getYields();
  for (Value value : yields)
    if (cast<RankedTensorType>(value.getType()).getShape() !=
        cast<RankedTensorType>(yields[0].getType()).getShape())
      return kernel.op.emitOpError()
             << "of kind loop must have results of one shape, found "
             << yields[0].getType() << " and " << value.getType();
  std::vector<std::pair<Piece, Walk>> pieces;
  int64_t blocks = 0;
  for (const Piece &piece : getPieces(kernel)) {
    if (llvm::is_contained(piece.shape, 0))
      continue;
    Walk walk = plan(piece);
    int64_t needed =
        walk.strip
            ? walk.getTileCount()
            : llvm::divideCeil(walk.getItems() + walk.getTail(), BlockSize);
    blocks = std::max(blocks, needed);
    pieces.push_back({piece, walk});
  }
  LaunchPlan launch;
  launch.grid = std::min(blocks, MostBlocks);
  launch.block = BlockSize;
  for (auto &[piece, walk] : pieces) {
    write(piece, walk, launch.grid);
    if (walk.strip)
      launch.narrowLoads = "a block has a transposed tile";
    else if (walk.getItems() == 0)
      launch.narrowLoads = "it has fewer elements than a vector";
    else if (walk.lanes == 1)
      launch.narrowLoads = "rows are no whole vectors";
  }
  if (failed)
    return failure();
  return launch;
}

FailureOr<LaunchPlan> cuda::buildLoopKernel(Template &kernel) {
  auto yields = kernel.getYields();
  Operation *op = yields.size() == 1 ? yields[0].getDefiningOp() : nullptr;
  if (auto pool = dyn_cast_or_null<PoolOp>(op))
    return buildPoolKernel(kernel, pool);
  if (auto resize = dyn_cast_or_null<ResizeOp>(op))
    return buildResizeKernel(kernel, resize);
  if (isa_and_nonnull<CumulateOp, TopKOp, ScatterOp, GatherGradOp, PoolGradOp>(
          op))
    return buildItemKernel(kernel, op);
  return LoopWriter(kernel).write();
}
