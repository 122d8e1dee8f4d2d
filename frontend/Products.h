//===- Products.h - products that several operators are made of -----------===//

#ifndef CLEAVE_FRONTEND_PRODUCTS_H
#define CLEAVE_FRONTEND_PRODUCTS_H

#include "frontend/NodeContext.h"

namespace cleave {

/// numpy.matmul. Results keep the batch dims of size 1 of both operands.
/// Reports operands that cannot be multiplied.
mlir::Value multiply(NodeContext &node, mlir::Value lhs, mlir::Value rhs);

/// The convolution that the node's attributes say, without a bias. `weightAt`:
/// the operand of the node which is, or becomes, the weight, for messages.
mlir::Value convolve(NodeContext &node, mlir::Value x, mlir::Value weight,
                     bool transposed, unsigned weightAt = 1);

/// Adds a bias, operand i if there is one: one value a channel.
mlir::Value addBias(NodeContext &node, mlir::Value result, unsigned i);

} // namespace cleave

#endif
