//===- UpdateRules.h - how optimizers change a parameter ------------------===//
//
// Definitions and defaults are those of PyTorch (torch.optim), of LAMB those of
// its paper (arXiv 1904.00962, with the identity for phi).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_TRAIN_UPDATERULES_H
#define CLEAVE_PASSES_TRAIN_UPDATERULES_H

#include "ir/LogicalBuilder.h"

namespace cleave {

/// Fixed at compile time.
struct OptimizerOptions {
  std::string name;
  double momentum = 0, beta1 = 0.9, beta2 = 0.999;
  double epsilon = 0;
  bool nesterov = false;
};

/// What a rule may ask for one parameter. Values have the parameter's type.
class UpdateScope {
public:
  UpdateScope(LogicalBuilder &b) : b(b) {}
  virtual ~UpdateScope() = default;

  /// A number that a run sets: "rate"; "correction" and "root_correction",
  /// 1 / (1 - base^t) and its square root in step t.
  virtual mlir::Value getSetting(llvm::StringRef kind, double base = 0) = 0;
  /// Weight decay; null if the parameter has none.
  virtual mlir::Value getDecay() = 0;
  /// State of the optimizer, zero at first; `next` is in force from the end of
  /// the step on.
  virtual mlir::Value load(llvm::StringRef state) = 0;
  virtual void store(llvm::StringRef state, mlir::Value next) = 0;

  LogicalBuilder &b;
  mlir::Value weight, gradient;
};

struct OptimizerInfo {
  const char *name;
  double rate, epsilon, decay; ///< defaults
  /// The new weight.
  mlir::Value (*update)(UpdateScope &, const OptimizerOptions &);
};

/// Null if there is none of this name.
const OptimizerInfo *findOptimizer(llvm::StringRef name);
/// "sgd, adagrad, ...".
std::string listOptimizers();

} // namespace cleave

#endif
