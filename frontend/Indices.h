//===- Indices.h - what operators that read or write by index share -------===//

#ifndef CLEAVE_FRONTEND_INDICES_H
#define CLEAVE_FRONTEND_INDICES_H

#include "frontend/NodeContext.h"

namespace cleave {

/// Positions in the flattened x, from an index per dim of `sizes`: negative
/// ones count from the end. Where one is out of range the position is too, so
/// that the gather stops the step instead of reading another row.
mlir::Value flattenIndices(NodeContext &node,
                           llvm::ArrayRef<mlir::Value> indices,
                           llvm::ArrayRef<int64_t> sizes);

/// How GatherND and ScatterND read x: with its indexed dims flattened to one,
/// which is dim `batch`.
struct FlatIndex {
  mlir::Value x, position;
};
/// Operand 1 has indices[..., j] for dim batch + j of x, operand 0. Null values
/// after an error.
FlatIndex flattenDims(NodeContext &node, int64_t batch);

/// Moves one dim of `rank` to the end, and back.
Shape getPermToLast(int64_t rank, int64_t axis);
Shape getPermFromLast(int64_t rank, int64_t axis);

/// result[i, j, ...] = x[i, ..., indices[i, j, ...], ...] along the axis; the
/// other dims agree.
mlir::Value takeAlong(NodeContext &node, mlir::Value x, mlir::Value indices,
                      int64_t axis);

/// The axis of a node whose indices have the rank of x and are no larger than
/// it in the other dims.
mlir::FailureOr<int64_t> getElementAxis(NodeContext &node);

} // namespace cleave

#endif
