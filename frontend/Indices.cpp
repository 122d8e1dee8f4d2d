//===- Indices.cpp - what operators that read or write by index share -----===//

#include "frontend/Indices.h"

using namespace cleave;
using namespace mlir;

Value cleave::flattenIndices(NodeContext &node, ArrayRef<Value> indices,
                             ArrayRef<int64_t> sizes) {
  Value position, isValid;
  for (auto [index, size] : llvm::zip(indices, sizes)) {
    Value shifted = node.binary(BinaryKind::Add, index, size);
    Value isNegative = node.compare(CompareKind::Lt, index, 0.0);
    Value wrapped = node.select(isNegative, shifted, index);
    Value fits = node.binary(BinaryKind::And,
                             node.compare(CompareKind::Ge, wrapped, 0.0),
                             node.compare(CompareKind::Lt, wrapped, size));
    isValid = isValid ? node.binary(BinaryKind::And, isValid, fits) : fits;
    Value scaled =
        position ? node.binary(BinaryKind::Mul, position, size) : Value();
    position = scaled ? node.binary(BinaryKind::Add, scaled, wrapped) : wrapped;
  }
  return node.select(isValid, position,
                     node.splat(position, getProduct(sizes)));
}

FlatIndex cleave::flattenDims(NodeContext &node, int64_t batch) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  if (!x || !indices)
    return {};
  ArrayRef<int64_t> shape = getShape(x), wanted = getShape(indices);
  int64_t rank = shape.size(), last = static_cast<int64_t>(wanted.size()) - 1;
  int64_t count = wanted.empty() ? 0 : wanted.back();
  if (batch < 0 || batch > last || count < 1 || batch + count > rank ||
      shape.take_front(batch) != wanted.take_front(batch)) {
    node.emitError() << "shapes conflict: " << node.getNode().op_type()
                     << " with " << batch << " batch dims cannot index "
                     << node.describe(0) << " by " << node.describe(1);
    return {};
  }
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(
        node.reshape(node.sliceDim(indices, last, i, 1), wanted.drop_back()));
  ArrayRef<int64_t> indexed = shape.slice(batch, count);
  Value position = count == 1 ? parts[0] : flattenIndices(node, parts, indexed);
  Shape flat(shape.take_front(batch));
  flat.push_back(getProduct(indexed));
  llvm::append_range(flat, shape.drop_front(batch + count));
  return {node.reshape(x, flat), position};
}

Shape cleave::getPermToLast(int64_t rank, int64_t axis) {
  Shape perm = getIota(rank);
  perm.erase(perm.begin() + axis);
  perm.push_back(axis);
  return perm;
}
Shape cleave::getPermFromLast(int64_t rank, int64_t axis) {
  Shape perm = getIota(rank - 1);
  perm.insert(perm.begin() + axis, rank - 1);
  return perm;
}

Value cleave::takeAlong(NodeContext &node, Value x, Value indices,
                        int64_t axis) {
  if (!x || !indices)
    return nullptr;
  int64_t last = getShape(x).size() - 1;
  Shape perm = getPermToLast(last + 1, axis);
  Value result = node.gather(node.transpose(x, perm),
                             node.transpose(indices, perm), last, last);
  return node.transpose(result, getPermFromLast(last + 1, axis));
}

FailureOr<int64_t> cleave::getElementAxis(NodeContext &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  if (!x || !indices)
    return failure();
  ArrayRef<int64_t> shape = getShape(x), wanted = getShape(indices);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), shape.size());
  if (failed(axis))
    return failure();
  bool fits = shape.size() == wanted.size();
  for (int64_t dim = 0, e = shape.size(); fits && dim < e; ++dim)
    fits = dim == *axis || wanted[dim] <= shape[dim];
  if (!fits)
    return node.emitError() << "shapes conflict: " << node.getNode().op_type()
                            << " cannot index " << node.describe(0) << " by "
                            << node.describe(1);
  return axis;
}
