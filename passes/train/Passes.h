//===- Passes.h - training phase ------------------------------------------===//
#ifndef CLEAVE_PASSES_TRAIN_PASSES_H
#define CLEAVE_PASSES_TRAIN_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave {

/// On a function result: the symbol of the param whose gradient it is.
inline constexpr llvm::StringLiteral GradientOfAttrName = "cleave.gradient_of";
/// i64 on forward ops: a number that backward ops name as their origin.
inline constexpr llvm::StringLiteral NodeIdAttrName = "cleave.node";
/// i64 on backward ops: the `cleave.node` of the forward op they come from.
inline constexpr llvm::StringLiteral OriginAttrName = "cleave.origin";

#define GEN_PASS_DECL
#include "passes/train/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/train/Passes.h.inc"

} // namespace cleave

#endif
