//===- GraphOrder.h - unique names and topological order ------------------===//
//
// ONNX wants each value name defined once and nodes in topological order. Names
// that are defined twice are refused; nodes out of order are sorted (nodes in
// order stay as they are); a cycle is refused with the names of its nodes. What
// the bodies of If, Loop and Scan read from outside counts as read by the node.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_GRAPHORDER_H
#define CLEAVE_FRONTEND_GRAPHORDER_H

#include "frontend/Onnx.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"

namespace cleave {

[[nodiscard]] mlir::LogicalResult sortGraph(mlir::MLIRContext *context,
                                            llvm::StringRef path,
                                            onnx::GraphProto &graph);

} // namespace cleave

#endif
