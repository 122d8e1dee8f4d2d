//===- Passes.h - schedule phase ------------------------------------------===//
#ifndef CLEAVE_PASSES_SCHEDULE_PASSES_H
#define CLEAVE_PASSES_SCHEDULE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave {

#define GEN_PASS_DECL
#include "passes/schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/schedule/Passes.h.inc"

} // namespace cleave

#endif
