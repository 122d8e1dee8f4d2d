//===- State.h - ops of this family; see State.td -------------------------===//
#ifndef CLEAVE_IR_STATE_H
#define CLEAVE_IR_STATE_H

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
/// On a param: "optimizer" or "setting"; without it, it is the model's.
inline constexpr llvm::StringLiteral RoleAttrName = "cleave.role";
} // namespace cleave

#define GET_OP_CLASSES
#include "ir/State.h.inc"

#endif
