//===- Passes.h - the planner ---------------------------------------------===//
#ifndef CLEAVE_PASSES_PLAN_PASSES_H
#define CLEAVE_PASSES_PLAN_PASSES_H

#include "ir/Cleave.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave {

#define GEN_PASS_DECL
#include "passes/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"

} // namespace cleave

#endif
