//===- Layout.h - strided views of rank programs --------------------------===//
//
// Where the elements of a value lie relative to the value it is a view of.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_MEMORY_LAYOUT_H
#define CLEAVE_PASSES_MEMORY_LAYOUT_H

#include "ir/Cleave.h"
#include "ir/StridedView.h"
#include "llvm/ADT/DenseMap.h"

namespace cleave {

/// Attribute on a kernel: per result, its dims from outermost to innermost in
/// memory. Absent: row-major.
inline constexpr llvm::StringLiteral OrdersAttrName = "cleave.orders";

/// Attribute on a kernel whose results are row-major: for each of them,
/// elements between the end of a row and the next one.
inline constexpr llvm::StringLiteral PaddingAttrName = "cleave.row_padding";

/// A value as a view of `root`: a kernel's or collective's result, a function
/// argument, a load, a constant.
struct Layout {
  mlir::Value root;
  StridedView view;
};

/// Dense view of a shape whose dims lie in memory in `order`, outermost first.
StridedView makeView(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> order);

/// Row-major view whose rows, along the last of two or more dims, are followed
/// by `padding` elements.
StridedView makePaddedView(llvm::ArrayRef<int64_t> shape, int64_t padding);

/// Elements from the first to the last one of a view, both included.
int64_t getExtent(const StridedView &view);

/// Whether a library can read a side of a product with these free and
/// contracting dims: each is one dim in memory, whose elements differ, and one
/// of them has unit stride.
bool fitsLibrary(const StridedView &view, llvm::ArrayRef<int64_t> free,
                 llvm::ArrayRef<int64_t> contract);

/// What a movement op makes of its source's view. None: a copy is needed, or
/// the op is no view.
std::optional<StridedView> applyView(mlir::Operation *op,
                                     const StridedView &source);

/// Whether the op only gives another view of its first operand.
bool isViewOp(mlir::Operation *op);

/// Layouts of all values of a block, op by op in order.
class Layouts {
public:
  /// Layout of a value seen so far.
  const Layout &get(mlir::Value value) const {
    return layouts.find(value)->second;
  }
  void addArgument(mlir::BlockArgument argument);
  /// Adds the results of `op`; false when it is a view op that needs a copy.
  [[nodiscard]] bool add(mlir::Operation *op);

private:
  void addRoot(mlir::Value value, llvm::ArrayRef<int64_t> order);
  void addPadded(mlir::Value value, int64_t padding);
  llvm::DenseMap<mlir::Value, Layout> layouts;
};

} // namespace cleave

#endif
