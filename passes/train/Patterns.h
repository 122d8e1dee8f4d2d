//===- Patterns.h - parameters by the patterns of a flag ------------------===//
//
// A pattern is a glob of a parameter's name, as of a shell; several are joined
// by semicolons. PATTERN=VALUE gives those parameters a number: the last that
// matches holds.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_TRAIN_PATTERNS_H
#define CLEAVE_PASSES_TRAIN_PATTERNS_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace cleave {

/// Whether one of `patterns` matches.
bool matchesAny(llvm::StringRef patterns, llvm::StringRef name);
/// The number that `patterns` give `name`.
std::optional<double> findValue(llvm::StringRef patterns, llvm::StringRef name);

/// Fails after an error about a pattern that is none, has a number that is
/// none, or matches no param.
mlir::LogicalResult verifyPatterns(mlir::ModuleOp module,
                                   llvm::StringRef patterns);

} // namespace cleave

#endif
