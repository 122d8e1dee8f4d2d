//===- PoolGradKernel.cpp - windows give their gradient back --------------===//
//
// An item is one channel of one image: it clears its part of the result, then
// goes through the windows in order. Each adds its gradient to its largest
// element, or its share to all of them. Windows overlap, so that one item is
// one thread's; it works element by element.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/PoolWindows.h"

using namespace cleave;
using namespace mlir;

namespace {
class PoolGradWriter {
public:
  PoolGradWriter(Template &kernel, PoolGradOp op)
      : kernel(kernel), op(op), code(kernel.code),
        rank(op.getType().getRank()) {}
  FailureOr<KernelPlan> write();

private:
  using Body = function_ref<void(ArrayRef<Index>)>;

  void clear(SmallVector<Index> point, int64_t dim);
  /// Calls body for all windows; the point is one of dresult.
  void forWindows(SmallVector<Index> point, int64_t dim, Body body);
  /// Carries values over the elements of the window at `window`, from `dim` on.
  Code::Values
  forTaps(ArrayRef<Index> window, SmallVector<Index> point, int64_t dim,
          ValueRange carried,
          function_ref<Code::Values(ArrayRef<Index>, ValueRange)> body);
  void addToLargest(ArrayRef<Index> window);
  void addToAll(ArrayRef<Index> window);
  void add(ArrayRef<Index> point, Value value);
  Value start(ArrayRef<Index> window, int64_t dim) {
    return getStart(code, op.getWindow(dim), window[dim].base);
  }
  Frame makeFrame(ArrayRef<Index> point) {
    Frame frame;
    frame.point.assign(point.begin(), point.end());
    return frame;
  }
  Value read(Value value, ArrayRef<Index> point);

  Template &kernel;
  PoolGradOp op;
  Code &code;
  int64_t rank;
  bool failed = false;
};
} // namespace

Value PoolGradWriter::read(Value value, ArrayRef<Index> point) {
  Evaluator evaluator = kernel.makeEvaluator(1);
  Frame frame = makeFrame(point);
  Value result = evaluator.at(value, frame);
  failed |= evaluator.failed;
  return result;
}

void PoolGradWriter::add(ArrayRef<Index> point, Value value) {
  Evaluator evaluator = kernel.makeEvaluator(1);
  Frame frame = makeFrame(point);
  Value before = evaluator.load(kernel.results[0], frame);
  evaluator.store(code.b.create<arith::AddFOp>(code.loc, before, value),
                  kernel.results[0], frame);
}

void PoolGradWriter::clear(SmallVector<Index> point, int64_t dim) {
  int64_t size = op.getType().getDimSize(dim);
  if (dim + 1 < rank)
    return code.loop(code.index(0), code.index(size), 1, [&](Value i) {
      point[dim] = {i, 0, Value()};
      clear(point, dim + 1);
    });
  Evaluator evaluator = kernel.makeEvaluator();
  forVectors(
      code, code.index(0), code.index(size), size % kernel.lanes != 0,
      [&](Value base, Value mask) {
        point[dim] = {base, 1, Value()};
        Frame frame = makeFrame(point);
        frame.mask = mask;
        evaluator.store(evaluator.neutral(ReduceKind::Sum, op.getDresult()),
                        kernel.results[0], frame);
      },
      kernel.lanes);
}

void PoolGradWriter::forWindows(SmallVector<Index> point, int64_t dim,
                                Body body) {
  if (dim == rank)
    return body(point);
  Value count = code.index(op.getDresult().getType().getDimSize(dim));
  code.loop(code.index(0), count, 1, [&](Value i) {
    point[dim] = {i, 0, Value()};
    forWindows(point, dim + 1, body);
  });
}

Code::Values PoolGradWriter::forTaps(
    ArrayRef<Index> window, SmallVector<Index> point, int64_t dim,
    ValueRange carried,
    function_ref<Code::Values(ArrayRef<Index>, ValueRange)> body) {
  if (dim == rank)
    return body(point, carried);
  PoolWindow along = op.getWindow(dim);
  Value first = start(window, dim);
  auto [from, to] = getTaps(code, along, first, along.size);
  return code.loop(from, to, 1, carried, [&](Value k, ValueRange inner) {
    Value index = code.add(first, code.mul(k, along.dilation));
    point[dim] = {index, 0, Value()};
    return forTaps(window, point, dim + 1, inner, body);
  });
}

/// Carries the largest value and its indices; of equal ones the first stays.
void PoolGradWriter::addToLargest(ArrayRef<Index> window) {
  Type element = getComputeType(op.getType().getElementType());
  Code::Values init = {code.constant(code.vectorOf(element, 1),
                                     -std::numeric_limits<double>::infinity())};
  for (int64_t dim = 2; dim < rank; ++dim) {
    PoolWindow along = op.getWindow(dim);
    Value first = start(window, dim);
    Value tap = getTaps(code, along, first, along.size).first;
    Value index = code.add(first, code.mul(tap, along.dilation));
    init.push_back(code.min(index, code.index(along.size - 1)));
  }
  SmallVector<Index> point(window);
  Code::Values found = forTaps(
      window, point, 2, init,
      [&](ArrayRef<Index> at, ValueRange best) -> Code::Values {
        Value x = read(op.getX(), at);
        Value isLarger =
            code.extract(code.b.create<arith::CmpFOp>(
                             code.loc, arith::CmpFPredicate::UGT, x, best[0]),
                         0);
        Code::Values next = {code.select(isLarger, x, best[0])};
        for (int64_t dim = 2; dim < rank; ++dim)
          next.push_back(code.select(isLarger, at[dim].base, best[dim - 1]));
        return next;
      });
  for (int64_t dim = 2; dim < rank; ++dim)
    point[dim] = {found[dim - 1], 0, Value()};
  add(point, read(op.getDresult(), window));
}

void PoolGradWriter::addToAll(ArrayRef<Index> window) {
  Value share = read(op.getDresult(), window);
  if (op.getKind() == PoolKind::Average) {
    Value count = code.index(1);
    for (int64_t dim = 2; dim < rank; ++dim)
      count = code.mul(count, countTaps(code, op.getIncludePad(),
                                        op.getWindow(dim), start(window, dim)));
    share = divideByCount(code, share, code.splat(count, 1));
  }
  forTaps(window, SmallVector<Index>(window), 2, {},
          [&](ArrayRef<Index> point, ValueRange) -> Code::Values {
            add(point, share);
            return {};
          });
}

FailureOr<KernelPlan> PoolGradWriter::write() {
  ArrayRef<int64_t> shape = op.getType().getShape();
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) {
    SmallVector<Index> point = getOrigin(code, rank);
    setPoint(code, point, {{shape[0], 0}, {shape[1], 1}}, item);
    clear(point, 2);
    forWindows(point, 2, [&](ArrayRef<Index> window) {
      if (op.getKind() == PoolKind::Max)
        addToLargest(window);
      else
        addToAll(window);
    });
  });
  if (failed)
    return failure();
  int64_t elements = ShapedType::getNumElements(shape.drop_front(2));
  for (int64_t size : op.getKernel())
    elements *= size;
  return KernelPlan{op.getType().getNumElements() ? shape[0] * shape[1] : 0,
                    getGrain(elements), 0, false, ""};
}

FailureOr<KernelPlan> cleave::buildPoolGradKernel(Template &kernel,
                                                  PoolGradOp op) {
  return PoolGradWriter(kernel, op).write();
}
