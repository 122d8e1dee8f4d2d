//===- Distribution.h - ops of this family; see Distribution.td -----------===//
#ifndef CLEAVE_IR_DISTRIBUTION_H
#define CLEAVE_IR_DISTRIBUTION_H

#include "ir/Attributes.h"
#include "ir/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/Distribution.h.inc"

namespace cleave {

/// Whether a collective is only started where it stands; see DoneOp.
bool isAsynchronous(mlir::Operation *op);

/// Checks a sharding against its mesh and the type it is for; errors go to
/// `op`.
mlir::LogicalResult verifySharding(mlir::Operation *op, ShardingAttr sharding,
                                   mlir::RankedTensorType type, MeshAttr mesh);

} // namespace cleave

#endif
