//===- Passes.h - from a logical program to a cleaner one -----------------===//
#ifndef CLEAVE_PASSES_NORMALIZE_PASSES_H
#define CLEAVE_PASSES_NORMALIZE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace cleave {

#define GEN_PASS_DECL
#include "passes/normalize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/normalize/Passes.h.inc"

/// The passes of this room, in order. Needs a logical module; leaves one that
/// computes the same to rounding, with heads as dims and composites raised.
void buildNormalizePipeline(mlir::OpPassManager &pm);

} // namespace cleave

#endif
