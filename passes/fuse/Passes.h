//===- Passes.h - fuse phase ----------------------------------------------===//
#ifndef CLEAVE_PASSES_FUSE_PASSES_H
#define CLEAVE_PASSES_FUSE_PASSES_H

#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace cleave {

#define GEN_PASS_DECL
#include "passes/fuse/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"

} // namespace cleave

#endif
