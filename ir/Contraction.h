//===- Contraction.h - ops of this family; see Contraction.td -------------===//
#ifndef CLEAVE_IR_CONTRACTION_H
#define CLEAVE_IR_CONTRACTION_H

#include "ir/Attributes.h"
#include "ir/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cleave {

/// How the kernel of a convolution goes over its input; per spatial dim.
struct ConvWindow {
  llvm::ArrayRef<int64_t> strides, pads, dilations, outputPadding;
  int64_t groups;
  bool transposed;
};

/// The type of a convolution's result, as ONNX Conv and ConvTranspose say.
/// Fails after an error at `loc`.
mlir::FailureOr<mlir::RankedTensorType>
getConvType(std::optional<mlir::Location> loc, mlir::RankedTensorType input,
            mlir::RankedTensorType weight, const ConvWindow &window);

} // namespace cleave

#define GET_OP_CLASSES
#include "ir/Contraction.h.inc"

#endif
