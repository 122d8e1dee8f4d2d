//===- RowOps.cpp - what the ops of row kernels mean ----------------------===//
//
// Per row op its statistics, by folds over the row, and its value at a point of
// the row, from these. Elementwise ops before and after are evaluated where
// they are needed.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/RowOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

//===-- Domain -----------------------------------------------------------===//

static bool isRowOp(Operation *op) {
  return isa<NormOp, NormGradOp, SoftmaxOp, CrossEntropyOp, CrossEntropyGradOp>(
      op);
}

/// Dims of a row op's domain that make a row.
static SmallVector<int64_t> getRowDims(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return {int64_t(softmax.getDim())};
  int64_t first = type.getRank() - 1;
  if (auto norm = dyn_cast<NormOp>(op))
    first = norm.getAxis();
  if (auto gradient = dyn_cast<NormGradOp>(op))
    first = gradient.getAxis();
  return llvm::to_vector(llvm::seq<int64_t>(first, type.getRank()));
}

LogicalResult RowOps::findRows() {
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

void RowOps::findGroups() {
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

Frame RowOps::makeFrame(ArrayRef<Index> rowPoint, Value mask) {
  Frame frame;
  frame.point = llvm::to_vector(rowPoint);
  frame.mask = mask;
  return frame;
}

Value RowOps::add(Value x, Value y) {
  return code.b.create<arith::AddFOp>(code.loc, x, y);
}
Value RowOps::sub(Value x, Value y) {
  return code.b.create<arith::SubFOp>(code.loc, x, y);
}
Value RowOps::mul(Value x, Value y) {
  return code.b.create<arith::MulFOp>(code.loc, x, y);
}

Value RowOps::sumRow(Type element, function_ref<Value(Frame &)> term) {
  return fold(0.0, element, term, [&](Value x, Value y) { return add(x, y); });
}

Value RowOps::mulBy(Value x, double factor) {
  return code.b.create<arith::MulFOp>(code.loc, x,
                                      code.constant(x.getType(), factor));
}

//===-- Statistics -------------------------------------------------------===//

void RowOps::addStatistics(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](NormOp norm) {
        statistics[op] =
            addMoments(norm.getX(), norm.getKind(), norm.getEpsilon());
      })
      .Case([&](NormGradOp gradient) { addNormGrad(gradient); })
      .Case([&](SoftmaxOp softmax) {
        addSoftmax(op, softmax.getX(), !softmax.getLog());
      })
      .Case([&](CrossEntropyOp loss) {
        addSoftmax(op, loss.getLogits(), false);
        if (!loss.getSmoothing().isZero())
          statistics[op].push_back(meanRow(loss.getLogits()));
      })
      .Case([&](CrossEntropyGradOp gradient) {
        addSoftmax(op, gradient.getLogits(), true);
      });
}

Value RowOps::meanRow(Value x) {
  Type element = getComputeType(getElementTypeOrSelf(x.getType()));
  Value sum =
      sumRow(element, [&](Frame &frame) { return evaluator.at(x, frame); });
  return mulBy(sum, 1.0 / getCount(row));
}

Code::Values RowOps::addMoments(Value x, NormKind kind,
                                const APFloat &epsilon) {
  Type element = getComputeType(getElementTypeOrSelf(x.getType()));
  int64_t count = getCount(row);
  std::optional<View> copy = keep(x);
  bool isLayer = kind == NormKind::Layer;
  auto visit = [&](Frame &frame) {
    Value value = evaluator.at(x, frame);
    if (copy)
      evaluator.store(value, *copy, frame);
    return isLayer ? value : mul(value, value);
  };
  Value mean = mulBy(sumRow(element, visit), 1.0 / count);
  if (copy)
    kept[x] = *copy;
  Value variance = mean;
  if (isLayer)
    variance = mulBy(sumRow(element,
                            [&](Frame &frame) {
                              Value centred = sub(evaluator.at(x, frame), mean);
                              return mul(centred, centred);
                            }),
                     1.0 / count);
  Type type = variance.getType();
  Value shifted = add(variance, code.constant(type, epsilon.convertToDouble()));
  Value root = code.b.create<math::SqrtOp>(code.loc, shifted);
  Value inverse =
      code.b.create<arith::DivFOp>(code.loc, code.constant(type, 1.0), root);
  return {mean, inverse};
}

/// The element of the row's norm, without scale and bias.
Value RowOps::normalize(Value x, NormKind kind, const Values &moments,
                        Frame &frame) {
  Value value = evaluator.at(x, frame);
  if (kind == NormKind::Layer)
    value = sub(value, moments[0]);
  return mul(value, moments[1]);
}

Value RowOps::getScaledGradient(NormGradOp op, Frame &frame) {
  if (auto view = scaledGradients.find(op); view != scaledGradients.end())
    return evaluator.load(view->second, frame);
  Value g = evaluator.at(op.getDresult(), frame);
  if (!op.getScale())
    return g;
  Frame affine =
      makeFrame(ArrayRef(frame.point).drop_front(op.getAxis()), frame.mask);
  return mul(g, evaluator.at(op.getScale(), affine));
}

/// Beside the moments: the means of g and g n, see the op.
void RowOps::addNormGrad(NormGradOp op) {
  Type element = getComputeType(getElementTypeOrSelf(op.getX().getType()));
  Values moments = addMoments(op.getX(), op.getKind(), op.getEpsilon());
  statistics[op] = moments;
  std::optional<View> scaled = keepPowers(element);
  auto visit = [&](Frame &frame) {
    Value g = getScaledGradient(op, frame);
    if (scaled)
      evaluator.store(g, *scaled, frame);
    return g;
  };
  double share = 1.0 / getCount(row);
  Value mean = mulBy(sumRow(element, visit), share);
  if (scaled)
    scaledGradients[op] = *scaled;
  Value product = sumRow(element, [&](Frame &frame) {
    Value n = normalize(op.getX(), op.getKind(), moments, frame);
    return mul(getScaledGradient(op, frame), n);
  });
  statistics[op].append({mean, mulBy(product, share)});
}

/// exp(x - largest).
Value RowOps::buildPower(Value x, Value largest, Frame &frame) {
  Value shifted =
      code.b.create<arith::SubFOp>(code.loc, evaluator.at(x, frame), largest);
  if (getElementTypeOrSelf(shifted.getType()).isF32())
    return code.expNegative(shifted);
  return code.b.create<math::ExpOp>(code.loc, shifted);
}

Value RowOps::getPower(Operation *op, Value x, Frame &frame) {
  if (auto view = exponentials.find(op); view != exponentials.end())
    return evaluator.load(view->second, frame);
  return buildPower(x, statistics[op][0], frame);
}

void RowOps::addSoftmax(Operation *op, Value x, bool keepExponentials) {
  Type element = getComputeType(getElementTypeOrSelf(x.getType()));
  std::optional<View> copy = keep(x);
  Value largest = fold(
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
    powers = keepPowers(element);
  Value sum = sumRow(element, [&](Frame &frame) {
    Value power = buildPower(x, largest, frame);
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

Value RowOps::finish(Value value, Frame &frame) {
  if (auto view = kept.find(value); view != kept.end())
    return evaluator.load(view->second, frame);
  Operation *op = value.getDefiningOp();
  if (!statistics.count(op))
    return Value();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<NormOp, NormGradOp, SoftmaxOp, CrossEntropyOp, CrossEntropyGradOp>(
          [&](auto op) { return finish(op, frame); });
}

Value RowOps::finish(NormGradOp op, Frame &frame) {
  const Values &found = statistics[op];
  Value g = getScaledGradient(op, frame);
  Value n = normalize(op.getX(), op.getKind(), found, frame);
  if (op.getKind() == NormKind::Layer)
    g = sub(g, found[2]);
  return mul(sub(g, mul(n, found[3])), found[1]);
}

Value RowOps::finish(NormOp op, Frame &frame) {
  Value x = normalize(op.getX(), op.getKind(), statistics[op], frame);
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

Value RowOps::finish(SoftmaxOp op, Frame &frame) {
  const Values &found = statistics[op];
  if (!op.getLog())
    return code.b.create<arith::MulFOp>(
        code.loc, getPower(op, op.getX(), frame), found[2]);
  Value log = code.b.create<math::LogOp>(code.loc, found[1]);
  Value x = code.b.create<arith::SubFOp>(
      code.loc, evaluator.at(op.getX(), frame), found[0]);
  return code.b.create<arith::SubFOp>(code.loc, x, log);
}

/// The row's label as a vector of i64, 0 where it is ignored. One out of range
/// is reported and read as 0.
Value RowOps::finishLabel(Value labels, Frame &frame, int64_t ignore,
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

/// log(sum exp(x - max)) + max - x[label]; smoothed: less of x[label], and of
/// the mean of x instead.
Value RowOps::finish(CrossEntropyOp op, Frame &frame) {
  const Values &found = statistics[op];
  Value ignored;
  Frame at = makeFrame(origin, Value());
  Value label = finishLabel(op.getLabels(), at, op.getIgnoreIndex(), ignored);
  at.point.back() = {code.extract(label, 0), 0, Value()};
  Value x = evaluator.at(op.getLogits(), at);
  Value log = code.b.create<math::LogOp>(code.loc, found[1]);
  Value total = code.b.create<arith::AddFOp>(code.loc, log, found[0]);
  double smoothing = op.getSmoothing().convertToDouble();
  if (smoothing != 0)
    x = add(mulBy(x, 1 - smoothing), mulBy(found[3], smoothing));
  Value loss = sub(total, x);
  return code.select(ignored, code.constant(loss.getType(), 0.0), loss);
}

Value RowOps::finish(CrossEntropyGradOp op, Frame &frame) {
  Value ignored;
  Frame at = makeFrame(origin, Value());
  Value label = finishLabel(op.getLabels(), at, op.getIgnoreIndex(), ignored);
  Value power = getPower(op, op.getLogits(), frame);
  Value p = code.b.create<arith::MulFOp>(code.loc, power, statistics[op][2]);
  double smoothing = op.getSmoothing().convertToDouble();
  Value weight = code.constant(p.getType(), 1 - smoothing);
  if (smoothing != 0)
    p = sub(p, code.constant(p.getType(), smoothing / shape.back()));
  Value isLabel = code.b.create<arith::CmpIOp>(
      code.loc, arith::CmpIPredicate::eq,
      evaluator.indexVector(frame.point.back()), label);
  p = code.select(isLabel, sub(p, weight), p);
  Frame outerFrame;
  for (int64_t dim : outerDims)
    outerFrame.point.push_back(frame.point[dim]);
  Value scaled = code.b.create<arith::MulFOp>(
      code.loc, p, evaluator.at(op.getDloss(), outerFrame));
  return code.select(ignored, code.constant(p.getType(), 0.0), scaled);
}
