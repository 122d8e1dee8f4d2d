//===- StridedView.h - shapes and strides, apart from the IR --------------===//
//
// A view of a tensor in memory, and what reshape, transpose, broadcast and
// slice do to it without moving an element.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_STRIDEDVIEW_H
#define CLEAVE_IR_STRIDEDVIEW_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace cleave {

/// Strides of a dense row-major tensor.
llvm::SmallVector<int64_t> getDenseStrides(llvm::ArrayRef<int64_t> shape);

/// Whether strides are those of a dense tensor; strides of dims of size 1 do
/// not count.
bool isDense(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// Dims of an image batch [N, C, spatial...] from outermost to innermost in
/// memory, when channels lie together: N, spatial..., C.
llvm::SmallVector<int64_t> getChannelsLast(int64_t rank);

struct StridedView {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides; ///< in elements
  int64_t offset = 0;                 ///< in elements

  /// The same elements under another shape; none when that needs a copy.
  std::optional<StridedView> reshape(llvm::ArrayRef<int64_t> shape) const;
  /// Whether the dims, from outermost to innermost in `order`, are dense.
  bool isDenseIn(llvm::ArrayRef<int64_t> order) const;
  /// Dim i of the result is dim perm[i].
  StridedView transpose(llvm::ArrayRef<int64_t> perm) const;
  /// Undoes `transpose(perm)`.
  StridedView untranspose(llvm::ArrayRef<int64_t> perm) const;
  /// Dim i becomes dim dims[i] of `shape`; the rest is repeated (stride 0).
  StridedView broadcast(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dims) const;
  StridedView slice(llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps) const;
};

/// One dim of several tensors at once: its size and the stride in each of them
/// (0 where a tensor lacks it).
struct SharedDim {
  int64_t size;
  llvm::SmallVector<int64_t> strides;
};

/// Drops dims of size 1 and joins neighbours that are one dim in every tensor.
llvm::SmallVector<SharedDim> collapse(llvm::ArrayRef<SharedDim> dims);

} // namespace cleave

#endif
