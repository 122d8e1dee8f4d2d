//===- PoolChannels.cpp - windows of images whose channels are innermost --===//
//
// An item is one row of the result, with all channels. The lanes are channels,
// up to 64 of them at once; they walk through a window together.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"
#include "codegen/kernels/PoolWindows.h"

using namespace cleave;
using namespace mlir;

namespace {
class ChannelWriter {
public:
  ChannelWriter(Template &kernel, PoolOp op)
      : kernel(kernel), op(op), code(kernel.code),
        evaluator(kernel.makeEvaluator()), last(op.getType().getRank() - 1),
        channels(op.getType().getDimSize(1)) {}
  FailureOr<KernelPlan> write();

private:
  using Values = Code::Values;

  void writeItem(Value item);
  void writePosition(ArrayRef<Index> point);
  void writeChannels(ArrayRef<Index> point, Value count, Value base,
                     Value mask);
  /// Loops over the dims of the window from `dim` on; `at` is the element of
  /// the input.
  Values walk(ArrayRef<Index> point, SmallVector<Index> at, int64_t dim,
              ValueRange sums, Value mask);

  Template &kernel;
  PoolOp op;
  Code &code;
  Evaluator evaluator;
  int64_t last, channels;
  int64_t vectors = 1; ///< of channels at once
};
} // namespace

Code::Values ChannelWriter::walk(ArrayRef<Index> point, SmallVector<Index> at,
                                 int64_t dim, ValueRange sums, Value mask) {
  if (dim <= last) {
    PoolWindow window = op.getWindow(dim);
    Value start = getStart(code, window, point[dim].base);
    auto [from, to] = getTaps(code, window, start, window.size);
    return code.loop(from, to, 1, sums, [&](Value k, ValueRange carried) {
      Value index = code.add(start, code.mul(k, window.dilation));
      at[dim] = {index, 0, Value()};
      return walk(point, at, dim + 1, carried, mask);
    });
  }
  Values next;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Frame frame;
    frame.mask = mask;
    frame.point = at;
    frame.point[1].base = code.add(at[1].base, i * Lanes);
    next.push_back(
        combineWindow(code, op, sum, evaluator.at(op.getX(), frame)));
  }
  return next;
}

void ChannelWriter::writeChannels(ArrayRef<Index> point, Value count,
                                  Value base, Value mask) {
  SmallVector<Index> at(point);
  at[1] = {base, 1, Value()};
  Values init(vectors, evaluator.neutral(op.getReduction(), op.getX()));
  Values sums = walk(point, at, 2, init, mask);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Frame frame;
    frame.mask = mask;
    frame.point.assign(point.begin(), point.end());
    frame.point[1] = {code.add(base, i * Lanes), 1, Value()};
    if (count)
      sum = divideByCount(code, sum, code.splat(count));
    evaluator.store(sum, kernel.results[0], frame);
  }
}

void ChannelWriter::writePosition(ArrayRef<Index> point) {
  Value count;
  if (op.getKind() == PoolKind::Average) {
    count = code.index(1);
    for (int64_t dim = 2; dim <= last; ++dim) {
      PoolWindow window = op.getWindow(dim);
      Value start = getStart(code, window, point[dim].base);
      count =
          code.mul(count, countTaps(code, op.getIncludePad(), window, start));
    }
  }
  Value end = code.index(channels);
  if (channels % Lanes)
    return forVectors(code, code.index(0), end, /*hasTail=*/true,
                      [&](Value base, Value mask) {
                        writeChannels(point, count, base, mask);
                      });
  code.loop(code.index(0), end, vectors * Lanes,
            [&](Value base) { writeChannels(point, count, base, Value()); });
}

void ChannelWriter::writeItem(Value item) {
  SmallVector<Index> point = getOrigin(code, last + 1);
  SmallVector<Group> outer;
  for (int64_t dim = 0; dim < last; ++dim)
    if (dim != 1)
      outer.push_back({op.getType().getDimSize(dim), dim});
  setPoint(code, point, outer, item);
  code.loop(code.index(0), code.index(op.getType().getDimSize(last)), 1,
            [&](Value i) {
              point[last] = {i, 0, Value()};
              writePosition(point);
            });
}

FailureOr<KernelPlan> ChannelWriter::write() {
  for (int64_t count : {4, 2})
    if (vectors == 1 && channels % (count * Lanes) == 0)
      vectors = count;
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeItem(item); });
  if (evaluator.failed)
    return failure();
  int64_t row = op.getType().getDimSize(last) * channels, elements = row;
  for (int64_t size : op.getKernel())
    elements *= size;
  int64_t items = row ? op.getType().getNumElements() / row : 0;
  return KernelPlan{items, getGrain(elements), 0, false, ""};
}

FailureOr<KernelPlan> cleave::buildPoolChannels(Template &kernel, PoolOp op) {
  return ChannelWriter(kernel, op).write();
}
