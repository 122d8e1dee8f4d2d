//===- ResizeKernel.cpp - interpolation, a thread an element --------------===//
//
// A thread sums over the taps of all resized dims: 4 elements of an image for
// linear, 16 for cubic, which neighbouring threads read, too.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"
#include "codegen/kernels/ResizeTaps.h"

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

namespace {
class ResizeWriter {
public:
  ResizeWriter(Template &kernel, ResizeOp op)
      : kernel(kernel), op(op), code(kernel.code),
        evaluator(kernel.makeEvaluator(1)), resized(getResizedDims(op)) {
    for (int64_t dim : resized)
      tables.push_back(makeTapViews(code, op, dim));
  }
  FailureOr<LaunchPlan> write();

private:
  void writeItem(Value item);
  /// The sum over the taps of the resized dims from number `next` on; `at` is
  /// the element of the input.
  Value sum(ArrayRef<Index> point, SmallVector<Index> at, size_t next);
  Value load(const View &table, Index index);

  Template &kernel;
  ResizeOp op;
  Code &code;
  Evaluator evaluator;
  SmallVector<int64_t> resized;
  SmallVector<SmallVector<TapViews>> tables;
};
} // namespace

Value ResizeWriter::load(const View &table, Index index) {
  Frame frame;
  frame.point.push_back(index);
  return evaluator.load(table, frame);
}

Value ResizeWriter::sum(ArrayRef<Index> point, SmallVector<Index> at,
                        size_t next) {
  if (next == resized.size()) {
    Frame frame;
    frame.point = at;
    return evaluator.at(op.getX(), frame);
  }
  int64_t dim = resized[next];
  Value total;
  for (const TapViews &tap : tables[next]) {
    Value index = load(tap.indices, point[dim]);
    at[dim] = {code.extract(index, 0), 0, Value()};
    Value x = sum(point, at, next + 1);
    if (op.getKind() == ResizeKind::Nearest)
      return x;
    Value weight = load(tap.weights, point[dim]);
    total = total ? code.fma(x, weight, total)
                  : Value(code.b.create<arith::MulFOp>(code.loc, x, weight));
  }
  return total;
}

void ResizeWriter::writeItem(Value item) {
  SmallVector<Group> dims;
  for (int64_t dim = 0, rank = op.getType().getRank(); dim < rank; ++dim)
    dims.push_back({op.getType().getDimSize(dim), dim});
  SmallVector<Index> point = getOrigin(code, dims.size());
  setPoint(code, point, dims, item);
  Value value = sum(point, point, 0);
  Frame frame;
  frame.point = point;
  evaluator.store(value, kernel.results[0], frame);
}

FailureOr<LaunchPlan> ResizeWriter::write() {
  if (op.getKind() != ResizeKind::Nearest &&
      !isa<FloatType>(op.getType().getElementType()))
    return op.emitOpError()
           << "interpolates floats only on CUDA, found " << op.getType();
  int64_t items = op.getType().getNumElements();
  LaunchPlan launch;
  launch.grid =
      std::min<int64_t>(llvm::divideCeil(items, BlockSize), MostBlocks);
  launch.block = BlockSize;
  launch.narrowLoads = "a thread has an element and its neighbours";
  Value self = code.add(code.mul(getBlock(code), BlockSize), getThread(code));
  forItems(code, self, launch.grid * BlockSize, items,
           [&](Value item) { writeItem(item); });
  if (evaluator.failed)
    return failure();
  return launch;
}

FailureOr<LaunchPlan> cuda::buildResizeKernel(Template &kernel, ResizeOp op) {
  return ResizeWriter(kernel, op).write();
}
