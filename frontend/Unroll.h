//===- Unroll.h - control flow as straight-line code ----------------------===//
//
// Programs have no control flow: what a constant decides is decided at import,
// loops are unrolled, and where a value known only at run time decides, both
// sides are computed and one is taken. That is the same but for an op that may
// stop the step: on the side that is not taken it gets operands that do not.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_UNROLL_H
#define CLEAVE_FRONTEND_UNROLL_H

#include "frontend/NodeContext.h"

namespace cleave {

/// Unrolled, a node has at most this many ops.
inline constexpr int64_t MaxUnrolledOps = 4096;

/// The ops that are added to the program while this lives.
class AddedCode {
public:
  explicit AddedCode(NodeContext &node)
      : node(node), block(node.getBuilder().getInsertionBlock()),
        before(block->empty() ? nullptr : &block->back()) {}

  /// Makes the ops harmless where `condition` does not hold: 0 is the index,
  /// and 1 the divisor.
  void guard(mlir::Value condition);

  /// Fails, with an error that says after how many steps, when there are more
  /// than MaxUnrolledOps.
  [[nodiscard]] mlir::LogicalResult verifySize(int64_t steps);

private:
  llvm::iterator_range<mlir::Block::iterator> getOps() const;

  NodeContext &node;
  mlir::Block *block;
  mlir::Operation *before;
};

/// Element i along a dim, which goes.
mlir::Value takeStep(NodeContext &node, mlir::Value x, int64_t dim, int64_t i);
/// The values of all steps along a new dim.
mlir::Value stackSteps(NodeContext &node, llvm::ArrayRef<mlir::Value> steps,
                       int64_t dim);

} // namespace cleave

#endif
