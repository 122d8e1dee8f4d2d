//===- ImportScatter.cpp - operators that write by index ------------------===//

#include "frontend/Indices.h"
#include "frontend/OperatorTable.h"

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

void cleave::registerScatter(OperatorTable &table) {
  table.onOp("", "Scatter", 9, importScatterElements);
  table.onOp("", "ScatterElements", 11, importScatterElements);
  table.onOp("", "ScatterND", 11, importScatterND);
}
