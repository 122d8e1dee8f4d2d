//===- MatmulShape.h - a product's shape, with its batch folded -----------===//
//
// oneDNN is fast on plain two-dimensional products. This brings a batched,
// broadcast, strided product to as few dims as its strides allow:
// [1, 197, 384] x [384, 1152] is one product of 197 rows, and so is a batch of
// rows times one weight. Plain data: no library here.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_LIBRARY_MATMULSHAPE_H
#define CLEAVE_RUNTIME_LIBRARY_MATMULSHAPE_H

#include "runtime/Abi.h"

#include <cstdint>
#include <vector>

namespace cleave::rt {

/// Strides of one operand; 0 where it is broadcast.
struct MatrixStrides {
  std::vector<int64_t> batch;
  int64_t row = 0, column = 0;

  bool operator==(const MatrixStrides &) const = default;
};

struct MatmulShape {
  std::vector<int64_t> batch;
  int64_t m = 0, n = 0, k = 0;
  MatrixStrides a, b, c;
  /// One entry for each post-operation; all 0 where it has no operand.
  std::vector<MatrixStrides> post;
};

/// The shape of a descriptor, size-1 batch dims dropped. Throws Failure
/// (ExitPlan) when the dims do not make a product.
MatmulShape matmulShape(const CleaveMatmulDesc &desc);

/// Moves batch dims into the rows where b is the same along them and the
/// strides of all others continue the rows', then joins batch dims.
void foldBatch(MatmulShape &shape);

/// Makes the columns of c consecutive by computing the transposed product,
/// where that helps. Returns true when a and b have changed places.
bool orientRows(MatmulShape &shape);

} // namespace cleave::rt

#endif
