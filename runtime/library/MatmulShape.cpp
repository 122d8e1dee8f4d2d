//===- MatmulShape.cpp - a product's shape, with its batch folded ---------===//
//
// Batch dims are independent of one another, so they may be folded in any
// order. Example: a [8, 64, 32] dense, b [32, 16], c [8, 64, 16] dense: a's
// batch stride 64 * 32 is m times its row stride, c's likewise, so m = 512.
//
//===----------------------------------------------------------------------===//

#include "runtime/library/MatmulShape.h"

#include "runtime/support/Error.h"

#include <span>
#include <utility>

namespace cleave::rt {

static std::span<const int64_t> dimsOf(const CleaveTensorDesc &desc) {
  return {desc.dims, static_cast<size_t>(desc.rank)};
}

/// Size and stride of dim `d` of a tensor seen with `rank` dims, aligned right.
static int64_t sizeAt(const CleaveTensorDesc &desc, int rank, int d) {
  int own = d - (rank - desc.rank);
  return own < 0 ? 1 : desc.dims[own];
}
static int64_t strideAt(const CleaveTensorDesc &desc, int rank, int d) {
  int own = d - (rank - desc.rank);
  return own < 0 || desc.dims[own] == 1 ? 0 : desc.strides[own];
}

static MatrixStrides stridesOf(const CleaveTensorDesc &desc, int rank,
                               const std::vector<int> &batchDims) {
  MatrixStrides strides;
  for (int d : batchDims)
    strides.batch.push_back(strideAt(desc, rank, d));
  strides.row = strideAt(desc, rank, rank - 2);
  strides.column = strideAt(desc, rank, rank - 1);
  return strides;
}

static void verifyFits(const CleaveTensorDesc &operand,
                       const CleaveTensorDesc &c, int checkedDims,
                       const char *what) {
  for (int d = 0; d < checkedDims; ++d) {
    int64_t size = sizeAt(operand, c.rank, d);
    if (operand.rank > c.rank || (size != 1 && size != c.dims[d]))
      fail(ExitPlan, "{} of shape {} does not fit a product of shape {}", what,
           listed(dimsOf(operand)), listed(dimsOf(c)));
  }
}

MatmulShape matmulShape(const CleaveMatmulDesc &desc) {
  const CleaveTensorDesc &a = desc.a, &b = desc.b, &c = desc.c;
  if (a.rank < 2 || b.rank < 2 || c.rank < 2)
    fail(ExitPlan, "a product needs operands of at least 2 dims");
  int rank = c.rank;
  MatmulShape shape;
  shape.m = c.dims[rank - 2];
  shape.n = c.dims[rank - 1];
  shape.k = a.dims[a.rank - 1];
  if (a.dims[a.rank - 2] != shape.m || b.dims[b.rank - 1] != shape.n ||
      b.dims[b.rank - 2] != shape.k)
    fail(ExitPlan, "shapes {} and {} do not make a product of shape {}",
         listed(dimsOf(a)), listed(dimsOf(b)), listed(dimsOf(c)));
  verifyFits(a, c, rank - 2, "the left operand");
  verifyFits(b, c, rank - 2, "the right operand");

  std::vector<int> batchDims;
  for (int d = 0; d < rank - 2; ++d)
    if (c.dims[d] != 1) {
      batchDims.push_back(d);
      shape.batch.push_back(c.dims[d]);
    }
  shape.a = stridesOf(a, rank, batchDims);
  shape.b = stridesOf(b, rank, batchDims);
  shape.c = stridesOf(c, rank, batchDims);
  for (int i = 0; i < desc.postOpCount; ++i) {
    verifyFits(desc.postOps[i].operand, c, rank, "a post-operation's operand");
    shape.post.push_back(stridesOf(desc.postOps[i].operand, rank, batchDims));
  }
  return shape;
}

/// All operands whose rows are those of c.
static std::vector<MatrixStrides *> rowOperands(MatmulShape &shape) {
  std::vector<MatrixStrides *> operands = {&shape.a, &shape.c};
  for (MatrixStrides &post : shape.post)
    operands.push_back(&post);
  return operands;
}

static bool canFoldIntoRows(MatmulShape &shape, size_t d) {
  if (shape.b.batch[d] != 0)
    return false;
  if (shape.m == 1)
    return true;
  for (const MatrixStrides *operand : rowOperands(shape))
    if (operand->batch[d] != shape.m * operand->row)
      return false;
  return true;
}

static void foldIntoRows(MatmulShape &shape, size_t d) {
  for (MatrixStrides *operand : rowOperands(shape)) {
    if (shape.m == 1)
      operand->row = operand->batch[d];
    operand->batch.erase(operand->batch.begin() + d);
  }
  shape.b.batch.erase(shape.b.batch.begin() + d);
  shape.m *= shape.batch[d];
  shape.batch.erase(shape.batch.begin() + d);
}

static bool canJoin(MatmulShape &shape, size_t outer) {
  std::vector<MatrixStrides *> operands = rowOperands(shape);
  operands.push_back(&shape.b);
  for (const MatrixStrides *operand : operands)
    if (operand->batch[outer] !=
        shape.batch[outer + 1] * operand->batch[outer + 1])
      return false;
  return true;
}

static void join(MatmulShape &shape, size_t outer) {
  std::vector<MatrixStrides *> operands = rowOperands(shape);
  operands.push_back(&shape.b);
  for (MatrixStrides *operand : operands)
    operand->batch.erase(operand->batch.begin() + outer);
  shape.batch[outer + 1] *= shape.batch[outer];
  shape.batch.erase(shape.batch.begin() + outer);
}

void foldBatch(MatmulShape &shape) {
  for (size_t d = shape.batch.size(); d-- > 0;)
    if (canFoldIntoRows(shape, d)) {
      foldIntoRows(shape, d);
      d = shape.batch.size();
    }
  for (size_t d = shape.batch.size(); d-- > 1;)
    if (canJoin(shape, d - 1))
      join(shape, d - 1);
}

bool orientRows(MatmulShape &shape) {
  if (shape.c.column == 1 || shape.n == 1 || shape.c.row != 1)
    return false;
  std::swap(shape.a, shape.b);
  std::swap(shape.m, shape.n);
  for (MatrixStrides *strides : {&shape.a, &shape.b, &shape.c})
    std::swap(strides->row, strides->column);
  for (MatrixStrides &post : shape.post)
    std::swap(post.row, post.column);
  return true;
}

} // namespace cleave::rt
