//===- PoolKernel.cpp - windows, one dim at a time ------------------------===//
//
// An item is one row of the result: all windows along the last dim. First the
// rows of the input that these windows cover are combined, vector by vector,
// into a row in the thread's scratch that has the padding of the last dim
// around it; then that row is combined window by window. So a window of 3 x 3
// takes 6 steps, and what is read from memory is read in order.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"
#include "codegen/kernels/PoolWindows.h"

using namespace cleave;
using namespace mlir;

//===-- Rows --------------------------------------------------------------===//

namespace {
class PoolWriter {
public:
  PoolWriter(Template &kernel, PoolOp op)
      : kernel(kernel), op(op), code(kernel.code),
        evaluator(kernel.makeEvaluator()), last(op.getType().getRank() - 1),
        window(op.getWindow(last)) {}
  FailureOr<KernelPlan> write();

private:
  void fill(int64_t from, int64_t to);
  void writeItem(Value item);
  /// Combines the input rows of the windows at `point`; the number of rows that
  /// count for an average.
  Value writeRow(ArrayRef<Index> point);
  Value combineRows(ArrayRef<Index> windows, SmallVector<Index> point,
                    int64_t dim, Value sum, Value mask);
  void writeWindows(SmallVector<Index> point, Value rows);
  Value divide(Value sum, Value rows, const Frame &frame);
  Value combine(Value x, Value y) { return combineWindow(code, op, x, y); }
  View atRow(int64_t position);

  Template &kernel;
  PoolOp op;
  Code &code;
  Evaluator evaluator;
  int64_t last;
  PoolWindow window; ///< along the last dim
  int64_t rowSize = 0;
  View row;    ///< position p is input index p - low
  View counts; ///< elements of each window that count; null: always all
};
} // namespace

/// The row from `position` on.
View PoolWriter::atRow(int64_t position) {
  View view = row;
  view.base =
      code.address(row.base, getMemoryType(row.element), code.index(position));
  return view;
}

/// Stores the neutral element in the row.
void PoolWriter::fill(int64_t from, int64_t to) {
  if (from >= to)
    return;
  forVectors(code, code.index(from), code.index(to), (to - from) % Lanes != 0,
             [&](Value base, Value mask) {
               Frame frame;
               frame.point.push_back({base, 1, Value()});
               frame.mask = mask;
               evaluator.store(evaluator.neutral(op.getReduction(), op.getX()),
                               row, frame);
             });
}

/// `windows` has the starts of the windows. Loops over the dims from `dim` on.
Value PoolWriter::combineRows(ArrayRef<Index> windows, SmallVector<Index> point,
                              int64_t dim, Value sum, Value mask) {
  if (dim == last) {
    Frame frame;
    frame.point = point;
    frame.mask = mask;
    return combine(sum, evaluator.at(op.getX(), frame));
  }
  PoolWindow along = op.getWindow(dim);
  Value start = windows[dim].base;
  auto [from, to] = getTaps(code, along, start, along.size);
  return code.loop(
      from, to, 1, sum, [&](Value k, ValueRange carried) -> Code::Values {
        Value index = code.add(start, code.mul(k, along.dilation));
        point[dim] = {index, 0, Value()};
        return {combineRows(windows, point, dim + 1, carried[0], mask)};
      })[0];
}

Value PoolWriter::writeRow(ArrayRef<Index> point) {
  SmallVector<Index> windows(point);
  Value rows = code.index(1);
  for (int64_t dim = 2; dim < last; ++dim) {
    PoolWindow along = op.getWindow(dim);
    windows[dim].base = getStart(code, along, point[dim].base);
    rows = code.mul(
        rows, countTaps(code, op.getIncludePad(), along, windows[dim].base));
  }
  int64_t end = std::min(window.size, rowSize - window.low);
  View target = atRow(window.low);
  forVectors(code, code.index(0), code.index(std::max<int64_t>(end, 0)),
             end % Lanes != 0, [&](Value base, Value mask) {
               SmallVector<Index> at(point);
               at[last] = {base, 1, Value()};
               Value sum = combineRows(
                   windows, at, 2,
                   evaluator.neutral(op.getReduction(), op.getX()), mask);
               Frame frame;
               frame.point.push_back(at[last]);
               frame.mask = mask;
               evaluator.store(sum, target, frame);
             });
  return rows;
}

//===-- Windows -----------------------------------------------------------===//

/// The average of `sum`: by the number of rows times that of columns.
Value PoolWriter::divide(Value sum, Value rows, const Frame &frame) {
  Type i64 = code.b.getI64Type();
  Value columns = code.constant(code.vectorOf(i64), double(window.kernel));
  if (counts.base) {
    Frame at;
    at.point.push_back(frame.point[last]);
    at.mask = frame.mask;
    columns = evaluator.load(counts, at);
  }
  return divideByCount(code, sum, code.mul(columns, code.splat(rows)));
}

void PoolWriter::writeWindows(SmallVector<Index> point, Value rows) {
  int64_t count = op.getType().getDimSize(last);
  forVectors(code, code.index(0), code.index(count), count % Lanes != 0,
             [&](Value base, Value mask) {
               Frame taps;
               taps.mask = mask;
               taps.point.push_back(
                   {code.mul(base, window.stride), window.stride, Value()});
               Value sum = evaluator.load(row, taps);
               constexpr int64_t Unrolled = 8;
               auto add = [&](Value sum, Value k) {
                 Frame tap = taps;
                 tap.point[0].base =
                     code.add(tap.point[0].base, code.mul(k, window.dilation));
                 return combine(sum, evaluator.load(row, tap));
               };
               if (window.kernel <= Unrolled)
                 for (int64_t k = 1; k < window.kernel; ++k)
                   sum = add(sum, code.index(k));
               else
                 sum = code.loop(
                     code.index(1), code.index(window.kernel), 1, sum,
                     [&](Value k, ValueRange carried) -> Code::Values {
                       return {add(carried[0], k)};
                     })[0];
               Frame frame;
               frame.mask = mask;
               frame.point = point;
               frame.point[last] = {base, 1, Value()};
               if (op.getKind() == PoolKind::Average)
                 sum = divide(sum, rows, frame);
               evaluator.store(sum, kernel.results[0], frame);
             });
}

void PoolWriter::writeItem(Value item) {
  SmallVector<Index> point = getOrigin(code, last + 1);
  SmallVector<Group> outer;
  for (int64_t dim = 0; dim < last; ++dim)
    outer.push_back({op.getType().getDimSize(dim), dim});
  setPoint(code, point, outer, item);
  Value rows = writeRow(point);
  writeWindows(point, rows);
}

FailureOr<KernelPlan> PoolWriter::write() {
  int64_t count = op.getType().getDimSize(last), elements = 1;
  rowSize = std::max<int64_t>(count - 1, 0) * window.stride + window.getSpan();
  Type computed = getComputeType(op.getType().getElementType());
  row = {kernel.scratch, computed, {1}};
  SmallVector<int64_t> found;
  for (int64_t i = 0; i < count; ++i)
    found.push_back(
        std::max<int64_t>(window.getElements(i, op.getIncludePad()), 1));
  if (llvm::any_of(found, [&](int64_t n) { return n != window.kernel; }))
    counts = makeConstantView(
        code, DenseElementsAttr::get(
                  RankedTensorType::get({count}, code.b.getI64Type()),
                  ArrayRef<int64_t>(found)));
  fill(0, std::min(window.low, rowSize));
  fill(window.low + window.size, rowSize);
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeItem(item); });
  if (evaluator.failed)
    return failure();
  int64_t items = op.getType().getNumElements() / std::max<int64_t>(count, 1);
  for (int64_t size : op.getKernel())
    elements *= size;
  int64_t bytes = llvm::alignTo(rowSize * getMemoryBytes(computed), 64);
  return KernelPlan{items, getGrain(count * elements), bytes, false, ""};
}

FailureOr<KernelPlan> cleave::buildPoolKernel(Template &kernel, PoolOp op) {
  auto view = kernel.views.find(op.getX());
  bool hasChannelsInside =
      view != kernel.views.end() && view->second.strides[1] == 1 &&
      view->second.strides.back() != 1 && op.getType().getDimSize(1) > 1;
  return hasChannelsInside ? buildPoolChannels(kernel, op)
                           : PoolWriter(kernel, op).write();
}
