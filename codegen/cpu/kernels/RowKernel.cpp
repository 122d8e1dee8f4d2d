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

#include "codegen/cpu/kernels/Template.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

namespace {
class RowWriter {
public:
  RowWriter(Template &kernel)
      : kernel(kernel), code(kernel.code), evaluator(kernel.makeEvaluator()) {}
  FailureOr<KernelPlan> write();

private:
  using Values = Code::Values;
  using Combine = function_ref<Value(Value, Value)>;

  LogicalResult findRows();
  void findGroups();
  void writeRow(Value item);
  void writeResults();

  void addStatistics(Operation *op);
  void addNorm(NormOp op);
  /// Largest value and sum of exponentials; keeps these if told to.
  void addSoftmax(Operation *op, Value x, bool keepExponentials);

  Value finish(Value value, Frame &frame);
  Value finish(NormOp op, Frame &frame);
  Value finish(SoftmaxOp op, Frame &frame);
  Value finish(CrossEntropyOp op, Frame &frame);
  Value finish(CrossEntropyGradOp op, Frame &frame);
  Value finishLabel(Value labels, Frame &frame, int64_t ignore, Value &ignored);

  /// Frames for each vector of the current row.
  void forRow(function_ref<void(Frame &)> body);
  /// Folds `term(frame)` over the row; lanes outside of it are `neutral`.
  Value foldRow(double neutral, Type element, function_ref<Value(Frame &)> term,
                Combine combine);
  Value sumRow(Type element, function_ref<Value(Frame &)> term);
  Value mulBy(Value x, double factor);

  bool isDirect(Value x);
  View makeScratchRow(Type element);
  /// A pass that evaluates x may keep it in a scratch row on the way.
  std::optional<View> keep(Value x);
  Frame makeFrame(ArrayRef<Index> rowPoint, Value mask);

  Template &kernel;
  Code &code;
  Evaluator evaluator;

  SmallVector<int64_t> shape;     ///< of the domain
  SmallVector<int64_t> outerDims; ///< dims that number the rows
  SmallVector<int64_t> rowDims;
  SmallVector<Group> outer, row; ///< row is never empty
  SmallVector<Index> origin;     ///< first element of the current row
  SmallVector<Operation *> ops;  ///< row ops, in order
  llvm::DenseMap<Value, View> kept;
  llvm::DenseMap<Operation *, View> exponentials;
  llvm::DenseMap<Operation *, Values> statistics;
  int64_t scratchBytes = 0;
};
} // namespace

//===-- Domain -----------------------------------------------------------===//

static bool isRowOp(Operation *op) {
  return isa<NormOp, SoftmaxOp, CrossEntropyOp, CrossEntropyGradOp>(op);
}

/// Dims of a row op's domain that make a row.
static SmallVector<int64_t> getRowDims(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return {int64_t(softmax.getDim())};
  int64_t first = type.getRank() - 1;
  if (auto norm = dyn_cast<NormOp>(op))
    first = norm.getAxis();
  return llvm::to_vector(llvm::seq<int64_t>(first, type.getRank()));
}

LogicalResult RowWriter::findRows() {
  for (Operation &op : kernel.op.getBody().front()) {
    if (!isRowOp(&op))
      continue;
    auto type = cast<RankedTensorType>(op.getOperand(0).getType());
    if (!isa<FloatType>(type.getElementType()))
      return op.emitOpError() << "has no code for rows of " << type;
    if (ops.empty()) {
      shape = llvm::to_vector(type.getShape());
      rowDims = getRowDims(&op);
    } else if (type.getShape() != ArrayRef(shape) ||
               getRowDims(&op) != rowDims) {
      return op.emitOpError() << "has other rows than the first row op of its "
                                 "kernel, which has "
                              << ops.front()->getOperand(0).getType();
    }
    ops.push_back(&op);
  }
  if (ops.empty())
    return kernel.op.emitOpError() << "of kind row holds no row op";
  for (int64_t dim : llvm::seq<int64_t>(0, shape.size()))
    if (!llvm::is_contained(rowDims, dim))
      outerDims.push_back(dim);
  return success();
}

void RowWriter::findGroups() {
  Accesses accesses(shape.size(), kernel.getStrides());
  for (auto [value, view] : llvm::zip(kernel.getYields(), kernel.results)) {
    auto type = cast<RankedTensorType>(value.getType());
    ValueMap map = type.getShape() == ArrayRef(shape)
                       ? getIdentityMap(shape.size())
                       : getMap(outerDims);
    accesses.addAccess(view.strides, map);
    accesses.addReads(value, map);
  }
  outer = mergeDims(outerDims, shape, accesses.list);
  row = mergeDims(rowDims, shape, accesses.list);
  if (row.empty())
    row.push_back({1, rowDims.back()});
}

//===-- Passes -----------------------------------------------------------===//

Frame RowWriter::makeFrame(ArrayRef<Index> rowPoint, Value mask) {
  Frame frame;
  frame.point = llvm::to_vector(rowPoint);
  frame.mask = mask;
  return frame;
}

void RowWriter::forRow(function_ref<void(Frame &)> body) {
  foldRow(
      0, Type(),
      [&](Frame &frame) {
        body(frame);
        return Value();
      },
      [](Value, Value) { return Value(); });
}

Value RowWriter::foldRow(double neutral, Type element,
                         function_ref<Value(Frame &)> term, Combine combine) {
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

Value RowWriter::sumRow(Type element, function_ref<Value(Frame &)> term) {
  return foldRow(0.0, element, term, [&](Value x, Value y) -> Value {
    return code.b.create<arith::AddFOp>(code.loc, x, y);
  });
}

Value RowWriter::mulBy(Value x, double factor) {
  return code.b.create<arith::MulFOp>(code.loc, x,
                                      code.constant(x.getType(), factor));
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

//===-- Statistics -------------------------------------------------------===//

void RowWriter::addStatistics(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](NormOp norm) { addNorm(norm); })
      .Case([&](SoftmaxOp softmax) {
        addSoftmax(op, softmax.getX(), !softmax.getLog());
      })
      .Case(
          [&](CrossEntropyOp loss) { addSoftmax(op, loss.getLogits(), false); })
      .Case([&](CrossEntropyGradOp gradient) {
        addSoftmax(op, gradient.getLogits(), true);
      });
}

/// Mean and 1 / sqrt(variance + epsilon); rms: the mean is not there.
void RowWriter::addNorm(NormOp op) {
  Value x = op.getX();
  Type element = getComputeType(getElementTypeOrSelf(x.getType()));
  int64_t count = getCount(row);
  std::optional<View> copy = keep(x);
  bool isLayer = op.getKind() == NormKind::Layer;
  auto visit = [&](Frame &frame) {
    Value value = evaluator.at(x, frame);
    if (copy)
      evaluator.store(value, *copy, frame);
    if (isLayer)
      return value;
    return Value(code.b.create<arith::MulFOp>(code.loc, value, value));
  };
  Value mean = mulBy(sumRow(element, visit), 1.0 / count);
  if (copy)
    kept[x] = *copy;
  Value variance = mean;
  if (isLayer)
    variance = mulBy(sumRow(element,
                            [&](Frame &frame) -> Value {
                              Value centred = code.b.create<arith::SubFOp>(
                                  code.loc, evaluator.at(x, frame), mean);
                              return code.b.create<arith::MulFOp>(
                                  code.loc, centred, centred);
                            }),
                     1.0 / count);
  Type type = variance.getType();
  Value shifted = code.b.create<arith::AddFOp>(
      code.loc, variance,
      code.constant(type, op.getEpsilon().convertToDouble()));
  Value root = code.b.create<math::SqrtOp>(code.loc, shifted);
  Value inverse =
      code.b.create<arith::DivFOp>(code.loc, code.constant(type, 1.0), root);
  statistics[op] = {mean, inverse};
}

static Value buildExp(Code &code, Value x) {
  if (getElementTypeOrSelf(x.getType()).isF32())
    return code.expNegative(x);
  return code.b.create<math::ExpOp>(code.loc, x);
}

void RowWriter::addSoftmax(Operation *op, Value x, bool keepExponentials) {
  Type element = getComputeType(getElementTypeOrSelf(x.getType()));
  std::optional<View> copy = keep(x);
  Value largest = foldRow(
      -std::numeric_limits<double>::infinity(), element,
      [&](Frame &frame) {
        Value value = evaluator.at(x, frame);
        if (copy)
          evaluator.store(value, *copy, frame);
        return value;
      },
      [&](Value a, Value b) { return code.larger(a, b); });
  if (copy)
    kept[x] = *copy;
  std::optional<View> powers;
  if (keepExponentials)
    powers = makeScratchRow(element);
  Value sum = sumRow(element, [&](Frame &frame) {
    Value power =
        buildExp(code, code.b.create<arith::SubFOp>(
                           code.loc, evaluator.at(x, frame), largest));
    if (powers)
      evaluator.store(power, *powers, frame);
    return power;
  });
  if (powers)
    exponentials[op] = *powers;
  Value inverse = code.b.create<arith::DivFOp>(
      code.loc, code.constant(sum.getType(), 1.0), sum);
  statistics[op] = {largest, sum, inverse};
}

//===-- Values of row ops ------------------------------------------------===//

Value RowWriter::finish(Value value, Frame &frame) {
  if (auto view = kept.find(value); view != kept.end())
    return evaluator.load(view->second, frame);
  Operation *op = value.getDefiningOp();
  if (!statistics.count(op))
    return Value();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<NormOp, SoftmaxOp, CrossEntropyOp, CrossEntropyGradOp>(
          [&](auto op) { return finish(op, frame); });
}

Value RowWriter::finish(NormOp op, Frame &frame) {
  const Values &found = statistics[op];
  Value x = evaluator.at(op.getX(), frame);
  if (op.getKind() == NormKind::Layer)
    x = code.b.create<arith::SubFOp>(code.loc, x, found[0]);
  x = code.b.create<arith::MulFOp>(code.loc, x, found[1]);
  Frame affine =
      makeFrame(ArrayRef(frame.point).drop_front(op.getAxis()), frame.mask);
  Value scale = op.getScale() ? evaluator.at(op.getScale(), affine) : Value();
  Value bias = op.getBias() ? evaluator.at(op.getBias(), affine) : Value();
  if (scale && bias)
    return code.fma(x, scale, bias);
  if (scale)
    return code.b.create<arith::MulFOp>(code.loc, x, scale);
  if (bias)
    return code.b.create<arith::AddFOp>(code.loc, x, bias);
  return x;
}

Value RowWriter::finish(SoftmaxOp op, Frame &frame) {
  const Values &found = statistics[op];
  if (!op.getLog()) {
    Value power = evaluator.load(exponentials[op], frame);
    return code.b.create<arith::MulFOp>(code.loc, power, found[2]);
  }
  Value log = code.b.create<math::LogOp>(code.loc, found[1]);
  Value x = code.b.create<arith::SubFOp>(
      code.loc, evaluator.at(op.getX(), frame), found[0]);
  return code.b.create<arith::SubFOp>(code.loc, x, log);
}

/// The row's label as a vector of i64, 0 where it is ignored. One out of range
/// is reported and read as 0.
Value RowWriter::finishLabel(Value labels, Frame &frame, int64_t ignore,
                             Value &ignored) {
  Frame outerFrame;
  for (int64_t dim : outerDims)
    outerFrame.point.push_back(frame.point[dim]);
  Type element = getElementTypeOrSelf(labels.getType());
  Value label = convertElement(code, evaluator.at(labels, outerFrame), element,
                               code.b.getI64Type());
  auto c = [&](int64_t value) {
    return code.constant(label.getType(), double(value));
  };
  ignored = code.b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq,
                                         label, c(ignore));
  label = code.select(ignored, c(0), label);
  Value bad = code.b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::uge,
                                           label, c(shape.back()));
  evaluator.reportIf(bad, outerFrame);
  return code.select(bad, c(0), label);
}

/// log(sum exp(x - max)) + max - x[label].
Value RowWriter::finish(CrossEntropyOp op, Frame &frame) {
  const Values &found = statistics[op];
  Value ignored;
  Frame at = makeFrame(origin, Value());
  Value label = finishLabel(op.getLabels(), at, op.getIgnoreIndex(), ignored);
  at.point.back() = {code.extract(label, 0), 0, Value()};
  Value x = evaluator.at(op.getLogits(), at);
  Value log = code.b.create<math::LogOp>(code.loc, found[1]);
  Value total = code.b.create<arith::AddFOp>(code.loc, log, found[0]);
  Value loss = code.b.create<arith::SubFOp>(code.loc, total, x);
  return code.select(ignored, code.constant(loss.getType(), 0.0), loss);
}

Value RowWriter::finish(CrossEntropyGradOp op, Frame &frame) {
  Value ignored;
  Frame at = makeFrame(origin, Value());
  Value label = finishLabel(op.getLabels(), at, op.getIgnoreIndex(), ignored);
  Value power = evaluator.load(exponentials[op], frame);
  Value p = code.b.create<arith::MulFOp>(code.loc, power, statistics[op][2]);
  Value one = code.constant(p.getType(), 1.0);
  Value isLabel = code.b.create<arith::CmpIOp>(
      code.loc, arith::CmpIPredicate::eq,
      evaluator.indexVector(frame.point.back()), label);
  p = code.select(isLabel, code.b.create<arith::SubFOp>(code.loc, p, one), p);
  Frame outerFrame;
  for (int64_t dim : outerDims)
    outerFrame.point.push_back(frame.point[dim]);
  Value scaled = code.b.create<arith::MulFOp>(
      code.loc, p, evaluator.at(op.getDloss(), outerFrame));
  return code.select(ignored, code.constant(p.getType(), 0.0), scaled);
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
  evaluator.hook = [&](Value value, Frame &frame) {
    return finish(value, frame);
  };
  int64_t rows = llvm::is_contained(shape, 0) ? 0 : getCount(outer);
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeRow(item); });
  if (evaluator.failed)
    return failure();
  return KernelPlan{rows, getGrain(4 * getCount(row)), scratchBytes, false, ""};
}

FailureOr<KernelPlan> cleave::buildRowKernel(Template &kernel) {
  return RowWriter(kernel).write();
}
