//===- ImportContraction.cpp - matrix products ----------------------------===//
//
// Products keep their operands as they are: which dims are contracted says what
// transposes would, so that weights stay in the layout of the file.
//
//===----------------------------------------------------------------------===//

#include "frontend/OperatorTable.h"
#include "frontend/Products.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

//===-- MatMul ------------------------------------------------------------===//

static ArrayRef<int64_t> getBatch(Value x) {
  return getShape(x).drop_back(std::min<size_t>(getShape(x).size(), 2));
}

/// Drops batch dims of size 1 when all of them are: [1, 1, k, n] is [k, n].
static Value dropUnitBatch(NodeContext &node, Value x) {
  if (llvm::any_of(getBatch(x), [](int64_t size) { return size != 1; }))
    return x;
  return node.reshape(x, getShape(x).drop_front(getBatch(x).size()));
}

/// Repeats x along the batch dims that it lacks.
static Value broadcastBatch(NodeContext &node, Value x,
                            ArrayRef<int64_t> batch) {
  Shape shape(batch);
  llvm::append_range(shape, getShape(x).take_back(2));
  return node.broadcast(x, shape);
}

/// lhs [m, k] or [k], rhs [b..., k, n]: the product has lhs's free dim first.
static Value multiplyFlatLhs(NodeContext &node, Value lhs, Value rhs) {
  int64_t lhsRank = getShape(lhs).size(), rhsRank = getShape(rhs).size();
  Value result = node.dot(lhs, rhs, {}, {}, {lhsRank - 1}, {rhsRank - 2});
  if (lhsRank == 1)
    return result;
  Shape perm = getIota(rhsRank); // m, b..., n
  std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  return node.transpose(result, perm);
}

/// Both operands have batch dims.
static Value multiplyBatched(NodeContext &node, Value lhs, Value rhs) {
  FailureOr<Shape> batch = getCommonShape({getBatch(lhs), getBatch(rhs)});
  if (failed(batch)) {
    node.emitError() << "shapes conflict: batch dims of " << node.describe(0)
                     << " and " << node.describe(1) << " do not broadcast";
    return nullptr;
  }
  lhs = broadcastBatch(node, lhs, *batch);
  rhs = broadcastBatch(node, rhs, *batch);
  Shape dims = getIota(batch->size());
  int64_t rank = batch->size() + 2;
  return node.dot(lhs, rhs, dims, dims, {rank - 1}, {rank - 2});
}

/// Both are tensors with dims that fit.
static Value multiplyFitting(NodeContext &node, Value lhs, Value rhs) {
  int64_t lhsRank = getShape(lhs).size(), rhsRank = getShape(rhs).size();
  if (rhsRank <= 2)
    return node.dot(lhs, rhs, {}, {}, {lhsRank - 1}, {0});
  if (lhsRank <= 2)
    return multiplyFlatLhs(node, lhs, rhs);
  if (getBatch(lhs) == getBatch(rhs))
    return multiplyBatched(node, lhs, rhs);
  Value flatRhs = dropUnitBatch(node, rhs), flatLhs = dropUnitBatch(node, lhs);
  if (rhsRank <= lhsRank && flatRhs != rhs)
    return node.dot(lhs, flatRhs, {}, {}, {lhsRank - 1}, {0});
  if (lhsRank <= rhsRank && flatLhs != lhs)
    return multiplyFlatLhs(node, flatLhs, rhs);
  return multiplyBatched(node, lhs, rhs);
}

Value cleave::multiply(NodeContext &node, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return nullptr;
  ArrayRef<int64_t> a = getShape(lhs), b = getShape(rhs);
  if (!a.empty() && !b.empty() &&
      a.back() == (b.size() == 1 ? b[0] : b[b.size() - 2]))
    return multiplyFitting(node, lhs, rhs);
  node.emitError() << "shapes conflict: cannot multiply " << node.describe(0)
                   << " and "
                   << node.describe(node.getNumOperands() > 4 ? 3 : 1);
  return nullptr;
}

static LogicalResult importMatMul(NodeContext &node) {
  return node.setResults(
      multiply(node, node.getOperand(0), node.getOperand(1)));
}

//===-- Gemm --------------------------------------------------------------===//

/// alpha A' B' + beta C, where A' is A or its transpose.
static LogicalResult importGemm(NodeContext &node) {
  Value a = node.getOperand(0), b = node.getOperand(1);
  int64_t transA = node.getInt("transA", 0) != 0;
  int64_t transB = node.getInt("transB", 0) != 0;
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  if (!a || !b)
    return failure();
  ArrayRef<int64_t> sa = getShape(a), sb = getShape(b);
  if (sa.size() != 2 || sb.size() != 2 || sa[1 - transA] != sb[transB])
    return node.emitError()
           << "shapes conflict: cannot multiply " << node.describe(0) << " and "
           << node.describe(1) << (transA ? ", first transposed" : "")
           << (transB ? ", second transposed" : "");
  Value result = node.dot(a, b, {}, {}, {1 - transA}, {transB});
  if (alpha != 1)
    result = node.binary(BinaryKind::Mul, result, alpha);
  if (!node.hasOperand(2))
    return node.setResults(result);
  Value c = node.getOperand(2);
  FailureOr<Shape> common =
      getCommonShape({getShape(c), {sa[transA], sb[1 - transB]}});
  if (!result || failed(common) || ArrayRef(*common) != getShape(result))
    return node.emitError() << "shapes conflict: " << node.describe(2)
                            << " does not broadcast to the product of "
                            << node.describe(0) << " and " << node.describe(1);
  if (beta != 1)
    c = node.binary(BinaryKind::Mul, c, beta);
  return node.setResults(node.binary(BinaryKind::Add, result, c));
}

void cleave::registerContraction(OperatorTable &table) {
  table.onOp("", "MatMul", 1, importMatMul);
  table.onOp("", "Gemm", 7, importGemm);
}
