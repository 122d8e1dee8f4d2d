//===- Domain.h - the iteration space of a kernel -------------------------===//
//
// A kernel iterates over the dims of one tensor shape, its domain. Adjacent
// dims along which every access advances as if they were one are merged, so
// that most kernels are a loop over one dim, or over rows of one.
//
// Example: x[197, 384] + bias[384] has accesses (384, 1) and (0, 1): 0 != 1 *
// 384, so two groups stay. Without the bias the domain is one group of 75648.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_DOMAIN_H
#define CLEAVE_CODEGEN_KERNELS_DOMAIN_H

#include "ir/Cleave.h"
#include "llvm/ADT/DenseMap.h"

#include <set>
#include <vector>

namespace cleave {

/// How an index of a value follows the domain: domain index `dim` * factor, or
/// constant when dim is -1.
struct IndexMap {
  int64_t dim = -1;
  int64_t factor = 0;
  bool operator<(const IndexMap &o) const {
    return std::tie(dim, factor) < std::tie(o.dim, o.factor);
  }
};
using ValueMap = std::vector<IndexMap>;

/// Index i of the value is index dims[i] of the domain.
ValueMap getMap(llvm::ArrayRef<int64_t> dims);
/// The same for all dims of a shape.
ValueMap getIdentityMap(int64_t rank);

/// Collects how far each access advances in memory per domain dim.
class Accesses {
public:
  /// `strides`: of the values that lie in memory.
  Accesses(int64_t rank,
           llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> strides)
      : rank(rank), strides(std::move(strides)) {}

  /// Follows what the value reads when it is evaluated at the mapped index,
  /// down to kernel operands and to the values in `stops`.
  void addReads(mlir::Value value, const ValueMap &map);
  void addAccess(llvm::ArrayRef<int64_t> strides, const ValueMap &map);
  /// The dim's index itself is used: it must not be merged.
  void keepApart(IndexMap index);

  /// Values that are not followed further.
  std::set<void *> stops;
  /// Strides per domain dim, one entry an access.
  llvm::SmallVector<llvm::SmallVector<int64_t>> list;

private:
  void addOperands(mlir::Operation *op, const ValueMap &map);

  int64_t rank;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> strides;
  std::set<std::pair<void *, ValueMap>> seen;
};

/// Merged dims. The last one carries the index, the others stay 0.
struct Group {
  int64_t size;
  int64_t carrier;
};

/// Merges neighbours in `dims` where all accesses allow it; drops sizes of 1.
llvm::SmallVector<Group>
mergeDims(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> shape,
          llvm::ArrayRef<llvm::SmallVector<int64_t>> accesses);

int64_t getCount(llvm::ArrayRef<Group> groups);

} // namespace cleave

#endif
