//===- PoolKernel.cpp - windows, a thread each ----------------------------===//
//
// Neighbouring threads have neighbouring elements of the result in memory, so
// that what they read is read together.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"
#include "codegen/kernels/PoolWindows.h"

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

namespace {
class PoolWriter {
public:
  PoolWriter(Template &kernel, PoolOp op)
      : kernel(kernel), op(op), code(kernel.code),
        evaluator(kernel.makeEvaluator(1)), rank(op.getType().getRank()) {}
  FailureOr<LaunchPlan> write();

private:
  void writeItem(Value item);
  /// Loops over the dims of the window from `dim` on.
  Value walk(ArrayRef<Index> point, SmallVector<Index> at, int64_t dim,
             Value sum);
  Value count(ArrayRef<Index> point);

  Template &kernel;
  PoolOp op;
  Code &code;
  Evaluator evaluator;
  int64_t rank;
};
} // namespace

Value PoolWriter::walk(ArrayRef<Index> point, SmallVector<Index> at,
                       int64_t dim, Value sum) {
  if (dim == rank) {
    Frame frame;
    frame.point = at;
    return combineWindow(code, op, sum, evaluator.at(op.getX(), frame));
  }
  PoolWindow window = op.getWindow(dim);
  Value start = getStart(code, window, point[dim].base);
  auto [from, to] = getTaps(code, window, start, window.size);
  return code.loop(
      from, to, 1, sum, [&](Value k, ValueRange carried) -> Code::Values {
        Value index = code.add(start, code.mul(k, window.dilation));
        at[dim] = {index, 0, Value()};
        return {walk(point, at, dim + 1, carried[0])};
      })[0];
}

/// Elements of the window that an average counts.
Value PoolWriter::count(ArrayRef<Index> point) {
  Value count = code.index(1);
  for (int64_t dim = 2; dim < rank; ++dim) {
    PoolWindow window = op.getWindow(dim);
    Value start = getStart(code, window, point[dim].base);
    count = code.mul(count, countTaps(code, op.getIncludePad(), window, start));
  }
  return count;
}

void PoolWriter::writeItem(Value item) {
  // Dims from the outermost in memory to the innermost.
  SmallVector<Group> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    dims.push_back({op.getType().getDimSize(dim), dim});
  ArrayRef<int64_t> strides = kernel.results[0].strides;
  llvm::sort(dims, [&](const Group &x, const Group &y) {
    return std::pair(strides[y.carrier], x.carrier) <
           std::pair(strides[x.carrier], y.carrier);
  });
  SmallVector<Index> point = getOrigin(code, rank);
  setPoint(code, point, dims, item);
  Value sum =
      walk(point, point, 2, evaluator.neutral(op.getReduction(), op.getX()));
  if (op.getKind() == PoolKind::Average)
    sum = divideByCount(code, sum, code.splat(count(point), 1));
  Frame frame;
  frame.point = point;
  evaluator.store(sum, kernel.results[0], frame);
}

FailureOr<LaunchPlan> PoolWriter::write() {
  int64_t items = op.getType().getNumElements();
  LaunchPlan launch;
  launch.grid =
      std::min<int64_t>(llvm::divideCeil(items, BlockSize), MostBlocks);
  launch.block = BlockSize;
  launch.narrowLoads = "a thread has a window";
  Value self = code.add(code.mul(getBlock(code), BlockSize), getThread(code));
  forItems(code, self, launch.grid * BlockSize, items,
           [&](Value item) { writeItem(item); });
  if (evaluator.failed)
    return failure();
  return launch;
}

FailureOr<LaunchPlan> cuda::buildPoolKernel(Template &kernel, PoolOp op) {
  return PoolWriter(kernel, op).write();
}
