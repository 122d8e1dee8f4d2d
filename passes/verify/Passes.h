//===- Passes.h - read-only contracts between phases ----------------------===//
#ifndef CLEAVE_PASSES_VERIFY_PASSES_H
#define CLEAVE_PASSES_VERIFY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave {

#define GEN_PASS_DECL
#include "passes/verify/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/verify/Passes.h.inc"

} // namespace cleave

#endif
