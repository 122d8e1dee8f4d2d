//===- RowKernel.cpp - norms, softmax, cross-entropy ----------------------===//
//
// A kernel whose ops need sums or maxima over the rows of one domain. Per row:
//   1. for each row op, in order, its statistics by passes over the row;
//   2. one pass that computes and stores all results of the row.
// In between, the operand of a row op is kept in the thread's scratch row,
// unless it is an operand of the kernel, and so are the exponentials of a
// softmax. Elementwise ops before and after are evaluated where they are
// needed.
//
// An item is a row. Sums go in 4 chains of 16 lanes, joined in fixed order, so
// that a result does not depend on threads.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"
#include "codegen/kernels/RowOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace cleave;
using namespace mlir;

namespace {
class RowWriter : RowOps {
public:
  RowWriter(Template &kernel) : RowOps(kernel, Lanes) {}
  FailureOr<KernelPlan> write();

private:
  void writeRow(Value item);
  void writeResults();

  /// Frames for each vector of the current row.
  void forRow(function_ref<void(Frame &)> body);
  Value fold(double neutral, Type element, Term term, Combine combine) override;

  bool isDirect(Value x);
  View makeScratchRow(Type element);
  std::optional<View> keep(Value x) override;
  std::optional<View> keepPowers(Type element) override {
    return makeScratchRow(element);
  }

  int64_t scratchBytes = 0;
};
} // namespace

//===-- Passes -----------------------------------------------------------===//

void RowWriter::forRow(function_ref<void(Frame &)> body) {
  fold(
      0, Type(),
      [&](Frame &frame) {
        body(frame);
        return Value();
      },
      [](Value, Value) { return Value(); });
}

Value RowWriter::fold(double neutral, Type element, Term term,
                      Combine combine) {
  const Group &inner = row.back();
  ArrayRef<Group> around = ArrayRef(row).drop_back();
  Values init;
  if (element)
    init.push_back(code.constant(code.vectorOf(element), neutral));
  auto foldInner = [&](ArrayRef<Index> point, ValueRange start) {
    return foldVectors(
        code, inner.size, start,
        [&](Value base, Value mask, ValueRange carried) -> Values {
          Frame frame = makeFrame(point, mask);
          frame.point[inner.carrier] = {base, 1, Value()};
          Value value = term(frame);
          if (!value)
            return {};
          if (mask)
            value = code.select(mask, value,
                                code.constant(value.getType(), neutral));
          return {combine(carried[0], value)};
        },
        [&](ValueRange x, ValueRange y) -> Values {
          return x.empty() ? Values() : Values{combine(x[0], y[0])};
        });
  };
  Values folded;
  if (around.empty()) {
    folded = foldInner(origin, init);
  } else {
    folded = code.loop(code.index(0), code.index(getCount(around)), 1, init,
                       [&](Value i, ValueRange carried) {
                         SmallVector<Index> point = origin;
                         setPoint(code, point, around, i);
                         // A chain may start from the neutral element only
                         // once.
                         Values part = foldInner(point, init);
                         return carried.empty()
                                    ? Values()
                                    : Values{combine(carried[0], part[0])};
                       });
  }
  if (!element)
    return Value();
  return code.splat(code.combineLanes(folded[0], combine));
}

//===-- Scratch rows -----------------------------------------------------===//

bool RowWriter::isDirect(Value x) {
  auto view = kernel.views.find(x);
  return view != kernel.views.end() &&
         view->second.strides[row.back().carrier] <= 1 &&
         getComputeType(view->second.element) == view->second.element;
}

View RowWriter::makeScratchRow(Type element) {
  View view;
  view.element = getComputeType(element);
  view.base = code.address(kernel.scratch, code.b.getI8Type(),
                           code.index(scratchBytes));
  view.strides.assign(shape.size(), 0);
  int64_t count = 1;
  for (const Group &group : llvm::reverse(row)) {
    view.strides[group.carrier] = count;
    count *= group.size;
  }
  scratchBytes +=
      llvm::alignTo(count * getMemoryBytes(view.element), int64_t(64));
  return view;
}

std::optional<View> RowWriter::keep(Value x) {
  if (isDirect(x) || kept.count(x))
    return std::nullopt;
  return makeScratchRow(getElementTypeOrSelf(x.getType()));
}

//===-- Rows -------------------------------------------------------------===//

void RowWriter::writeResults() {
  SmallVector<std::pair<Value, View>> whole, single;
  for (auto [value, view] : llvm::zip(kernel.getYields(), kernel.results)) {
    auto type = cast<RankedTensorType>(value.getType());
    bool isWhole = type.getShape() == ArrayRef(shape);
    (isWhole ? whole : single).push_back({value, view});
  }
  forRow([&](Frame &frame) {
    Values values;
    for (auto &[value, view] : whole)
      values.push_back(evaluator.at(value, frame));
    for (auto [value, target] : llvm::zip(values, whole))
      evaluator.store(value, target.second, frame);
  });
  Frame frame;
  for (int64_t dim : outerDims)
    frame.point.push_back(origin[dim]);
  for (auto &[value, view] : single)
    evaluator.store(evaluator.at(value, frame), view, frame);
}

void RowWriter::writeRow(Value item) {
  origin = getOrigin(code, shape.size());
  setPoint(code, origin, outer, item);
  for (Operation *op : ops)
    addStatistics(op);
  writeResults();
}

FailureOr<KernelPlan> RowWriter::write() {
  if (failed(findRows()))
    return failure();
  findGroups();
  int64_t rows = llvm::is_contained(shape, 0) ? 0 : getCount(outer);
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeRow(item); });
  if (evaluator.failed)
    return failure();
  return KernelPlan{rows, getGrain(4 * getCount(row)), scratchBytes, false, ""};
}

FailureOr<KernelPlan> cleave::buildRowKernel(Template &kernel) {
  return RowWriter(kernel).write();
}
