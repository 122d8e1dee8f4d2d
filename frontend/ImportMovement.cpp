//===- ImportMovement.cpp - operators that rearrange whole dims -----------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

//===-- Reshape and its kin -----------------------------------------------===//

/// Sizes of the result: 0 copies the operand's (unless `allowzero`), one -1 is
/// what remains.
static FailureOr<Shape> resolveShape(NodeContext &node, ArrayRef<int64_t> from,
                                     Shape to) {
  bool allowZero = node.getInt("allowzero", 0) != 0;
  // Copied sizes stand on both sides: a -1 is what the others leave, also where
  // a copied size is 0.
  int64_t open = -1, given = 1, rest = 1;
  auto fail = [&]() {
    return node.emitError() << "shapes conflict: cannot reshape "
                            << node.describe(0) << " to " << formatShape(to);
  };
  Shape result(to);
  for (auto [i, size] : llvm::enumerate(result)) {
    bool isCopied = size == 0 && !allowZero;
    if ((isCopied && i >= from.size()) || size < -1 ||
        (size == -1 && open >= 0))
      return fail();
    if (i < from.size() && !isCopied)
      rest *= from[i];
    if (isCopied)
      size = from[i];
    else if (size == -1)
      open = i;
    else if (llvm::MulOverflow(given, size, given))
      return fail();
  }
  rest *= getProduct(from.drop_front(std::min(from.size(), to.size())));
  if (open >= 0 && given == 0)
    return fail();
  if (open >= 0)
    result[open] = rest / given;
  if (getProduct(result) != getProduct(from))
    return fail();
  return result;
}

static LogicalResult importReshape(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  FailureOr<std::optional<Shape>> to = node.getList(1, "shape");
  if (failed(to))
    return failure();
  if (!*to)
    return node.emitError() << "Reshape has no shape";
  FailureOr<Shape> shape = resolveShape(node, getShape(x), **to);
  if (failed(shape))
    return failure();
  return node.setResults(node.reshape(x, *shape));
}

static LogicalResult importFlatten(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  ArrayRef<int64_t> shape = getShape(x);
  int64_t axis = node.getInt("axis", 1), rank = shape.size();
  if (axis < -rank || axis > rank)
    return node.emitError() << "axis " << axis
                            << " of Flatten is out of range for rank " << rank;
  axis += axis < 0 ? rank : 0;
  return node.setResults(node.reshape(x, {getProduct(shape.take_front(axis)),
                                          getProduct(shape.drop_front(axis))}));
}

/// Without axes all dims of size 1 go.
static LogicalResult importSqueeze(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  FailureOr<std::optional<Shape>> list = node.getList(1, "axes");
  if (failed(list))
    return failure();
  ArrayRef<int64_t> shape = getShape(x);
  FailureOr<Shape> axes =
      node.normalizeAxes(list->value_or(Shape()), shape.size());
  if (failed(axes))
    return failure();
  Shape result;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isListed = llvm::is_contained(*axes, dim);
    if (isListed && size != 1)
      return node.emitError() << "Squeeze of axis " << dim << " of "
                              << node.describe(0) << ", whose size is not 1";
    if (*list ? !isListed : size != 1)
      result.push_back(size);
  }
  return node.setResults(node.reshape(x, result));
}

static LogicalResult importUnsqueeze(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  FailureOr<std::optional<Shape>> list = node.getList(1, "axes");
  if (failed(list))
    return failure();
  if (!*list)
    return node.emitError() << "Unsqueeze has no axes";
  int64_t rank = getShape(x).size() + (*list)->size();
  FailureOr<Shape> axes = node.normalizeAxes(**list, rank);
  if (failed(axes))
    return failure();
  if (axes->size() != (*list)->size())
    return node.emitError()
           << "axes of Unsqueeze must be unique, found " << formatShape(**list);
  Shape result(getShape(x));
  for (int64_t axis : *axes)
    result.insert(result.begin() + axis, 1);
  return node.setResults(node.reshape(x, result));
}

//===-- Transpose, concat, split ------------------------------------------===//

static LogicalResult importTranspose(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  Shape reversed = getIota(getShape(x).size());
  std::reverse(reversed.begin(), reversed.end());
  return node.setResults(
      node.transpose(x, node.getInts("perm").value_or(reversed)));
}

static LogicalResult importConcat(NodeContext &node) {
  SmallVector<Value> values = node.getOperands();
  if (values.empty())
    return failure();
  int64_t rank = getShape(values.front()).size();
  FailureOr<int64_t> axis = node.normalizeAxis(node.getInt("axis", 1), rank);
  if (failed(axis))
    return failure();
  return node.setResults(node.concat(values, *axis));
}

/// Sizes of the parts: given, or as equal as can be with a smaller last one.
static FailureOr<Shape> getPartSizes(NodeContext &node, int64_t size) {
  FailureOr<std::optional<Shape>> given = node.getList(1, "split");
  if (failed(given))
    return failure();
  int64_t count = node.getNumResults();
  int64_t wanted = node.getInt("num_outputs", count);
  Shape sizes;
  if (*given)
    sizes = **given;
  else
    for (int64_t i = 0, part = llvm::divideCeil(size, count); i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(size - i * part, 0, part));
  if (static_cast<int64_t>(sizes.size()) != count || wanted != count ||
      std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) != size)
    return node.emitError() << "Split of a dim of size " << size << " into "
                            << count << " results of sizes "
                            << formatShape(sizes) << " does not come out even";
  return sizes;
}

static LogicalResult importSplit(NodeContext &node) {
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), getShape(x).size());
  if (failed(axis))
    return failure();
  FailureOr<Shape> sizes = getPartSizes(node, getShape(x)[*axis]);
  if (failed(sizes))
    return failure();
  SmallVector<Value> parts;
  int64_t start = 0;
  for (int64_t size : *sizes) {
    parts.push_back(node.sliceDim(x, *axis, start, size));
    start += size;
  }
  return node.setResults(parts);
}

//===-- Expand, tile ------------------------------------------------------===//

/// Both shapes broadcast: a size of 1 keeps the operand's.
static LogicalResult importExpand(NodeContext &node) {
  Value x = node.getOperand(0);
  FailureOr<Shape> to = node.getConstantInts(1, "shape");
  if (!x || failed(to))
    return failure();
  FailureOr<Shape> shape = getCommonShape({getShape(x), *to});
  if (failed(shape))
    return node.emitError() << "shapes conflict: cannot expand "
                            << node.describe(0) << " to " << formatShape(*to);
  return node.setResults(node.broadcast(x, *shape));
}

/// [a, b] repeated r, s times: broadcast to [r, a, s, b], then reshape.
static LogicalResult importTile(NodeContext &node) {
  Value x = node.getOperand(0);
  FailureOr<Shape> repeats = node.getConstantInts(1, "repeats");
  if (!x || failed(repeats))
    return failure();
  if (repeats->size() != getShape(x).size())
    return node.emitError()
           << "Tile needs one repeat per dim, found " << formatShape(*repeats)
           << " for " << node.describe(0);
  Shape wide, dims, result;
  for (auto [size, repeat] : llvm::zip(getShape(x), *repeats)) {
    dims.push_back(wide.size() + 1);
    wide.append({repeat, size});
    result.push_back(repeat * size);
  }
  if (ArrayRef(result) == getShape(x))
    return node.setResults(x);
  return node.setResults(node.reshape(node.broadcast(x, wide, dims), result));
}

//===-- Blocks ------------------------------------------------------------===//

/// [N, C b b, H, W] -> [N, C, H b, W b].
static LogicalResult importDepthToSpace(NodeContext &node) {
  Value x = node.getOperand(0);
  int64_t b = node.getInt("blocksize", 1);
  std::string mode = node.getString("mode", "DCR");
  if (!x)
    return failure();
  ArrayRef<int64_t> s = getShape(x);
  if (s.size() != 4 || b < 1 || s[1] % b != 0 || s[1] / b % b != 0)
    return node.emitError()
           << "DepthToSpace by " << b << " does not fit " << node.describe(0);
  int64_t c = s[1] / (b * b);
  Value y = mode == "DCR" ? node.reshape(x, {s[0], b, b, c, s[2], s[3]})
                          : node.reshape(x, {s[0], c, b, b, s[2], s[3]});
  y = mode == "DCR" ? node.transpose(y, {0, 3, 4, 1, 5, 2})
                    : node.transpose(y, {0, 1, 4, 2, 5, 3});
  return node.setResults(node.reshape(y, {s[0], c, s[2] * b, s[3] * b}));
}

/// [N, C, H b, W b] -> [N, b b C, H, W], or C b b.
static LogicalResult importSpaceToDepth(NodeContext &node) {
  Value x = node.getOperand(0);
  int64_t b = node.getInt("blocksize", 1);
  if (!x)
    return failure();
  ArrayRef<int64_t> s = getShape(x);
  if (s.size() != 4 || b < 1 || s[2] % b != 0 || s[3] % b != 0)
    return node.emitError()
           << "SpaceToDepth by " << b << " does not fit " << node.describe(0);
  Value y = node.reshape(x, {s[0], s[1], s[2] / b, b, s[3] / b, b});
  y = node.getString("mode", "DCR") == "DCR"
          ? node.transpose(y, {0, 3, 5, 1, 2, 4})
          : node.transpose(y, {0, 1, 3, 5, 2, 4});
  return node.setResults(
      node.reshape(y, {s[0], b * b * s[1], s[2] / b, s[3] / b}));
}

//===-- Nothing moves -----------------------------------------------------===//

static LogicalResult importIdentity(NodeContext &node) {
  return node.setResults(node.getOperand(0));
}

/// In inference: the operand, and a mask that keeps all.
/// In inference all is kept; the mask says so, in the type of x before
/// opset 10.
static LogicalResult importDropout(NodeContext &node, bool hasFloatMask) {
  node.ignoreAttribute("ratio");
  node.ignoreAttribute("seed");
  node.ignoreOperand(1);
  Value x = node.getOperand(0);
  if (!x)
    return failure();
  if (node.hasOperand(2)) {
    FailureOr<double> training = node.getConstantScalar(2, "training_mode");
    if (failed(training))
      return failure();
    if (*training != 0)
      return node.emitError() << "Dropout in training mode is not supported";
  }
  Type kept = hasFloatMask ? getTensorType(x).getElementType()
                           : node.getBuilder().getI1Type();
  auto mask = RankedTensorType::get(getShape(x), kept);
  return node.setResults({x, node.splat(mask, 1)});
}

void cleave::registerMovement(OperatorTable &table) {
  table.onOp("", "Reshape", 5, importReshape);
  table.onOp("", "Flatten", 1, importFlatten);
  table.onOp("", "Squeeze", 1, importSqueeze);
  table.onOp("", "Unsqueeze", 1, importUnsqueeze);
  table.onOp("", "Transpose", 1, importTranspose);
  table.onOp("", "Concat", 4, importConcat);
  table.onOp("", "Split", 2, importSplit);
  table.onOp("", "Expand", 8, importExpand);
  table.onOp("", "Tile", 6, importTile);
  table.onOp("", "DepthToSpace", 1, importDepthToSpace);
  table.onOp("", "SpaceToDepth", 1, importSpaceToDepth);
  table.onOp("", "Identity", 1, importIdentity);
  table.onOp("", "Dropout", 7,
             [](NodeContext &node) { return importDropout(node, true); });
  table.onOp("", "Dropout", 10,
             [](NodeContext &node) { return importDropout(node, false); });
}
