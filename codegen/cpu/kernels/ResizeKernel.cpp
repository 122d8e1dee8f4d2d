//===- ResizeKernel.cpp - interpolation, one dim at a time ----------------===//
//
// Interpolation is separable: each resized dim is a pass, the last dim first,
// with the results between passes in the thread's scratch. An item is one index
// of the dims before the first resized one, for images a plane.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"
#include "codegen/kernels/ResizeTaps.h"

using namespace cleave;
using namespace mlir;

namespace {
class ResizeWriter {
public:
  ResizeWriter(Template &kernel, ResizeOp op)
      : kernel(kernel), op(op), code(kernel.code),
        evaluator(kernel.makeEvaluator()) {}
  FailureOr<KernelPlan> write();

private:
  void findDims();
  SmallVector<Group> getOuter();
  void makeTables();
  void writeItem(Value item);
  View makeScratch(ArrayRef<int64_t> sizes);
  /// Resizes `dim`; sizes are those of the source but for `dim` itself.
  void writePass(const View &source, const View &target,
                 ArrayRef<int64_t> sizes, int64_t dim);
  void writeAcross(Frame &frame, const View &source, const View &target,
                   int64_t dim);
  void writeAlong(Frame &frame, const View &source, const View &target,
                  int64_t size, int64_t dim);
  /// The output indices of all resized dims are set already.
  void writePoint(Frame &frame, const View &source, const View &target,
                  int64_t dim);
  void nest(Frame &frame, ArrayRef<int64_t> sizes, int64_t from, int64_t to,
            function_ref<void(Frame &)> body);
  Value loadTable(const View &table, Index index, Value mask);
  Value weigh(Value sum, Value x, Value weight);

  Template &kernel;
  ResizeOp op;
  Code &code;
  Evaluator evaluator;
  Type element, computed;
  int64_t rank = 0, first = 0;
  int64_t channel = -1; ///< outer dim that gives the lanes; -1: the last dim
  SmallVector<int64_t> resized;
  SmallVector<Index> origin;
  Value channelMask; ///< channels of the item that exist; null: all lanes
  llvm::DenseMap<int64_t, SmallVector<TapViews>> tables;
  int64_t scratchBytes = 0;
};
} // namespace

//===-- Tables -----------------------------------------------------------===//

void ResizeWriter::findDims() {
  rank = op.getType().getRank();
  resized = getResizedDims(op);
  first = resized.front();
  ArrayRef<int64_t> strides = kernel.views[op.getX()].strides;
  for (int64_t dim = 0; dim < first; ++dim)
    if (strides[dim] == 1 && strides.back() > 1 &&
        op.getType().getDimSize(dim) > 1)
      channel = dim;
}

/// Dims that number the items, with blocks of lanes in place of the channels.
SmallVector<Group> ResizeWriter::getOuter() {
  SmallVector<Group> outer;
  for (int64_t dim = 0; dim < first; ++dim) {
    int64_t size = op.getType().getDimSize(dim);
    if (dim == channel)
      size = llvm::divideCeil(size, Lanes);
    outer.push_back({size, dim});
  }
  return outer;
}

void ResizeWriter::makeTables() {
  for (int64_t dim : resized)
    tables[dim] = makeTapViews(code, op, dim);
}

//===-- Passes -----------------------------------------------------------===//

Value ResizeWriter::loadTable(const View &table, Index index, Value mask) {
  Frame frame;
  frame.point.push_back(index);
  frame.mask = mask;
  return evaluator.load(table, frame);
}

/// sum + x * weight; the only tap of nearest is x itself.
Value ResizeWriter::weigh(Value sum, Value x, Value weight) {
  if (op.getKind() == ResizeKind::Nearest)
    return x;
  if (!sum)
    return code.b.create<arith::MulFOp>(code.loc, x, weight);
  return code.fma(x, weight, sum);
}

void ResizeWriter::nest(Frame &frame, ArrayRef<int64_t> sizes, int64_t from,
                        int64_t to, function_ref<void(Frame &)> body) {
  if (from == to)
    return body(frame);
  code.loop(code.index(0), code.index(sizes[from]), 1, [&](Value i) {
    frame.point[from] = {i, 0, Value()};
    nest(frame, sizes, from + 1, to, body);
  });
}

/// Lanes along the resized dim, which is the last: indices come from the table.
void ResizeWriter::writeAcross(Frame &frame, const View &source,
                               const View &target, int64_t dim) {
  int64_t size = op.getType().getDimSize(dim);
  forVectors(code, code.index(0), code.index(size), size % Lanes != 0,
             [&](Value base, Value mask) {
               Frame read = frame;
               read.mask = mask;
               Value sum;
               for (const TapViews &tap : tables[dim]) {
                 Index at{base, 1, Value()};
                 Value lanes = loadTable(tap.indices, at, mask);
                 read.point[dim] = {code.index(0), 0, lanes};
                 sum = weigh(sum, evaluator.load(source, read),
                             loadTable(tap.weights, at, mask));
               }
               read.point[dim] = {base, 1, Value()};
               evaluator.store(sum, target, read);
             });
}

void ResizeWriter::writePoint(Frame &frame, const View &source,
                              const View &target, int64_t dim) {
  Index output = frame.point[dim];
  Frame read = frame;
  Value sum;
  for (const TapViews &tap : tables[dim]) {
    Value index = code.extract(loadTable(tap.indices, output, Value()), 0);
    Value weight = loadTable(tap.weights, output, Value());
    read.point[dim] = {index, 0, Value()};
    sum = weigh(sum, evaluator.load(source, read), weight);
  }
  evaluator.store(sum, target, frame);
}

/// Lanes along the last dim, of `size`; the output index of `dim` is set
/// already.
void ResizeWriter::writeAlong(Frame &frame, const View &source,
                              const View &target, int64_t size, int64_t dim) {
  forVectors(code, code.index(0), code.index(size), size % Lanes != 0,
             [&](Value base, Value mask) {
               Frame vector = frame;
               vector.mask = mask;
               vector.point[rank - 1] = {base, 1, Value()};
               writePoint(vector, source, target, dim);
             });
}

void ResizeWriter::writePass(const View &source, const View &target,
                             ArrayRef<int64_t> sizes, int64_t dim) {
  Frame frame;
  frame.point = origin;
  frame.mask = channelMask;
  if (channel >= 0)
    return nest(frame, sizes, first, rank,
                [&](Frame &point) { writePoint(point, source, target, dim); });
  if (dim == rank - 1)
    return nest(frame, sizes, first, dim,
                [&](Frame &row) { writeAcross(row, source, target, dim); });
  nest(frame, sizes, first, rank - 1,
       [&](Frame &row) { writeAlong(row, source, target, sizes.back(), dim); });
}

/// A scratch array of the item, dense; the lanes of channels are innermost.
View ResizeWriter::makeScratch(ArrayRef<int64_t> sizes) {
  View view{code.address(kernel.scratch, code.b.getI8Type(),
                         code.index(scratchBytes)),
            computed, SmallVector<int64_t>(rank, 0)};
  int64_t count = 1;
  if (channel >= 0) {
    // Channels have their own numbers, but those of the item begin at 0.
    Value start = code.sub(code.index(0), origin[channel].base);
    view.base = code.address(view.base, getMemoryType(computed), start);
    view.strides[channel] = 1;
    count = Lanes;
  }
  for (int64_t dim = rank - 1; dim >= first; count *= sizes[dim--])
    view.strides[dim] = count;
  scratchBytes += llvm::alignTo(count * getMemoryBytes(computed), int64_t(64));
  return view;
}

void ResizeWriter::writeItem(Value item) {
  origin = getOrigin(code, rank);
  setPoint(code, origin, getOuter(), item);
  SmallVector<int64_t> sizes = llvm::to_vector(op.getX().getType().getShape());
  if (channel >= 0) {
    Value base = code.mul(origin[channel].base, Lanes);
    origin[channel] = {base, 1, Value()};
    if (sizes[channel] % Lanes)
      channelMask = code.laneMask(code.sub(code.index(sizes[channel]), base));
  }
  View source = kernel.views[op.getX()];
  scratchBytes = 0;
  for (int64_t dim : llvm::reverse(resized)) {
    sizes[dim] = op.getType().getDimSize(dim);
    View target = kernel.results[0];
    if (dim != first)
      target = makeScratch(sizes);
    writePass(source, target, sizes, dim);
    source = target;
  }
}

FailureOr<KernelPlan> ResizeWriter::write() {
  element = op.getType().getElementType();
  computed = getComputeType(element);
  if (!isa<FloatType>(element) && op.getKind() != ResizeKind::Nearest)
    return op.emitOpError() << "has no code to interpolate " << element;
  if (!isa<BlockArgument>(op.getX()))
    return op.emitOpError() << "must read an operand of its kernel";
  if (!llvm::is_contained(
          {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"},
          op.getCoordinates()))
    return op.emitOpError()
           << "has no code for coordinates '" << op.getCoordinates() << "'";
  findDims();
  makeTables();
  int64_t items = getCount(getOuter());
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeItem(item); });
  int64_t elements = op.getType().getNumElements();
  if (elements == 0)
    items = 0;
  return KernelPlan{items, getGrain(elements / std::max<int64_t>(1, items)),
                    scratchBytes, false, ""};
}

FailureOr<KernelPlan> cleave::buildResizeKernel(Template &kernel, ResizeOp op) {
  return ResizeWriter(kernel, op).write();
}
