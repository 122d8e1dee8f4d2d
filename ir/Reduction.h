//===- Reduction.h - ops of this family; see Reduction.td -----------------===//
#ifndef CLEAVE_IR_REDUCTION_H
#define CLEAVE_IR_REDUCTION_H

#include "ir/Attributes.h"
#include "ir/PoolWindow.h"
#include "ir/ShardingRule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "ir/Reduction.h.inc"

#endif
