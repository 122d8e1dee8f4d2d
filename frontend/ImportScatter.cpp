//===- ImportScatter.cpp - operators that write by index ------------------===//

#include "frontend/Indices.h"
#include "frontend/OperatorTable.h"
#include "frontend/Windows.h"

using namespace cleave;
using namespace mlir;

/// The reduction of a scatter; null where elements are replaced.
static FailureOr<ReduceKindAttr> getCombine(NodeContext &node) {
  std::string name = node.getString("reduction", "none");
  std::pair<StringRef, ReduceKind> kinds[] = {{"add", ReduceKind::Sum},
                                              {"mul", ReduceKind::Prod},
                                              {"max", ReduceKind::Max},
                                              {"min", ReduceKind::Min}};
  for (auto [known, kind] : kinds)
    if (name == known)
      return ReduceKindAttr::get(node.getContext(), kind);
  if (name == "none")
    return ReduceKindAttr();
  return node.emitError() << "attribute 'reduction' of "
                          << node.getNode().op_type()
                          << " must be none, add, mul, max or min, found '"
                          << name << "'";
}

static LogicalResult importScatterND(NodeContext &node) {
  Value updates = node.getOperand(2);
  FailureOr<ReduceKindAttr> combine = getCombine(node);
  FlatIndex flat = flattenDims(node, 0);
  if (failed(combine) || !updates || !flat.position)
    return failure();
  Shape expected(getShape(flat.position));
  llvm::append_range(expected, getShape(flat.x).drop_front());
  if (ArrayRef(expected) != getShape(updates))
    return node.emitError()
           << "shapes conflict: the updates " << node.describe(2)
           << " of ScatterND do not fit " << formatShape(expected);
  Value result = node.create<ScatterOp>(nullptr, flat.x, flat.position, updates,
                                        0, 0, *combine);
  return node.setResults(node.reshape(result, getShape(node.getOperand(0))));
}

/// Writes into x as a whole, flattened: where indices miss some of its dims.
static Value scatterFlat(NodeContext &node, int64_t axis,
                         ReduceKindAttr combine) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  ArrayRef<int64_t> shape = getShape(x);
  SmallVector<Value> parts;
  for (int64_t dim = 0, e = shape.size(); dim < e; ++dim)
    parts.push_back(dim == axis ? indices
                                : node.iota(getTensorType(indices), dim));
  Value position = flattenIndices(node, parts, shape);
  Value flat = node.reshape(x, {getProduct(shape)});
  Value result = node.create<ScatterOp>(nullptr, flat, position,
                                        node.getOperand(2), 0, 0, combine);
  return node.reshape(result, shape);
}

/// x[i, ..., indices[i, j, ...], ...] becomes updates[i, j, ...].
static LogicalResult importScatterElements(NodeContext &node) {
  FailureOr<int64_t> axis = getElementAxis(node);
  FailureOr<ReduceKindAttr> combine = getCombine(node);
  Value updates = node.getOperand(2);
  if (failed(axis) || failed(combine) || !updates)
    return failure();
  Value x = node.getOperand(0), indices = node.getOperand(1);
  if (getShape(updates) != getShape(indices))
    return node.emitError()
           << "shapes conflict: the updates " << node.describe(2) << " of "
           << node.getNode().op_type() << " do not fit the indices "
           << node.describe(1);
  int64_t last = getShape(x).size() - 1;
  Shape perm = getPermToLast(last + 1, *axis);
  Value moved = node.transpose(x, perm);
  Value movedIndices = node.transpose(indices, perm);
  if (!moved || !movedIndices)
    return failure();
  if (getShape(moved).drop_back() != getShape(movedIndices).drop_back())
    return node.setResults(scatterFlat(node, *axis, *combine));
  Value result = node.create<ScatterOp>(nullptr, moved, movedIndices,
                                        node.transpose(updates, perm), last,
                                        last, *combine);
  return node.setResults(
      node.transpose(result, getPermFromLast(last + 1, *axis)));
}

//===-- Whole slices ------------------------------------------------------===//

/// Writes `update` into a cache from write_indices[b] on, along an axis; in
/// mode circular past its end from its start on.
static LogicalResult importTensorScatter(NodeContext &node) {
  Value cache = node.getOperand(0), update = node.getOperand(1);
  std::string mode = node.getString("mode", "linear");
  if (!cache || !update)
    return failure();
  ArrayRef<int64_t> shape = getShape(cache);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -2), shape.size());
  if (failed(axis))
    return failure();
  Shape expected(shape);
  if (getShape(update).size() == shape.size())
    expected[*axis] = getShape(update)[*axis];
  if (*axis == 0 || ArrayRef(expected) != getShape(update) ||
      (mode != "linear" && mode != "circular"))
    return node.emitError()
           << "TensorScatter in mode '" << mode << "' cannot write "
           << node.describe(1) << " to axis " << *axis << " of "
           << node.describe(0);
  auto type = RankedTensorType::get({shape[0], expected[*axis]},
                                    node.getBuilder().getI64Type());
  Value index = node.iota(type, 1);
  if (node.hasOperand(2)) {
    Value first = node.cast(node.getOperand(2), type.getElementType());
    index = node.binary(BinaryKind::Add, index,
                        node.broadcast(first, type.getShape(), {0}));
  }
  if (mode == "circular")
    index =
        node.binary(BinaryKind::Mod, index, static_cast<double>(shape[*axis]));
  return node.setResults(node.create<ScatterOp>(nullptr, cache, index, update,
                                                *axis, 1, ReduceKindAttr()));
}

/// Where the elements of all blocks lie in the padded image, row-major: element
/// k of block l is at l * stride + k * dilation in each dim; k varies slowest.
static Shape getBlockPositions(const Windows &windows, ArrayRef<int64_t> counts,
                               ArrayRef<int64_t> padded) {
  Shape positions{0};
  auto addDims = [&](ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
    int64_t stride = getProduct(padded);
    for (auto [size, step, whole] : llvm::zip(sizes, steps, padded)) {
      stride /= whole;
      Shape next;
      for (int64_t position : positions)
        for (int64_t i = 0; i < size; ++i)
          next.push_back(position + i * step * stride);
      positions = next;
    }
  };
  addDims(windows.kernel, windows.dilations);
  addDims(counts, windows.strides);
  return positions;
}

/// [N, C * block..., blocks] to [N, C, image...]: overlapping blocks are
/// summed.
static LogicalResult importCol2Im(NodeContext &node) {
  Value x = node.getOperand(0);
  FailureOr<Shape> image = node.getConstantInts(1, "image_shape");
  FailureOr<Shape> block = node.getConstantInts(2, "block_shape");
  if (!x || failed(image) || failed(block))
    return failure();
  auto fail = [&]() {
    return node.emitError() << "shapes conflict: Col2Im of " << node.describe(0)
                            << " does not give an image " << formatShape(*image)
                            << " of blocks " << formatShape(*block);
  };
  if (image->size() != block->size())
    return fail();
  FailureOr<Windows> windows = getWindows(node, *block);
  if (failed(windows) || failed(verifyPads(node, *windows)) ||
      failed(verifySizes(node, "image_shape", *image)))
    return failure();
  int64_t rank = block->size(), channels = getProduct(*block);
  Shape padded, counts;
  for (auto [i, size] : llvm::enumerate(*image)) {
    padded.push_back(size + windows->low[i] + windows->high[i]);
    counts.push_back((padded[i] - windows->getSpan(i)) / windows->strides[i] +
                     1);
  }
  int64_t blocks = getProduct(counts);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() != 3 || shape[1] % channels != 0 || shape[2] != blocks)
    return fail();
  int64_t n = shape[0], c = shape[1] / channels;
  auto type = RankedTensorType::get({n, c, getProduct(padded)}, getElement(x));
  Value updates = node.reshape(x, {n, c, channels * blocks});
  Value sum = node.create<ScatterOp>(
      nullptr, node.splat(type, 0),
      node.constant(getBlockPositions(*windows, counts, padded)), updates, 2, 0,
      ReduceKindAttr::get(node.getContext(), ReduceKind::Sum));
  Shape wide{n, c}, starts{0, 0}, sizes{n, c}, ones(rank + 2, 1);
  llvm::append_range(wide, padded);
  llvm::append_range(starts, windows->low);
  llvm::append_range(sizes, *image);
  return node.setResults(
      node.slice(node.reshape(sum, wide), starts, sizes, ones));
}

void cleave::registerScatter(OperatorTable &table) {
  table.onOp("", "Scatter", 9, importScatterElements);
  table.onOp("", "ScatterElements", 11, importScatterElements);
  table.onOp("", "ScatterND", 11, importScatterND);
  table.onOp("", "TensorScatter", 24, importTensorScatter);
  table.onOp("", "Col2Im", 18, importCol2Im);
}
