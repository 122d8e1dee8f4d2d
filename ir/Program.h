//===- Program.h - ops of this family; see Program.td ---------------------===//
#ifndef CLEAVE_IR_PROGRAM_H
#define CLEAVE_IR_PROGRAM_H

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

namespace mlir::func {
class FuncOp;
}

#define GET_OP_CLASSES
#include "ir/Program.h.inc"

#endif
