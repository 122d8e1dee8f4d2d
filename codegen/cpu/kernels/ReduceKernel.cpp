//===- ReduceKernel.cpp - one reduction and what surrounds it -------------===//
//
// Elementwise ops before the reduction are evaluated at each element of its
// operand, those after it at each element of its result.
//
// The innermost dim gives the lanes. If it is reduced, an item is one result:
// rows are folded in 4 chains of 16 lanes. If it is kept, an item is a strip of
// up to 64 neighbouring results, which walk through the reduced dims together.
// Either way a result is computed by one thread in fixed order.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"

using namespace cleave;
using namespace mlir;

namespace {
class ReduceWriter {
public:
  ReduceWriter(Template &kernel)
      : kernel(kernel), code(kernel.code), evaluator(kernel.makeEvaluator()) {}
  FailureOr<KernelPlan> write();

private:
  using Values = Code::Values;

  LogicalResult findReduction();
  void findGroups();
  bool areLanesReduced();
  void writeOne(Value item);
  void writeStrip(Value item);
  void writeResults(Value reduced, ArrayRef<Index> point, Value mask);
  /// Nested loops over the groups; carries values through `body(point)`.
  Values nest(SmallVector<Index> point, ArrayRef<Group> groups, ValueRange init,
              function_ref<Values(ArrayRef<Index>, ValueRange)> body);
  Value combine(Value x, Value y);
  Value getNeutral();

  Template &kernel;
  Code &code;
  Evaluator evaluator;
  ReduceOp reduction;
  SmallVector<int64_t> shape, keptDims;
  SmallVector<Group> kept, reduced;
  Group strip{1, -1}; ///< innermost kept group, when it gives the lanes
  int64_t stripVectors = 1;
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

Value ReduceWriter::getNeutral() {
  return evaluator.neutral(reduction.getKind(), reduction.getResult());
}

Code::Values
ReduceWriter::nest(SmallVector<Index> point, ArrayRef<Group> groups,
                   ValueRange init,
                   function_ref<Values(ArrayRef<Index>, ValueRange)> body) {
  if (groups.empty())
    return body(point, init);
  return code.loop(code.index(0), code.index(groups.front().size), 1, init,
                   [&](Value i, ValueRange carried) {
                     point[groups.front().carrier] = {i, 0, Value()};
                     return nest(point, groups.drop_front(), carried, body);
                   });
}

void ReduceWriter::writeResults(Value value, ArrayRef<Index> point,
                                Value mask) {
  Frame frame;
  frame.mask = mask;
  for (int64_t dim : keptDims)
    frame.point.push_back(point[dim]);
  frame.known[reduction.getResult()] = value;
  Values stored;
  for (Value yielded : kernel.getYields())
    stored.push_back(evaluator.at(yielded, frame));
  for (auto [value, view] : llvm::zip(stored, kernel.results))
    evaluator.store(value, view, frame);
}

/// One result: folds its reduced dims, then its lanes.
void ReduceWriter::writeOne(Value item) {
  SmallVector<Index> origin = getOrigin(code, shape.size());
  setPoint(code, origin, kept, item);
  Group inner = reduced.empty() ? Group{1, -1} : reduced.back();
  Value neutral = getNeutral();
  auto term = [&](ArrayRef<Index> point, Value base, Value mask) {
    Frame frame;
    frame.point = llvm::to_vector(point);
    frame.mask = mask;
    if (inner.carrier >= 0)
      frame.point[inner.carrier] = {base, 1, Value()};
    Value value = evaluator.at(reduction.getX(), frame);
    return mask ? code.select(mask, value, neutral) : value;
  };
  auto foldRow = [&](ArrayRef<Index> point, ValueRange carried) -> Values {
    // Each chain of the row starts at the neutral element.
    Values row = foldVectors(
        code, inner.size, neutral,
        [&](Value base, Value mask, ValueRange chain) -> Values {
          return {combine(chain[0], term(point, base, mask))};
        },
        [&](ValueRange x, ValueRange y) -> Values {
          return {combine(x[0], y[0])};
        });
    return {combine(carried[0], row[0])};
  };
  ArrayRef<Group> around = ArrayRef(reduced).drop_back(reduced.empty() ? 0 : 1);
  Value folded = nest(origin, around, neutral, foldRow)[0];
  Value total = code.combineLanes(
      folded, [&](Value x, Value y) { return combine(x, y); });
  writeResults(code.splat(total), origin, Value());
}

/// Up to 64 neighbouring results, 16 in a vector.
void ReduceWriter::writeStrip(Value item) {
  SmallVector<Index> origin = getOrigin(code, shape.size());
  int64_t width = stripVectors * Lanes;
  int64_t strips = llvm::divideCeil(strip.size, width);
  setPoint(code, origin, kept, code.div(item, strips));
  Value first = code.mul(code.rem(item, strips), width);
  Values bases, masks;
  for (int64_t i = 0; i < stripVectors; ++i) {
    bases.push_back(code.add(first, i * Lanes));
    Value left = code.sub(code.index(strip.size), bases.back());
    masks.push_back(strip.size % width ? code.laneMask(left) : Value());
  }
  Values init(stripVectors, getNeutral());
  Values folded = nest(
      origin, reduced, init, [&](ArrayRef<Index> point, ValueRange carried) {
        Values next;
        for (auto [base, mask, value] : llvm::zip(bases, masks, carried)) {
          Frame frame;
          frame.point = llvm::to_vector(point);
          frame.mask = mask;
          frame.point[strip.carrier] = {base, 1, Value()};
          next.push_back(combine(value, evaluator.at(reduction.getX(), frame)));
        }
        return next;
      });
  for (auto [base, mask, value] : llvm::zip(bases, masks, folded)) {
    origin[strip.carrier] = {base, 1, Value()};
    writeResults(value, origin, mask);
  }
}

FailureOr<KernelPlan> ReduceWriter::write() {
  if (failed(findReduction()))
    return failure();
  findGroups();
  int64_t items, elements = getCount(reduced);
  if (areLanesReduced()) {
    items = getCount(kept);
    code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeOne(item); });
  } else {
    strip = kept.pop_back_val();
    stripVectors = std::min<int64_t>(4, llvm::divideCeil(strip.size, Lanes));
    items = getCount(kept) * llvm::divideCeil(strip.size, stripVectors * Lanes);
    elements *= stripVectors * Lanes;
    code.loop(kernel.begin, kernel.end, 1,
              [&](Value item) { writeStrip(item); });
  }
  if (evaluator.failed)
    return failure();
  return KernelPlan{items, getGrain(elements), 0, false, ""};
}

FailureOr<KernelPlan> cleave::buildReduceKernel(Template &kernel) {
  return ReduceWriter(kernel).write();
}
