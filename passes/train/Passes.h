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

/// The result of a loss that is added to a model.
inline constexpr llvm::StringLiteral LossName = "loss";
/// The result that is the norm of all gradients together.
inline constexpr llvm::StringLiteral GradientNormName = "grad_norm";
/// On a param, a dictionary: a run sets it before each step. `kind` is "rate",
/// "clip", "decay" (its value is the default), "samples" (the first ones of the
/// batch, which count), "correction" or "root_correction": 1 / (1 - base^t) in
/// step t, and its square root.
inline constexpr llvm::StringLiteral SettingAttrName = "cleave.setting";
/// What follows a param's name in the name of its gradient as an output.
inline constexpr llvm::StringLiteral GradientSuffix = ".grad";

#define GEN_PASS_DECL
#include "passes/train/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/train/Passes.h.inc"

} // namespace cleave

#endif
