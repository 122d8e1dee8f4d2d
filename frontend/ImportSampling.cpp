//===- ImportSampling.cpp - images read where a grid says -----------------===//
//
// GridSample is a sum over the elements around each point, "taps": 1 (nearest),
// 2 (linear) or 4 (cubic) a dim. A tap of a dim is an index and a weight for
// each point; a gather reads the flattened image where the taps of all dims
// meet.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

using namespace cleave;
using namespace mlir;

namespace {
/// Of one dim, for all points. Null: weight 1; valid everywhere.
struct Tap {
  Value index, weight, isValid;
};

class GridSampler {
public:
  explicit GridSampler(NodeContext &node) : node(node) {}
  LogicalResult run();

private:
  LogicalResult readAttributes();
  Value getCoordinate(int64_t dim);
  SmallVector<Tap> getTaps(int64_t dim);
  SmallVector<Value> getWeights(Value t);
  Tap makeTap(Value position, Value weight, int64_t size);
  Value sample(ArrayRef<SmallVector<Tap>> taps);
  Value readTap(ArrayRef<Tap> tap);

  Value add(Value x, Value y) { return node.binary(BinaryKind::Add, x, y); }
  Value add(Value x, double y) { return node.binary(BinaryKind::Add, x, y); }
  Value sub(Value x, Value y) { return node.binary(BinaryKind::Sub, x, y); }
  Value mul(Value x, Value y) { return node.binary(BinaryKind::Mul, x, y); }
  Value mul(Value x, double y) { return node.binary(BinaryKind::Mul, x, y); }

  NodeContext &node;
  Value x, grid;
  Shape shape;  ///< of x
  Shape points; ///< [N, points]
  std::string mode, padding;
  bool alignCorners = false;
};
} // namespace

LogicalResult GridSampler::readAttributes() {
  mode = node.getString("mode", "linear");
  padding = node.getString("padding_mode", "zeros");
  alignCorners = node.getInt("align_corners", 0) != 0;
  if (mode == "bilinear" || mode == "bicubic") // The names of opset 16.
    mode = mode.substr(2);
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, mode) ||
      !llvm::is_contained({"zeros", "border", "reflection"}, padding))
    return node.emitError()
           << "GridSample in mode '" << mode << "' with padding_mode '"
           << padding << "' is not supported";
  return success();
}

/// Where the points lie along spatial dim `dim`: the grid has -1 to 1, and the
/// last dim first.
Value GridSampler::getCoordinate(int64_t dim) {
  int64_t last = static_cast<int64_t>(getShape(grid).size()) - 1;
  int64_t spatial = static_cast<int64_t>(shape.size()) - 2;
  double size = static_cast<double>(shape[2 + dim]);
  Value g =
      node.reshape(node.sliceDim(grid, last, spatial - 1 - dim, 1), points);
  g = add(g, 1.0);
  Value at =
      alignCorners ? mul(g, (size - 1) / 2) : mul(add(mul(g, size), -1.0), 0.5);
  // What is this far out reads padding; integers hold it.
  constexpr double Far = 1e6;
  at = node.binary(BinaryKind::Max, at, -Far);
  return node.binary(BinaryKind::Min, at, Far);
}

/// Weights of the taps of a point that lies t behind an element.
SmallVector<Value> GridSampler::getWeights(Value t) {
  Value rest = sub(node.splat(t, 1.0), t);
  if (mode == "linear")
    return {rest, t};
  // Keys' cubic convolution with a = -0.75.
  constexpr double a = -0.75;
  auto near = [&](Value d) { // ((a + 2) d - (a + 3)) d^2 + 1
    return add(mul(add(mul(d, a + 2), -(a + 3)), mul(d, d)), 1.0);
  };
  auto far = [&](Value d) { // ((d - 5) d + 8) d a - 4 a, at d + 1
    d = add(d, 1.0);
    Value inner = add(mul(add(d, -5.0), d), 8.0);
    return add(mul(mul(inner, d), a), -4 * a);
  };
  return {far(t), near(t), near(rest), far(rest)};
}

/// Maps a position that may be outside of the dim to one inside.
Tap GridSampler::makeTap(Value position, Value weight, int64_t size) {
  Value index = node.cast(position, node.getBuilder().getI64Type());
  Tap tap{index, weight, Value()};
  double last = static_cast<double>(size - 1);
  if (padding == "reflection" && size > 1) {
    // At the centres of the outer elements, or at their borders.
    double period = static_cast<double>(alignCorners ? 2 * size - 2 : 2 * size);
    Value turn = node.binary(BinaryKind::Mod, index, node.splat(index, period));
    Value mirrored =
        sub(node.splat(turn, alignCorners ? period : period - 1), turn);
    tap.index =
        node.select(node.compare(CompareKind::Gt, turn, last), mirrored, turn);
    return tap;
  }
  tap.index = node.binary(BinaryKind::Max, index, 0.0);
  tap.index = node.binary(BinaryKind::Min, tap.index, last);
  if (padding == "zeros")
    tap.isValid = node.compare(CompareKind::Eq, tap.index, index);
  return tap;
}

SmallVector<Tap> GridSampler::getTaps(int64_t dim) {
  Value at = getCoordinate(dim);
  int64_t size = shape[2 + dim];
  if (mode == "nearest")
    return {makeTap(node.unary(UnaryKind::Round, at), Value(), size)};
  Value low = node.unary(UnaryKind::Floor, at);
  SmallVector<Tap> taps;
  double offset = mode == "cubic" ? -1 : 0;
  for (Value weight : getWeights(sub(at, low)))
    taps.push_back(makeTap(add(low, offset++), weight, size));
  return taps;
}

/// One tap of each dim: its element times its weight.
Value GridSampler::readTap(ArrayRef<Tap> tap) {
  Value position, weight, isValid;
  auto join = [&](BinaryKind kind, Value &all, Value next) {
    if (next)
      all = all ? node.binary(kind, all, next) : next;
  };
  for (auto [dim, one] : llvm::enumerate(tap)) {
    Value scaled =
        position ? mul(position, static_cast<double>(shape[2 + dim])) : Value();
    position = scaled ? add(scaled, one.index) : one.index;
    join(BinaryKind::Mul, weight, one.weight);
    join(BinaryKind::And, isValid, one.isValid);
  }
  Shape flat{shape[0], shape[1], getProduct(ArrayRef(shape).drop_front(2))};
  Value value = node.gather(node.reshape(x, flat), position, 2, 1);
  if (!value)
    return nullptr;
  auto overChannels = [&](Value perPoint) {
    return node.broadcast(perPoint, getShape(value), {0, 2});
  };
  if (weight)
    value = mul(value, overChannels(node.cast(weight, getElement(x))));
  if (isValid)
    value = node.select(overChannels(isValid), value, node.splat(value, 0.0));
  return value;
}

/// The sum over all combinations of taps, the last dim fastest.
Value GridSampler::sample(ArrayRef<SmallVector<Tap>> taps) {
  int64_t combinations = 1;
  for (ArrayRef<Tap> list : taps)
    combinations *= list.size();
  Value sum;
  for (int64_t i = 0; i < combinations; ++i) {
    SmallVector<Tap> chosen(taps.size());
    int64_t rest = i;
    for (size_t dim = taps.size(); dim-- > 0; rest /= taps[dim].size())
      chosen[dim] = taps[dim][rest % taps[dim].size()];
    Value value = readTap(chosen);
    sum = sum ? add(sum, value) : value;
    if (!sum)
      return nullptr;
  }
  return sum;
}

LogicalResult GridSampler::run() {
  x = node.getOperand(0);
  grid = node.getOperand(1);
  if (!x || !grid || failed(readAttributes()))
    return failure();
  shape = Shape(getShape(x));
  ArrayRef<int64_t> wanted = getShape(grid);
  int64_t spatial = static_cast<int64_t>(shape.size()) - 2;
  if (spatial < 1 || wanted.size() != shape.size() || wanted[0] != shape[0] ||
      wanted.back() != spatial || llvm::is_contained(shape, 0))
    return node.emitError() << "shapes conflict: the grid " << node.describe(1)
                            << " does not fit " << node.describe(0);
  ArrayRef<int64_t> inner = wanted.drop_front().drop_back();
  points = {shape[0], getProduct(inner)};
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t dim = 0; dim < spatial; ++dim)
    taps.push_back(getTaps(dim));
  Shape result{shape[0], shape[1]};
  llvm::append_range(result, inner);
  return node.setResults(node.reshape(sample(taps), result));
}

void cleave::registerSampling(OperatorTable &table) {
  table.onOp("", "GridSample", 16,
             [](NodeContext &node) { return GridSampler(node).run(); });
}
