//===- ImportReduction.cpp - reductions of dims, prefixes, rows -----------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <limits>

using namespace cleave;
using namespace mlir;

//===-- Reduce* -----------------------------------------------------------===//

namespace {
/// What a reduction reduces; none: the node is the identity.
struct Reduction {
  Value x;
  Shape dims;
  bool keepDims;
  bool isNothing = false;
};
using ReduceBuilder = Value (*)(NodeContext &, const Reduction &);
} // namespace

/// Axes are an attribute, in newer opsets an operand. No axes: all dims, or
/// none with noop_with_empty_axes.
static FailureOr<Reduction> getReduction(NodeContext &node) {
  Reduction r{node.getOperand(0), {}, node.getInt("keepdims", 1) != 0};
  bool emptyIsNothing = node.getInt("noop_with_empty_axes", 0) != 0;
  FailureOr<std::optional<Shape>> axes = node.getList(1, "axes");
  if (!r.x || failed(axes))
    return failure();
  int64_t rank = getShape(r.x).size();
  bool isEmpty = !*axes || (*axes)->empty();
  FailureOr<Shape> dims =
      node.normalizeAxes(isEmpty ? getIota(rank) : **axes, rank);
  if (failed(dims))
    return failure();
  r.dims = *dims;
  r.isNothing = isEmpty && emptyIsNothing;
  return r;
}

template <ReduceKind kind>
static Value buildReduce(NodeContext &node, const Reduction &r) {
  return node.reduce(kind, r.x, r.dims, r.keepDims);
}
static Value buildMean(NodeContext &node, const Reduction &r) {
  return node.mean(r.x, r.dims, r.keepDims);
}
static Value buildL1(NodeContext &node, const Reduction &r) {
  Value abs = node.unary(UnaryKind::Abs, r.x);
  return node.reduce(ReduceKind::Sum, abs, r.dims, r.keepDims);
}
static Value buildSumSquare(NodeContext &node, const Reduction &r) {
  Value square = node.binary(BinaryKind::Mul, r.x, r.x);
  return node.reduce(ReduceKind::Sum, square, r.dims, r.keepDims);
}
static Value buildL2(NodeContext &node, const Reduction &r) {
  return node.unary(UnaryKind::Sqrt, buildSumSquare(node, r));
}
static Value buildLogSum(NodeContext &node, const Reduction &r) {
  Value sum = node.reduce(ReduceKind::Sum, r.x, r.dims, r.keepDims);
  return node.unary(UnaryKind::Log, sum);
}

/// max + log(sum(exp(x - max))); where the largest is infinite, 0 takes its
/// place in the difference.
static Value buildLogSumExp(NodeContext &node, const Reduction &r) {
  Value max = node.reduce(ReduceKind::Max, r.x, r.dims, /*keepDims=*/true);
  double infinity = std::numeric_limits<double>::infinity();
  Value isInfinite =
      node.compare(CompareKind::Eq, node.unary(UnaryKind::Abs, max), infinity);
  Value shift = node.select(isInfinite, node.splat(max, 0), max);
  Value exp =
      node.unary(UnaryKind::Exp, node.binary(BinaryKind::Sub, r.x, shift));
  Value log = node.unary(UnaryKind::Log,
                         node.reduce(ReduceKind::Sum, exp, r.dims, true));
  Value result = node.binary(BinaryKind::Add, log, shift);
  if (!result || r.keepDims)
    return result;
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(getShape(result)))
    if (!llvm::is_contained(r.dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
  return node.reshape(result, shape);
}

/// The largest or least of bools is that of integers.
template <ReduceKind kind>
static Value buildExtreme(NodeContext &node, const Reduction &r) {
  if (!getElement(r.x).isInteger(1))
    return node.reduce(kind, r.x, r.dims, r.keepDims);
  Value x = node.cast(r.x, node.getBuilder().getI32Type());
  x = node.reduce(kind, x, r.dims, r.keepDims);
  return node.compare(CompareKind::Gt, x, 0.0);
}

static LogicalResult importReduce(NodeContext &node, ReduceBuilder build) {
  FailureOr<Reduction> reduction = getReduction(node);
  if (failed(reduction))
    return failure();
  if (reduction->isNothing)
    reduction->dims.clear();
  return node.setResults(build(node, *reduction));
}

/// Reduces all dims after the channels.
static LogicalResult importGlobalPool(NodeContext &node, ReduceBuilder build) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  if (getShape(x).size() < 3)
    return node.emitError()
           << node.getNode().op_type() << " needs spatial dims, found "
           << node.describe(0);
  Shape dims = getIota(getShape(x).size());
  dims.erase(dims.begin(), dims.begin() + 2);
  return node.setResults(build(node, {x, dims, /*keepDims=*/true}));
}

//===-- ArgMax and its kin ------------------------------------------------===//

/// The first (or last) index along the axis whose element is the extreme one.
static Value makeArg(NodeContext &node, ReduceKind kind, Value x, int64_t axis,
                     bool takesLast, bool keepDims) {
  if (!x)
    return nullptr;
  Value extreme = node.reduce(kind, x, axis, /*keepDims=*/true);
  Value isExtreme = node.compare(CompareKind::Eq, x, extreme);
  auto type =
      RankedTensorType::get(getShape(x), node.getBuilder().getI64Type());
  double never = takesLast ? -1 : getShape(x)[axis];
  Value index =
      node.select(isExtreme, node.iota(type, axis), node.splat(type, never));
  return node.reduce(takesLast ? ReduceKind::Max : ReduceKind::Min, index, axis,
                     keepDims);
}

static LogicalResult importArg(NodeContext &node, ReduceKind kind) {
  Value x = node.getOperand(0);
  bool takesLast = node.getInt("select_last_index", 0) != 0;
  bool keepDims = node.getInt("keepdims", 1) != 0;
  if (!x)
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), getShape(x).size());
  if (failed(axis))
    return failure();
  return node.setResults(makeArg(node, kind, x, *axis, takesLast, keepDims));
}

//===-- Prefixes ----------------------------------------------------------===//

static LogicalResult importCumulate(NodeContext &node, ReduceKind kind) {
  Value x = node.getOperand(0);
  FailureOr<double> given = node.getConstantScalar(1, "axis");
  bool exclusive = node.getInt("exclusive", 0) != 0;
  bool reverse = node.getInt("reverse", 0) != 0;
  if (!x || failed(given))
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(static_cast<int64_t>(*given), getShape(x).size());
  if (failed(axis))
    return failure();
  return node.setResults(
      node.create<CumulateOp>(nullptr, kind, x, *axis, exclusive, reverse));
}

//===-- Softmax, hardmax --------------------------------------------------===//

/// Of x along an axis, with the shape of x.
using RowBuilder = Value (*)(NodeContext &, Value x, int64_t axis);

template <bool log>
static Value buildSoftmax(NodeContext &node, Value x, int64_t axis) {
  return node.softmax(x, axis, log);
}

/// 1 for the first of the largest elements, 0 for the others.
static Value buildHardmax(NodeContext &node, Value x, int64_t axis) {
  Value index = makeArg(node, ReduceKind::Max, x, axis, /*takesLast=*/false,
                        /*keepDims=*/true);
  if (!index)
    return nullptr;
  auto type = RankedTensorType::get(getShape(x), getElement(index));
  Value isFirst = node.compare(CompareKind::Eq, node.iota(type, axis), index);
  return node.cast(isFirst, getElement(x));
}

static LogicalResult importRows(NodeContext &node, RowBuilder build) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), getShape(x).size());
  if (failed(axis))
    return failure();
  return node.setResults(build(node, x, *axis));
}

/// Before opset 13: over all dims from `axis` on together.
static LogicalResult importFlatRows(NodeContext &node, RowBuilder build) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  Shape shape(getShape(x));
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 1), shape.size());
  if (failed(axis))
    return failure();
  int64_t inner = getProduct(ArrayRef(shape).drop_front(*axis));
  Shape flat(shape.begin(), shape.begin() + *axis);
  flat.push_back(inner);
  Value result = build(node, node.reshape(x, flat), *axis);
  return node.setResults(node.reshape(result, shape));
}

void cleave::registerReduction(OperatorTable &table) {
  auto bind = [](auto function, auto argument) -> OpHandler {
    return [=](NodeContext &node) { return function(node, argument); };
  };
  std::pair<const char *, ReduceBuilder> reductions[] = {
      {"ReduceSum", buildReduce<ReduceKind::Sum>},
      {"ReduceMax", buildExtreme<ReduceKind::Max>},
      {"ReduceMin", buildExtreme<ReduceKind::Min>},
      {"ReduceProd", buildReduce<ReduceKind::Prod>},
      {"ReduceMean", buildMean},
      {"ReduceL1", buildL1},
      {"ReduceL2", buildL2},
      {"ReduceSumSquare", buildSumSquare},
      {"ReduceLogSum", buildLogSum},
      {"ReduceLogSumExp", buildLogSumExp}};
  for (auto [name, build] : reductions)
    table.onOp("", name, 1, bind(importReduce, build));
  ReduceBuilder max = buildReduce<ReduceKind::Max>, mean = buildMean;
  table.onOp("", "ArgMax", 1, bind(importArg, ReduceKind::Max));
  table.onOp("", "ArgMin", 1, bind(importArg, ReduceKind::Min));
  table.onOp("", "GlobalAveragePool", 1, bind(importGlobalPool, mean));
  table.onOp("", "GlobalMaxPool", 1, bind(importGlobalPool, max));
  table.onOp("", "CumSum", 11, bind(importCumulate, ReduceKind::Sum));
  table.onOp("", "CumProd", 26, bind(importCumulate, ReduceKind::Prod));
  std::pair<const char *, RowBuilder> rows[] = {
      {"Softmax", buildSoftmax<false>},
      {"LogSoftmax", buildSoftmax<true>},
      {"Hardmax", buildHardmax}};
  for (auto [name, build] : rows) {
    table.onOp("", name, 1, bind(importFlatRows, build));
    table.onOp("", name, 13, bind(importRows, build));
  }
}
