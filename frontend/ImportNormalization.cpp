//===- ImportNormalization.cpp - normalisations ---------------------------===//
//
// LayerNormalization and RMSNormalization are the IR's `norm`; those over
// channels or groups are made of it, reshapes and products.
//
//===----------------------------------------------------------------------===//

#include "frontend/ElementTypes.h"
#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

using namespace cleave;
using namespace mlir;

static Value makeNorm(NodeContext &node, NormKind kind, Value x, Value scale,
                      Value bias, int64_t axis, double epsilon) {
  return node.create<NormOp>(nullptr, kind, x, scale, bias, axis,
                             APFloat(epsilon));
}

//===-- Layer and RMS -----------------------------------------------------===//

/// Scale or bias that broadcasts to x, over the normalised dims as `norm` wants
/// it; null when it has other dims.
static Value fitToNorm(NodeContext &node, Value value, ArrayRef<int64_t> dims) {
  if (getShape(value) == dims)
    return value;
  FailureOr<Shape> common = getCommonShape({getShape(value), dims});
  if (failed(common) || ArrayRef(*common) != dims)
    return nullptr;
  return node.broadcast(value, dims);
}

/// Mean and 1 / sqrt(variance + epsilon), the results 1 and 2.
static SmallVector<Value> makeStatistics(NodeContext &node, Value x,
                                         int64_t axis, double epsilon) {
  Shape dims = getIota(getShape(x).size());
  dims.erase(dims.begin(), dims.begin() + axis);
  Value mean = node.mean(x, dims, /*keepDims=*/true);
  Value deviation = node.binary(BinaryKind::Sub, x, mean);
  Value square = node.binary(BinaryKind::Mul, deviation, deviation);
  Value variance = node.mean(square, dims, /*keepDims=*/true);
  Value shifted = node.binary(BinaryKind::Add, variance, epsilon);
  return {mean, node.unary(UnaryKind::Rsqrt, shifted)};
}

/// `stash_type` is the type of the statistics: narrower types are widened for
/// the norm; scale and bias are then applied in the operand's type.
static LogicalResult importNorm(NodeContext &node, NormKind kind) {
  SmallVector<Value> operands = node.getOperands();
  if (operands.empty())
    return failure();
  Value x = operands[0];
  int64_t rank = getShape(x).size();
  FailureOr<int64_t> axis = node.normalizeAxis(node.getInt("axis", -1), rank);
  Type stash = getElementType(
      node.getContext(), node.getInt("stash_type", onnx::TensorProto::FLOAT));
  double epsilon = node.getFloat("epsilon", 1e-5f);
  if (failed(axis))
    return failure();
  if (!stash || !isa<FloatType>(stash))
    return node.emitError() << "stash_type of " << node.getNode().op_type()
                            << " must be a float type";
  ArrayRef<int64_t> dims = getShape(x).drop_front(*axis);
  Value scale = fitToNorm(node, operands[1], dims);
  Value bias =
      operands.size() > 2 ? fitToNorm(node, operands[2], dims) : Value();
  if (!scale || (operands.size() > 2 && !bias))
    return node.emitError()
           << "shapes conflict: scale or bias of " << node.getNode().op_type()
           << " does not fit dims " << formatShape(dims) << " of "
           << node.describe(0) << ", found " << node.describe(scale ? 2 : 1);
  Type element = getElement(x);
  bool isNarrow =
      element.getIntOrFloatBitWidth() < stash.getIntOrFloatBitWidth();
  Value result, wide = isNarrow ? node.cast(x, stash) : x;
  if (isNarrow) {
    result = makeNorm(node, kind, wide, nullptr, nullptr, *axis, epsilon);
    result = node.binary(BinaryKind::Mul, node.cast(result, element), scale);
    result = bias ? node.binary(BinaryKind::Add, result, bias) : result;
  } else {
    result = makeNorm(node, kind, x, scale, bias, *axis, epsilon);
  }
  SmallVector<Value> results{result};
  if (wide && (node.hasResult(1) || node.hasResult(2)))
    llvm::append_range(results, makeStatistics(node, wide, *axis, epsilon));
  return node.setResults(results);
}

//===-- Batch, instance, group --------------------------------------------===//

/// Running statistics are state that no optimizer changes. In training they
/// have the value `next` from the end of the step on.
static void keepStatistics(NodeContext &node, Value statistics, Value next) {
  auto load = statistics.getDefiningOp<LoadOp>();
  if (!load || !node.getTensors().isTraining())
    return;
  auto param =
      SymbolTable::lookupNearestSymbolFrom<ParamOp>(load, load.getSymbolAttr());
  param.setFrozen(true);
  if (next)
    node.getBuilder().create<StoreOp>(load.getLoc(),
                                      node.cast(next, getElement(statistics)),
                                      load.getSymbolAttr());
}

/// Mean and (biased) variance of each channel, over everything else.
static std::pair<Value, Value> makeBatchStatistics(NodeContext &node, Value x) {
  Shape dims = getIota(getShape(x).size());
  dims.erase(dims.begin() + 1);
  Value mean = node.mean(x, dims, /*keepDims=*/false);
  Value deviation =
      node.binary(BinaryKind::Sub, x, node.broadcast(mean, getShape(x), {1}));
  Value square = node.binary(BinaryKind::Mul, deviation, deviation);
  return {mean, node.mean(square, dims, /*keepDims=*/false)};
}

/// result = x a + b with one a and b a channel, in the statistics' type; or, as
/// opsets before 9 can say, one for each place of a channel. In training mode
/// the statistics are those of x, and the running ones, results 1 and 2, move
/// towards them.
static LogicalResult importBatchNorm(NodeContext &node) {
  double momentum = node.getFloat("momentum", 0.9f);
  bool isTraining = node.getInt("training_mode", 0) != 0;
  bool isSpatial = node.getInt("spatial", 1) != 0;
  SmallVector<Value> operands = node.getOperands();
  if (operands.empty())
    return failure();
  Value x = operands[0];
  if (getShape(x).size() < 2)
    return node.emitError()
           << "BatchNormalization needs channels, found " << node.describe(0);
  ArrayRef<int64_t> places = getShape(x).drop_front();
  ArrayRef<int64_t> expected = isSpatial ? places.take_front() : places;
  for (unsigned i = 1; i < 5; ++i)
    if (getShape(operands[i]) != expected)
      return node.emitError()
             << "shapes conflict: " << node.describe(i)
             << " has not one value a " << (isSpatial ? "channel" : "place")
             << " of " << node.describe(0);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(1, 1 + expected.size()));
  Type type = getElement(operands[4]);
  Value scale = node.cast(operands[1], type),
        bias = node.cast(operands[2], type);
  Value wide = node.cast(x, type);
  Value mean = operands[3], variance = operands[4];
  SmallVector<Value> running(2);
  if (isTraining) {
    std::tie(mean, variance) = makeBatchStatistics(node, wide);
    auto move = [&](Value from, Value to) {
      return node.binary(BinaryKind::Add,
                         node.binary(BinaryKind::Mul, from, momentum),
                         node.binary(BinaryKind::Mul, to, 1 - momentum));
    };
    running = {move(operands[3], mean), move(operands[4], variance)};
  }
  for (int i : {0, 1})
    keepStatistics(node, operands[3 + i], running[i]);
  Value shifted =
      node.binary(BinaryKind::Add, variance, node.getFloat("epsilon", 1e-5f));
  Value a = node.binary(BinaryKind::Mul, scale,
                        node.unary(UnaryKind::Rsqrt, shifted));
  Value b =
      node.binary(BinaryKind::Sub, bias, node.binary(BinaryKind::Mul, mean, a));
  wide =
      node.binary(BinaryKind::Mul, wide, node.broadcast(a, getShape(x), dims));
  wide =
      node.binary(BinaryKind::Add, wide, node.broadcast(b, getShape(x), dims));
  SmallVector<Value> results = {node.cast(wide, getElement(x))};
  if (isTraining)
    results.append(running);
  results.resize(std::min<size_t>(results.size(), node.getNumResults()));
  return node.setResults(results);
}

/// Normalises groups of channels, then scales and shifts each channel.
static LogicalResult makeGroupNorm(NodeContext &node, int64_t groups,
                                   Value scale, Value bias) {
  Value x = node.getOperand(0);
  double epsilon = node.getFloat("epsilon", 1e-5f);
  if (!x || !scale || !bias)
    return failure();
  Shape shape(getShape(x));
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    return node.emitError() << node.describe(0) << " has not channels for "
                            << groups << " groups";
  for (Value perChannel : {scale, bias})
    if (getShape(perChannel) != ArrayRef(shape).slice(1, 1))
      return node.emitError()
             << "shapes conflict: " << node.describe(1) << " and "
             << node.describe(2) << " must have one value a "
             << "channel of " << node.describe(0);
  Value flat = node.reshape(
      x, {shape[0], groups,
          getProduct(shape) / std::max<int64_t>(shape[0] * groups, 1)});
  Value result =
      makeNorm(node, NormKind::Layer, flat, nullptr, nullptr, 2, epsilon);
  result = node.reshape(result, shape);
  result =
      node.binary(BinaryKind::Mul, result, node.broadcast(scale, shape, {1}));
  result =
      node.binary(BinaryKind::Add, result, node.broadcast(bias, shape, {1}));
  return node.setResults(result);
}

static LogicalResult importInstanceNorm(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x || getShape(x).size() < 3)
    return x ? node.emitError()
                   << "InstanceNormalization needs spatial dims, found "
                   << node.describe(0)
             : failure();
  return makeGroupNorm(node, getShape(x)[1], node.getOperand(1),
                       node.getOperand(2));
}

/// Since opset 21 scale and bias are per channel, before per group.
static LogicalResult importGroupNorm(NodeContext &node, bool perGroup) {
  node.ignoreAttribute(
      "stash_type"); // The norm is in the operand's type or wider.
  Value x = node.getOperand(0);
  int64_t groups = node.getInt("num_groups", 1);
  Value parameters[] = {node.getOperand(1), node.getOperand(2)};
  if (!x || getShape(x).size() < 2 || groups < 1)
    return node.emitError() << "GroupNormalization needs channels and groups";
  int64_t channels = getShape(x)[1];
  for (Value &value : parameters)
    if (perGroup && value && getShape(value) == ArrayRef(groups)) {
      value = node.broadcast(value, {groups, channels / groups}, {0});
      value = node.reshape(value, {channels});
    }
  return makeGroupNorm(node, groups, parameters[0], parameters[1]);
}

/// x / (the p-norm over one axis); 0 / 0 is 0, as ONNX says.
static LogicalResult importLpNorm(NodeContext &node) {
  Value x = node.getOperand(0);
  int64_t p = node.getInt("p", 2);
  if (!x)
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), getShape(x).size());
  if (failed(axis))
    return failure();
  Value power = p == 1 ? node.unary(UnaryKind::Abs, x)
                       : node.binary(BinaryKind::Mul, x, x);
  Value norm = node.reduce(ReduceKind::Sum, power, *axis, /*keepDims=*/true);
  norm = p == 1 ? norm : node.unary(UnaryKind::Sqrt, norm);
  Value isZero = node.compare(CompareKind::Eq, norm, 0.0);
  Value divisor = node.select(isZero, node.splat(norm, 1.0), norm);
  return node.setResults(node.binary(BinaryKind::Div, x, divisor));
}

void cleave::registerNormalization(OperatorTable &table) {
  table.onOp("", "LayerNormalization", 17, [](NodeContext &node) {
    return importNorm(node, NormKind::Layer);
  });
  table.onOp("", "RMSNormalization", 23,
             [](NodeContext &node) { return importNorm(node, NormKind::Rms); });
  table.onOp("", "BatchNormalization", 7, importBatchNorm);
  table.onOp("", "InstanceNormalization", 6, importInstanceNorm);
  table.onOp("", "GroupNormalization", 18,
             [](NodeContext &node) { return importGroupNorm(node, true); });
  table.onOp("", "GroupNormalization", 21,
             [](NodeContext &node) { return importGroupNorm(node, false); });
  table.onOp("", "LpNormalization", 1, importLpNorm);
}
