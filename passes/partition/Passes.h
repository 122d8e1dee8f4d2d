//===- Passes.h - from a logical program to rank programs -----------------===//
#ifndef CLEAVE_PASSES_PARTITION_PASSES_H
#define CLEAVE_PASSES_PARTITION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace cleave {

#define GEN_PASS_DECL
#include "passes/partition/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/partition/Passes.h.inc"

/// The passes of this room, in order. Needs a module whose decisions are
/// attributes (see the room's README); leaves one function a stage.
void buildPartitionPipeline(mlir::OpPassManager &pm);

} // namespace cleave

#endif
