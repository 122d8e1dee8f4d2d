//===- Passes.h - memory phase --------------------------------------------===//
#ifndef CLEAVE_PASSES_MEMORY_PASSES_H
#define CLEAVE_PASSES_MEMORY_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave {

#define GEN_PASS_DECL
#include "passes/memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"

} // namespace cleave

#endif
