//===- UpdateRules.cpp - how optimizers change a parameter ----------------===//
//
// Each rule is elementwise (LAMB has two norms beside), so that fusion makes
// one kernel of it that reads weight, gradient and states once.
//
//===----------------------------------------------------------------------===//

#include "passes/train/UpdateRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace cleave;
using namespace mlir;

/// gradient + decay * weight.
static Value addDecay(UpdateScope &scope, Value gradient) {
  Value decay = scope.getDecay();
  if (!decay)
    return gradient;
  return scope.b.add(gradient, scope.b.mul(decay, scope.weight));
}

/// The part `keep` of the old value, and the rest of the next one.
static Value move(LogicalBuilder &b, Value old, Value next, double keep) {
  return b.add(b.mul(old, keep), b.mul(next, 1 - keep));
}

/// weight - rate * direction.
static Value step(UpdateScope &scope, Value weight, Value direction) {
  LogicalBuilder &b = scope.b;
  return b.sub(weight, b.mul(scope.getSetting("rate"), direction));
}

static Value updateSgd(UpdateScope &scope, const OptimizerOptions &options) {
  LogicalBuilder &b = scope.b;
  Value gradient = addDecay(scope, scope.gradient);
  if (options.momentum == 0)
    return step(scope, scope.weight, gradient);
  Value velocity =
      b.add(b.mul(scope.load("momentum_buffer"), options.momentum), gradient);
  scope.store("momentum_buffer", velocity);
  if (options.nesterov)
    velocity = b.add(gradient, b.mul(velocity, options.momentum));
  return step(scope, scope.weight, velocity);
}

static Value updateAdagrad(UpdateScope &scope,
                           const OptimizerOptions &options) {
  LogicalBuilder &b = scope.b;
  Value gradient = addDecay(scope, scope.gradient);
  Value sum = b.add(scope.load("sum"), b.mul(gradient, gradient));
  scope.store("sum", sum);
  Value root = b.add(b.unary(UnaryKind::Sqrt, sum), options.epsilon);
  return step(scope, scope.weight, b.div(gradient, root));
}

/// m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon), with m and v moving
/// averages of the gradient and its square.
static Value getDirection(UpdateScope &scope, const OptimizerOptions &options,
                          Value gradient) {
  LogicalBuilder &b = scope.b;
  Value mean = move(b, scope.load("exp_avg"), gradient, options.beta1);
  Value square = move(b, scope.load("exp_avg_sq"), b.mul(gradient, gradient),
                      options.beta2);
  scope.store("exp_avg", mean);
  scope.store("exp_avg_sq", square);
  Value root = b.mul(b.unary(UnaryKind::Sqrt, square),
                     scope.getSetting("root_correction", options.beta2));
  Value corrected = b.mul(mean, scope.getSetting("correction", options.beta1));
  return b.div(corrected, b.add(root, options.epsilon));
}

static Value updateAdam(UpdateScope &scope, const OptimizerOptions &options) {
  Value direction =
      getDirection(scope, options, addDecay(scope, scope.gradient));
  return step(scope, scope.weight, direction);
}

/// Decay is no part of the gradient.
static Value updateAdamW(UpdateScope &scope, const OptimizerOptions &options) {
  LogicalBuilder &b = scope.b;
  Value weight = scope.weight;
  if (Value decay = scope.getDecay())
    weight =
        b.sub(weight, b.mul(b.mul(scope.getSetting("rate"), decay), weight));
  return step(scope, weight, getDirection(scope, options, scope.gradient));
}

/// The norm of all elements, as a scalar.
static Value getNorm(LogicalBuilder &b, Value x) {
  Value sum = b.sum(b.mul(x, x), getDims(0, getTensorType(x).getRank()));
  return b.unary(UnaryKind::Sqrt, sum);
}

/// The step is as long as the weight, times the rate.
static Value updateLamb(UpdateScope &scope, const OptimizerOptions &options) {
  LogicalBuilder &b = scope.b;
  Value direction =
      addDecay(scope, getDirection(scope, options, scope.gradient));
  Value length = getNorm(b, scope.weight), own = getNorm(b, direction);
  Value zero = b.splat(own, 0), one = b.splat(own, 1);
  auto isZero = [&](Value x) { return b.compare(CompareKind::Eq, x, zero); };
  Value ratio = b.div(length, b.select(isZero(own), one, own));
  ratio = b.select(isZero(own), one, b.select(isZero(length), one, ratio));
  Value trust = b.repeat(ratio, getTensorType(direction).getShape(), {});
  return step(scope, scope.weight, b.mul(trust, direction));
}

static const OptimizerInfo optimizers[] = {
    {"sgd", 1e-3, 0, 0, updateSgd},
    {"adagrad", 1e-2, 1e-10, 0, updateAdagrad},
    {"adam", 1e-3, 1e-8, 0, updateAdam},
    {"adamw", 1e-3, 1e-8, 1e-2, updateAdamW},
    {"lamb", 1e-3, 1e-6, 0, updateLamb},
};

const OptimizerInfo *cleave::findOptimizer(StringRef name) {
  const auto *found = llvm::find_if(
      optimizers, [&](const OptimizerInfo &info) { return name == info.name; });
  return found == std::end(optimizers) ? nullptr : found;
}

std::string cleave::listOptimizers() {
  return llvm::join(llvm::map_range(optimizers,
                                    [](const OptimizerInfo &info) {
                                      return std::string(info.name);
                                    }),
                    ", ");
}
