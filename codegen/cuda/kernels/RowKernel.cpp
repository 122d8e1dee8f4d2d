//===- RowKernel.cpp - norms, softmax, cross-entropy ----------------------===//
//
// A team of threads folds a row: a warp or a part of one for short rows, a
// block for long ones. Each thread has every `threads`-th vector of the row,
// its slots. Up to 8 slots stay in registers from pass to pass, so that the row
// is read once; longer rows are evaluated again in each pass.
//
// What a slot has beyond the row's end is evaluated at the last vector, takes
// no part in folds and is not stored. So do teams beyond the last row.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"
#include "codegen/kernels/RowOps.h"

#include <numeric>

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

RowShape cuda::chooseRowShape(int64_t vectors) {
  constexpr int64_t LargestBlock = 512;
  if (vectors <= WarpSize * RowShape::MostKept) {
    int64_t threads = std::min(roundToPower(vectors), WarpSize);
    return {threads, static_cast<int64_t>(llvm::divideCeil(vectors, threads))};
  }
  int64_t threads = std::clamp<int64_t>(
      roundToPower(llvm::divideCeil(vectors, RowShape::MostKept)), 64,
      LargestBlock);
  return {threads, static_cast<int64_t>(llvm::divideCeil(vectors, threads))};
}

namespace {
class RowWriter : RowOps {
public:
  RowWriter(Template &kernel, int64_t lanes) : RowOps(kernel, lanes) {}
  FailureOr<LaunchPlan> write();
  /// Elements of the group that gives the lanes.
  FailureOr<int64_t> getInnerSize();

private:
  /// A vector of the row.
  struct Slot {
    Frame frame;
    Value isInside; ///< null: always
  };
  Slot makeSlot(Value number, bool mayEnd);
  void forSlots(function_ref<void(Slot &)> body);
  Value fold(double neutral, Type element, Term term, Combine combine) override;
  void writeResults(Value isRow);

  RowShape rowShape{1, 1};
  int64_t vectors = 1;
  std::optional<Team> team;
  SmallVector<Slot> slots; ///< those that stay in registers
};
} // namespace

/// The slot of this thread that holds vector `number` * threads + self.
RowWriter::Slot RowWriter::makeSlot(Value number, bool mayEnd) {
  Slot slot;
  Value vector = code.add(code.mul(number, team->size), team->self);
  if (mayEnd) {
    slot.isInside = code.less(vector, code.index(vectors));
    vector = code.min(vector, code.index(vectors - 1));
  }
  const Group &inner = row.back();
  int64_t perInner = inner.size / evaluator.lanes;
  SmallVector<Index> point = origin;
  if (row.size() > 1) {
    setPoint(code, point, ArrayRef(row).drop_back(),
             code.div(vector, perInner));
    vector = code.rem(vector, perInner);
  }
  point[inner.carrier] = {code.mul(vector, evaluator.lanes), 1, Value(),
                          evaluator.lanes};
  slot.frame = makeFrame(point, Value());
  return slot;
}

void RowWriter::forSlots(function_ref<void(Slot &)> body) {
  for (Slot &slot : slots)
    body(slot);
  if (!slots.empty())
    return;
  code.loop(code.index(0), code.index(rowShape.slots), 1, [&](Value number) {
    Slot slot = makeSlot(number, vectors % team->size != 0);
    body(slot);
  });
}

Value RowWriter::fold(double neutral, Type element, Term term,
                      Combine combine) {
  VectorType type = code.vectorOf(element, evaluator.lanes);
  Value none = code.constant(type, neutral);
  auto add = [&](Slot &slot, Value sum) {
    Value value = term(slot.frame);
    if (slot.isInside)
      value = code.select(slot.isInside, value, none);
    return sum ? combine(sum, value) : value;
  };
  Value sum;
  for (Slot &slot : slots)
    sum = add(slot, sum);
  if (slots.empty())
    sum = code.loop(code.index(0), code.index(rowShape.slots), 1, none,
                    [&](Value number, ValueRange carried) -> Values {
                      Slot slot = makeSlot(number, vectors % team->size != 0);
                      return {add(slot, carried[0])};
                    })[0];
  Value total = team->fold(code.combineLanes(sum, combine), combine);
  return code.splat(total, evaluator.lanes);
}

void RowWriter::writeResults(Value isRow) {
  SmallVector<std::pair<Value, View>> whole, single;
  for (auto [value, view] : llvm::zip(kernel.getYields(), kernel.results)) {
    auto type = cast<RankedTensorType>(value.getType());
    bool isWhole = type.getShape() == ArrayRef(shape);
    (isWhole ? whole : single).push_back({value, view});
  }
  if (!whole.empty())
    forSlots([&](Slot &slot) {
      Values values;
      for (auto &[value, view] : whole)
        values.push_back(evaluator.at(value, slot.frame));
      code.ifThen(code.both(slot.isInside, isRow), [&] {
        for (auto [value, target] : llvm::zip(values, whole))
          evaluator.store(value, target.second, slot.frame);
      });
    });
  Frame frame;
  for (int64_t dim : outerDims)
    frame.point.push_back(origin[dim]);
  Values values;
  for (auto &[value, view] : single)
    values.push_back(evaluator.at(value, frame));
  Value isFirst = code.less(team->self, code.index(1));
  if (!single.empty())
    code.ifThen(code.both(isFirst, isRow), [&] {
      for (auto [value, target] : llvm::zip(values, single))
        evaluator.store(value, target.second, frame);
    });
}

/// Threads of a block: one large team, or several small ones.
static int64_t chooseBlock(int64_t teamSize, int64_t rows) {
  constexpr int64_t SmallBlock = 128;
  if (teamSize > WarpSize)
    return teamSize;
  return std::clamp(roundToPower(rows * teamSize), WarpSize, SmallBlock);
}

FailureOr<LaunchPlan> RowWriter::write() {
  if (failed(findRows()))
    return failure();
  findGroups();
  if (llvm::is_contained(shape, 0))
    return LaunchPlan();
  int64_t rows = getCount(outer);
  vectors = getCount(row) / evaluator.lanes;
  rowShape = chooseRowShape(vectors);
  LaunchPlan launch;
  launch.block = chooseBlock(rowShape.threads, rows);
  team.emplace(code, rowShape.threads, launch.block);
  launch.grid = llvm::divideCeil(rows, team->perBlock);
  Value number =
      code.add(code.mul(getBlock(code), team->perBlock), team->number);
  Value isRow = code.less(number, code.index(rows));
  origin = getOrigin(code, shape.size());
  setPoint(code, origin, outer, code.min(number, code.index(rows - 1)));
  if (rowShape.isKept())
    for (int64_t i = 0; i < rowShape.slots; ++i)
      slots.push_back(
          makeSlot(code.index(i), (i + 1) * rowShape.threads > vectors));
  for (Operation *op : ops)
    addStatistics(op);
  writeResults(isRow);
  if (evaluator.failed)
    return failure();
  return launch;
}

FailureOr<int64_t> RowWriter::getInnerSize() {
  if (failed(findRows()))
    return failure();
  findGroups();
  return row.back().size;
}

FailureOr<LaunchPlan> cuda::buildRowKernel(Template &kernel) {
  FailureOr<int64_t> size = RowWriter(kernel, 1).getInnerSize();
  if (failed(size))
    return failure();
  int64_t lanes = std::gcd(getVectorLanes(kernel.results), *size);
  return RowWriter(kernel, lanes).write();
}
