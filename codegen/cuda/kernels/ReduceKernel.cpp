//===- ReduceKernel.cpp - one reduction and what surrounds it -------------===//
//
// Elementwise ops before the reduction are evaluated at each element of its
// operand, those after it at each element of its result.
//
// If the innermost dim is reduced, a team of threads folds one result, as in
// RowKernel.cpp. If it is kept, the threads of a warp have 32 neighbouring
// results, and the warps of a block share the reduced elements; what they have
// is joined in shared memory. Either way the order of a sum depends on shapes
// only.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"

#include <numeric>

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

namespace {
class ReduceWriter {
public:
  explicit ReduceWriter(Template &kernel) : kernel(kernel), code(kernel.code) {}
  FailureOr<LaunchPlan> write();

private:
  LogicalResult findReduction();
  void findGroups();
  bool areLanesReduced();
  LaunchPlan writeRows();
  LaunchPlan writeColumns();
  /// The vector at position `item` of the reduced elements of one result.
  Value getTerm(Evaluator &evaluator, ArrayRef<Index> origin, Value item);
  void writeResults(Value reduced, ArrayRef<Index> point, Value isResult);
  Value combine(Value x, Value y);

  Template &kernel;
  Code &code;
  ReduceOp reduction;
  SmallVector<int64_t> shape, keptDims;
  SmallVector<Group> kept, reduced;
  bool failed = false;
};
} // namespace

LogicalResult ReduceWriter::findReduction() {
  for (auto op : kernel.op.getBody().getOps<ReduceOp>()) {
    if (reduction)
      return op.emitOpError() << "is the second reduction of its kernel";
    reduction = op;
  }
  if (!reduction)
    return kernel.op.emitOpError() << "of kind reduce holds no reduction";
  if (reduction.getType().getElementType().isInteger(1))
    return reduction.emitOpError() << "has no code for bools";
  for (Value value : kernel.getYields())
    if (cast<RankedTensorType>(value.getType()).getShape() !=
        reduction.getType().getShape())
      return kernel.op.emitOpError()
             << "of kind reduce must have results of the shape of its "
                "reduction, found "
             << value.getType();
  return success();
}

void ReduceWriter::findGroups() {
  shape = llvm::to_vector(reduction.getX().getType().getShape());
  for (int64_t dim : llvm::seq<int64_t>(0, shape.size()))
    if (!llvm::is_contained(reduction.getDims(), dim))
      keptDims.push_back(dim);
  Accesses accesses(shape.size(), kernel.getStrides());
  accesses.addReads(reduction.getX(), getIdentityMap(shape.size()));
  accesses.stops.insert(reduction.getResult().getAsOpaquePointer());
  ValueMap map = getMap(keptDims);
  for (auto [value, view] : llvm::zip(kernel.getYields(), kernel.results)) {
    accesses.addAccess(view.strides, map);
    accesses.addReads(value, map);
  }
  kept = mergeDims(keptDims, shape, accesses.list);
  reduced = mergeDims(reduction.getDims(), shape, accesses.list);
}

bool ReduceWriter::areLanesReduced() {
  if (kept.empty() || reduced.empty())
    return kept.empty();
  return reduced.back().carrier > kept.back().carrier;
}

Value ReduceWriter::combine(Value x, Value y) {
  return buildCombine(code.b, code.loc, reduction.getKind(),
                      reduction.getType().getElementType(), x, y);
}

Value ReduceWriter::getTerm(Evaluator &evaluator, ArrayRef<Index> origin,
                            Value item) {
  Frame frame;
  frame.point = llvm::to_vector(origin);
  if (!reduced.empty()) {
    const Group &inner = reduced.back();
    int64_t perInner = inner.size / evaluator.lanes;
    if (reduced.size() > 1) {
      setPoint(code, frame.point, ArrayRef(reduced).drop_back(),
               code.div(item, perInner));
      item = code.rem(item, perInner);
    }
    frame.point[inner.carrier] = {code.mul(item, evaluator.lanes), 1, Value(),
                                  evaluator.lanes};
  }
  return evaluator.at(reduction.getX(), frame);
}

void ReduceWriter::writeResults(Value value, ArrayRef<Index> point,
                                Value isResult) {
  Evaluator evaluator = kernel.makeEvaluator(1);
  Frame frame;
  for (int64_t dim : keptDims)
    frame.point.push_back(point[dim]);
  frame.known[reduction.getResult()] = code.splat(value, 1);
  Code::Values stored;
  for (Value yielded : kernel.getYields())
    stored.push_back(evaluator.at(yielded, frame));
  failed |= evaluator.failed;
  code.ifThen(isResult, [&] {
    for (auto [value, view] : llvm::zip(stored, kernel.results))
      evaluator.store(value, view, frame);
  });
}

/// A team folds a result.
LaunchPlan ReduceWriter::writeRows() {
  int64_t rows = getCount(kept);
  int64_t inner = reduced.empty() ? 1 : reduced.back().size;
  SmallVector<View> read;
  for (auto &[value, view] : kernel.views)
    read.push_back(view);
  Evaluator evaluator =
      kernel.makeEvaluator(std::gcd(getVectorLanes(read), inner));
  int64_t vectors = getCount(reduced) / evaluator.lanes;
  RowShape rowShape = chooseRowShape(vectors);
  LaunchPlan launch;
  launch.block = std::max<int64_t>(rowShape.threads, 128);
  Team team(code, rowShape.threads, launch.block);
  launch.grid = llvm::divideCeil(rows, team.perBlock);
  Value number = code.add(code.mul(getBlock(code), team.perBlock), team.number);
  SmallVector<Index> origin = getOrigin(code, shape.size());
  setPoint(code, origin, kept, code.min(number, code.index(rows - 1)));
  Value neutral = evaluator.neutral(reduction.getKind(), reduction.getResult());
  Value folded =
      code.loop(code.index(0), code.index(rowShape.slots), 1, neutral,
                [&](Value slot, ValueRange carried) -> Code::Values {
                  Value item = code.add(code.mul(slot, team.size), team.self);
                  bool mayEnd = vectors % team.size != 0;
                  Value isInside = code.less(item, code.index(vectors));
                  if (mayEnd)
                    item = code.min(item, code.index(vectors - 1));
                  Value term = getTerm(evaluator, origin, item);
                  if (mayEnd)
                    term = code.select(isInside, term, neutral);
                  return {combine(carried[0], term)};
                })[0];
  auto join = [&](Value x, Value y) { return combine(x, y); };
  Value total = team.fold(code.combineLanes(folded, join), join);
  failed |= evaluator.failed;
  Value isFirst = code.less(team.self, code.index(1));
  writeResults(total, origin,
               code.both(isFirst, code.less(number, code.index(rows))));
  return launch;
}

/// A block folds 32 neighbouring results.
LaunchPlan ReduceWriter::writeColumns() {
  Group strip = kept.pop_back_val();
  int64_t strips = llvm::divideCeil(strip.size, WarpSize);
  int64_t items = getCount(reduced);
  constexpr int64_t ItemsPerWarp = 8, MostWarps = 16;
  int64_t warps =
      std::clamp<int64_t>(roundToPower(items / ItemsPerWarp), 1, MostWarps);
  LaunchPlan launch{getCount(kept) * strips, warps * WarpSize, false, ""};
  Value lane = code.rem(getThread(code), WarpSize);
  Value warp = code.div(getThread(code), WarpSize);
  SmallVector<Index> origin = getOrigin(code, shape.size());
  setPoint(code, origin, kept, code.div(getBlock(code), strips));
  Value column =
      code.add(code.mul(code.rem(getBlock(code), strips), WarpSize), lane);
  Value isInside = code.less(column, code.index(strip.size));
  origin[strip.carrier] = {code.min(column, code.index(strip.size - 1)), 1,
                           Value()};
  Evaluator evaluator = kernel.makeEvaluator(1);
  Value neutral = evaluator.neutral(reduction.getKind(), reduction.getResult());
  Value folded = code.loop(
      warp, code.index(items), warps, neutral,
      [&](Value item, ValueRange carried) -> Code::Values {
        return {combine(carried[0], getTerm(evaluator, origin, item))};
      })[0];
  failed |= evaluator.failed;
  Value total = code.extract(folded, 0);
  Value isFirst = code.less(warp, code.index(1));
  if (warps > 1) {
    Type element = total.getType(), memory = getMemoryType(element);
    Value places = makeShared(code, memory, warps * WarpSize);
    code.storeScalar(total, code.address(places, memory, getThread(code)),
                     element);
    makeBarrier(code);
    for (int64_t i = 1; i < warps; ++i) {
      Value other = code.loadScalar(
          code.address(places, memory, code.add(lane, i * WarpSize)), element);
      total = combine(total, other);
    }
  }
  writeResults(total, origin, code.both(isFirst, isInside));
  return launch;
}

FailureOr<LaunchPlan> ReduceWriter::write() {
  if (mlir::failed(findReduction()))
    return failure();
  findGroups();
  if (llvm::is_contained(reduction.getType().getShape(), 0))
    return LaunchPlan();
  LaunchPlan launch =
      areLanesReduced() && getCount(reduced) ? writeRows() : writeColumns();
  if (failed)
    return failure();
  return launch;
}

FailureOr<LaunchPlan> cuda::buildReduceKernel(Template &kernel) {
  return ReduceWriter(kernel).write();
}
