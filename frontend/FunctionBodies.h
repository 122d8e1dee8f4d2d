//===- FunctionBodies.h - operators that ONNX defines by others -----------===//
//
// Some 50 operators of ONNX (Elu, Celu, Mish, Shrink, ...) come with a body of
// simpler ones. Where no handler knows an operator, its body is imported.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_FUNCTIONBODIES_H
#define CLEAVE_FRONTEND_FUNCTIONBODIES_H

#include "frontend/Onnx.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace cleave {

/// Whether ONNX has a body for the operator (a body that depends on operand
/// types may turn out not to exist for some).
bool hasFunctionBody(const onnx::NodeProto &node, int64_t opset);

/// The body for this node, with the node's attributes (or their defaults) in
/// place of references; none when ONNX has no body for it.
std::optional<onnx::FunctionProto>
getFunctionBody(const onnx::NodeProto &node, int64_t opset,
                llvm::ArrayRef<mlir::Value> operands);

} // namespace cleave

#endif
