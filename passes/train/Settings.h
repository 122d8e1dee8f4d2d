//===- Settings.h - scalar states that a run sets before each step --------===//
#ifndef CLEAVE_PASSES_TRAIN_SETTINGS_H
#define CLEAVE_PASSES_TRAIN_SETTINGS_H

#include "ir/LogicalBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace cleave {

/// Adds states with `cleave.setting` (Passes.h) to a module.
class Settings {
public:
  explicit Settings(mlir::ModuleOp module) : module(module) {}

  /// `value` is the default of those that a flag sets. The same kind and base
  /// are one state.
  mlir::FlatSymbolRefAttr get(llvm::StringRef kind, double base, double value);
  /// Its value in the step, a scalar of f32.
  mlir::Value load(LogicalBuilder &b, llvm::StringRef kind, double base,
                   double value);

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::FlatSymbolRefAttr> known;
};

} // namespace cleave

#endif
