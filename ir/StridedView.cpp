//===- StridedView.cpp - shapes and strides, apart from the IR ------------===//
//
// Reshape follows the rule that array libraries share: both shapes are cut into
// the shortest runs of equal element counts; within a run the old dims must be
// one dim in memory, which the new dims then divide.
//
//===----------------------------------------------------------------------===//

#include "ir/StridedView.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;

llvm::SmallVector<int64_t>
cleave::getDenseStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

bool cleave::isDense(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> strides) {
  llvm::SmallVector<int64_t> dense = getDenseStrides(shape);
  for (auto [size, stride, expected] : llvm::zip_equal(shape, strides, dense))
    if (size != 1 && stride != expected)
      return false;
  return true;
}

/// Strides of `shape` over a run of memory with the stride `inner`.
static void appendStrides(llvm::ArrayRef<int64_t> shape, int64_t inner,
                          llvm::SmallVectorImpl<int64_t> &strides) {
  size_t first = strides.size();
  strides.resize(first + shape.size());
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    strides[first + i] = inner;
    inner *= shape[i];
  }
}

std::optional<StridedView>
StridedView::reshape(llvm::ArrayRef<int64_t> newShape) const {
  StridedView result{llvm::SmallVector<int64_t>(newShape), {}, offset};
  if (llvm::is_contained(shape, 0)) { // no element lies anywhere
    result.strides = getDenseStrides(newShape);
    return result;
  }
  // Dims of size 1 have no say.
  llvm::SmallVector<SharedDim> old;
  for (auto [size, stride] : llvm::zip_equal(shape, strides))
    if (size != 1)
      old.push_back({size, {stride}});
  size_t from = 0, to = 0;
  while (to < newShape.size()) {
    size_t fromEnd = from, toEnd = to + 1;
    int64_t oldCount = 1, newCount = newShape[to];
    while (oldCount != newCount) {
      if (oldCount < newCount) {
        if (fromEnd == old.size())
          return std::nullopt;
        oldCount *= old[fromEnd++].size;
      } else {
        if (toEnd == newShape.size())
          return std::nullopt;
        newCount *= newShape[toEnd++];
      }
    }
    llvm::SmallVector<SharedDim> run =
        collapse(llvm::ArrayRef(old).slice(from, fromEnd - from));
    if (run.size() > 1)
      return std::nullopt;
    appendStrides(newShape.slice(to, toEnd - to),
                  run.empty() ? 1 : run.front().strides.front(),
                  result.strides);
    from = fromEnd;
    to = toEnd;
  }
  return result;
}

llvm::SmallVector<int64_t> cleave::getChannelsLast(int64_t rank) {
  llvm::SmallVector<int64_t> order = {0};
  for (int64_t dim = 2; dim < rank; ++dim)
    order.push_back(dim);
  order.push_back(1);
  return order;
}

bool StridedView::isDenseIn(llvm::ArrayRef<int64_t> order) const {
  StridedView ordered = transpose(order);
  return isDense(ordered.shape, ordered.strides);
}

StridedView StridedView::transpose(llvm::ArrayRef<int64_t> perm) const {
  StridedView result{{}, {}, offset};
  for (int64_t dim : perm) {
    result.shape.push_back(shape[dim]);
    result.strides.push_back(strides[dim]);
  }
  return result;
}

StridedView StridedView::untranspose(llvm::ArrayRef<int64_t> perm) const {
  StridedView result = *this;
  for (auto [i, dim] : llvm::enumerate(perm)) {
    result.shape[dim] = shape[i];
    result.strides[dim] = strides[i];
  }
  return result;
}

StridedView StridedView::broadcast(llvm::ArrayRef<int64_t> newShape,
                                   llvm::ArrayRef<int64_t> dims) const {
  StridedView result{llvm::SmallVector<int64_t>(newShape),
                     llvm::SmallVector<int64_t>(newShape.size(), 0), offset};
  for (auto [i, dim] : llvm::enumerate(dims))
    if (shape[i] != 1)
      result.strides[dim] = strides[i];
  return result;
}

StridedView StridedView::slice(llvm::ArrayRef<int64_t> starts,
                               llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> steps) const {
  StridedView result{llvm::SmallVector<int64_t>(sizes), strides, offset};
  for (size_t i = 0; i < sizes.size(); ++i) {
    result.offset += starts[i] * strides[i];
    result.strides[i] *= steps[i];
  }
  return result;
}

llvm::SmallVector<SharedDim> cleave::collapse(llvm::ArrayRef<SharedDim> dims) {
  llvm::SmallVector<SharedDim> result;
  for (const SharedDim &dim : dims) {
    if (dim.size == 1)
      continue;
    bool joins =
        !result.empty() &&
        llvm::all_of(llvm::zip_equal(result.back().strides, dim.strides),
                     [&](auto pair) {
                       auto [outer, inner] = pair;
                       return outer == inner * dim.size;
                     });
    if (!joins) {
      result.push_back(dim);
      continue;
    }
    result.back().size *= dim.size;
    result.back().strides = dim.strides;
  }
  return result;
}
