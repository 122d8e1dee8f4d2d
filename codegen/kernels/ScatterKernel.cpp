//===- ScatterKernel.cpp - elements replaced or combined by index ---------===//
//
// An item is a block of the indexed dim, for one index of each dim before it:
// it copies its part of the operand (zeros for the gradient of a gather), then
// goes through all updates in order and
// applies those that fall into its block. So each element belongs to one
// thread, and updates of one element come in the order of the indices. Lanes
// run along the last dim, unless that is the indexed one.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Template.h"

using namespace cleave;
using namespace mlir;

namespace {
/// What a scatter and the gradient of a gather have in common.
struct Scattering {
  RankedTensorType type; ///< of the result
  Value x;               ///< null: zeros
  Value indices, updates;
  int64_t dim, batchDims;
  std::optional<ReduceKind> combine;
};

class ScatterWriter {
public:
  ScatterWriter(Template &kernel, const Scattering &op)
      : kernel(kernel), op(op), code(kernel.code), shape(op.type.getShape()),
        dim(op.dim), last(shape.size() - 1),
        indexShape(cast<RankedTensorType>(op.indices.getType()).getShape()) {}
  FailureOr<KernelPlan> write();

private:
  void writeItem(Value item);
  void copy(ArrayRef<Index> origin, Value first, Value end);
  void applyAll(ArrayRef<Index> origin, SmallVector<Index> indices,
                int64_t next, Value first, Value end);
  void apply(SmallVector<Index> target, ArrayRef<Index> indices);
  /// Calls body for all vectors of the dims after the indexed one.
  void forInner(SmallVector<Index> point, int64_t next,
                function_ref<void(ArrayRef<Index>, Value)> body);

  Template &kernel;
  const Scattering &op;
  Code &code;
  ArrayRef<int64_t> shape;
  int64_t dim, last;
  ArrayRef<int64_t> indexShape;
  int64_t blocks = 1, blockSize = 1;
  bool failed = false;
};
} // namespace

void ScatterWriter::forInner(SmallVector<Index> point, int64_t next,
                             function_ref<void(ArrayRef<Index>, Value)> body) {
  if (next > last)
    return body(point, Value());
  Value size = code.index(shape[next]);
  if (next == last)
    return forVectors(
        code, code.index(0), size, shape[next] % kernel.lanes != 0,
        [&](Value base, Value mask) {
          point[next] = {base, 1, Value()};
          body(point, mask);
        },
        kernel.lanes);
  code.loop(code.index(0), size, 1, [&](Value i) {
    point[next] = {i, 0, Value()};
    forInner(point, next + 1, body);
  });
}

void ScatterWriter::copy(ArrayRef<Index> origin, Value first, Value end) {
  Evaluator evaluator = kernel.makeEvaluator();
  auto move = [&](ArrayRef<Index> point, Value mask) {
    Frame frame;
    frame.point.assign(point.begin(), point.end());
    frame.mask = mask;
    Value value = op.x ? evaluator.at(op.x, frame)
                       : evaluator.neutral(ReduceKind::Sum, op.updates);
    evaluator.store(value, kernel.results[0], frame);
  };
  SmallVector<Index> point(origin);
  if (dim == last)
    forVectors(
        code, first, end, /*hasTail=*/true,
        [&](Value base, Value mask) {
          point[dim] = {base, 1, Value()};
          move(point, mask);
        },
        kernel.lanes);
  else
    code.loop(first, end, 1, [&](Value i) {
      point[dim] = {i, 0, Value()};
      forInner(point, dim + 1, move);
    });
  failed |= evaluator.failed;
}

/// One update: `target` is the element of the dims up to the indexed one.
void ScatterWriter::apply(SmallVector<Index> target, ArrayRef<Index> indices) {
  Evaluator evaluator = kernel.makeEvaluator(dim == last ? 1 : kernel.lanes);
  int64_t batch = op.batchDims;
  forInner(target, dim + 1, [&](ArrayRef<Index> point, Value mask) {
    Frame frame, update;
    frame.point.assign(point.begin(), point.end());
    frame.mask = update.mask = mask;
    llvm::append_range(update.point, point.take_front(dim));
    llvm::append_range(update.point, indices.drop_front(batch));
    llvm::append_range(update.point, point.drop_front(dim + 1));
    Value value = evaluator.at(op.updates, update);
    if (op.combine)
      value =
          buildCombine(code.b, code.loc, *op.combine, op.type.getElementType(),
                       evaluator.load(kernel.results[0], frame), value);
    evaluator.store(value, kernel.results[0], frame);
  });
  failed |= evaluator.failed;
}

/// Loops over the dims of the indices from `next` on.
void ScatterWriter::applyAll(ArrayRef<Index> origin, SmallVector<Index> indices,
                             int64_t next, Value first, Value end) {
  if (next < static_cast<int64_t>(indexShape.size()))
    return code.loop(code.index(0), code.index(indexShape[next]), 1,
                     [&](Value i) {
                       indices[next] = {i, 0, Value()};
                       applyAll(origin, indices, next + 1, first, end);
                     });
  Evaluator evaluator = kernel.makeEvaluator(1);
  Frame frame;
  frame.point = indices;
  SmallVector<Index> target(origin);
  target[dim] = evaluator.checkedIndex(op.indices, frame, shape[dim]);
  failed |= evaluator.failed;
  Value index = target[dim].base;
  Value isBefore = code.less(index, first);
  code.ifThen(code.less(index, end), [&] {
    Value isOwn = code.b.create<arith::XOrIOp>(
        code.loc, isBefore,
        code.constant(isBefore.getType(), code.b.getBoolAttr(true)));
    code.ifThen(isOwn, [&] { apply(target, indices); });
  });
}

void ScatterWriter::writeItem(Value item) {
  SmallVector<Index> origin = getOrigin(code, shape.size());
  SmallVector<Group> outer;
  for (int64_t i = 0; i < dim; ++i)
    outer.push_back({shape[i], i});
  setPoint(code, origin, outer, code.div(item, blocks));
  Value first = code.mul(code.rem(item, blocks), blockSize);
  Value end = code.min(code.add(first, blockSize), code.index(shape[dim]));
  copy(origin, first, end);
  SmallVector<Index> indices(origin.begin(), origin.begin() + op.batchDims);
  indices.resize(indexShape.size());
  applyAll(origin, indices, op.batchDims, first, end);
}

FailureOr<KernelPlan> ScatterWriter::write() {
  int64_t outer = ShapedType::getNumElements(shape.take_front(dim));
  int64_t inner = ShapedType::getNumElements(shape.drop_front(dim + 1));
  // Every block reads all indices: not more of them than threads may want.
  constexpr int64_t Items = 16, Elements = 16384;
  int64_t size = std::max<int64_t>(shape[dim], 1);
  blocks = std::clamp<int64_t>(size * inner / Elements, 1,
                               std::max<int64_t>(Items / (outer + 1), 1));
  blockSize = llvm::divideCeil(size, std::min(blocks, size));
  blocks = llvm::divideCeil(size, blockSize);
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeItem(item); });
  if (failed)
    return failure();
  return KernelPlan{op.type.getNumElements() ? outer * blocks : 0,
                    getGrain(blockSize * inner), 0, false, ""};
}

template <typename Op>
static Scattering describe(Op op, Value x, Value updates,
                           std::optional<ReduceKind> combine) {
  return {op.getType(),
          x,
          op.getIndices(),
          updates,
          static_cast<int64_t>(op.getDim()),
          static_cast<int64_t>(op.getBatchDims()),
          combine};
}

FailureOr<KernelPlan> cleave::buildScatterKernel(Template &kernel,
                                                 ScatterOp op) {
  Scattering scattering =
      describe(op, op.getX(), op.getUpdates(), op.getCombine());
  return ScatterWriter(kernel, scattering).write();
}

FailureOr<KernelPlan> cleave::buildGatherGradKernel(Template &kernel,
                                                    GatherGradOp op) {
  Scattering scattering =
      describe(op, Value(), op.getDresult(), ReduceKind::Sum);
  return ScatterWriter(kernel, scattering).write();
}
