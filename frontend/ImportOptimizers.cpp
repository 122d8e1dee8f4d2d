//===- ImportOptimizers.cpp - updates of ai.onnx.preview.training ---------===//
//
// Operands are the rate R, the number T of updates so far, and then n tensors
// of each kind: X, their gradients G, and states. Formulas: ONNX's operator
// documentation of the domain, version 1.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

using namespace cleave;
using namespace mlir;

namespace {
/// The operands of one update, by kind.
struct Update {
  Value rate, count;
  SmallVector<SmallVector<Value>> kinds; ///< X, G, states
};
} // namespace

/// x * factor.
static Value scale(NodeContext &node, Value x, double factor) {
  return node.binary(BinaryKind::Mul, x, factor);
}
static Value multiply(NodeContext &node, Value x, Value y) {
  return node.binary(BinaryKind::Mul, x, y);
}
static Value add(NodeContext &node, Value x, Value y) {
  return node.binary(BinaryKind::Add, x, y);
}

/// Rate and count are scalars; the rest are as many tensors of each kind.
static FailureOr<Update> readUpdate(NodeContext &node, unsigned kinds) {
  SmallVector<Value> operands = node.getOperands();
  if (operands.size() < 2)
    return failure();
  if (!getShape(operands[0]).empty() || !getShape(operands[1]).empty() ||
      !isFloat(operands[0]))
    return node.emitError()
           << node.getNode().op_type() << " needs scalars, found "
           << node.describe(0) << " and " << node.describe(1);
  ArrayRef<Value> rest = ArrayRef(operands).drop_front(2);
  if (rest.empty() || rest.size() % kinds != 0)
    return node.emitError() << node.getNode().op_type() << " needs " << kinds
                            << " tensors an update, found " << rest.size();
  Update update{operands[0], operands[1], {}};
  size_t count = rest.size() / kinds;
  for (unsigned kind = 0; kind < kinds; ++kind)
    update.kinds.emplace_back(rest.slice(kind * count, count));
  for (size_t i = 0; i < rest.size(); ++i)
    if (rest[i].getType() != rest[i % count].getType())
      return node.emitError()
             << "shapes conflict: " << node.describe(2 + i % count) << " and "
             << node.describe(2 + i) << " are of one update";
  return update;
}

/// Sets the results: all new X, then all new states of each kind.
/// `step(i)` gives those of update i.
static LogicalResult
setUpdates(NodeContext &node, size_t count,
           llvm::function_ref<SmallVector<Value>(size_t)> step) {
  SmallVector<SmallVector<Value>> updates;
  for (size_t i = 0; i < count; ++i)
    updates.push_back(step(i));
  SmallVector<Value> results;
  for (size_t kind = 0; kind < updates.front().size(); ++kind)
    for (const SmallVector<Value> &update : updates)
      results.push_back(update[kind]);
  if (results.size() != node.getNumResults())
    return node.emitError()
           << node.getNode().op_type() << " gives " << results.size()
           << " tensors, found names for " << node.getNumResults();
  return node.setResults(results);
}

/// norm_coefficient * X + G.
static Value regularize(NodeContext &node, Value x, Value gradient,
                        double coefficient) {
  return coefficient == 0 ? gradient
                          : add(node, scale(node, x, coefficient), gradient);
}

/// X - rate * direction.
static Value move(NodeContext &node, Value x, Value rate, Value direction) {
  Value own = node.cast(rate, getElement(x));
  return node.binary(BinaryKind::Sub, x, multiply(node, own, direction));
}

/// base^T in the rate's type.
static Value raise(NodeContext &node, double base, Value rate, Value count) {
  Value exponent = node.cast(count, getElement(rate));
  return node.binary(BinaryKind::Pow, node.splat(rate, base), exponent);
}

static Value isPositive(NodeContext &node, Value count) {
  return node.compare(CompareKind::Gt, count, 0.0);
}

//===-- Rules -------------------------------------------------------------===//

static LogicalResult importAdagrad(NodeContext &node) {
  double norm = node.getFloat("norm_coefficient", 0),
         decay = node.getFloat("decay_factor", 0),
         epsilon = node.getFloat("epsilon", 1e-6f);
  FailureOr<Update> update = readUpdate(node, 3);
  if (failed(update))
    return failure();
  Value count = node.cast(update->count, getElement(update->rate));
  Value slower = node.binary(BinaryKind::Add, scale(node, count, decay), 1);
  Value rate = node.binary(BinaryKind::Div, update->rate, slower);
  return setUpdates(node, update->kinds[0].size(), [&](size_t i) {
    Value x = update->kinds[0][i];
    Value g = regularize(node, x, update->kinds[1][i], norm);
    Value squares = add(node, update->kinds[2][i], multiply(node, g, g));
    Value root = node.binary(BinaryKind::Add,
                             node.unary(UnaryKind::Sqrt, squares), epsilon);
    Value direction = node.binary(BinaryKind::Div, g, root);
    return SmallVector<Value>{move(node, x, rate, direction), squares};
  });
}

/// R sqrt(1 - beta^T) / (1 - alpha^T), or R for T = 0.
static Value correctRate(NodeContext &node, const Update &update, double alpha,
                         double beta) {
  auto rest = [&](double base) {
    Value power = raise(node, base, update.rate, update.count);
    return node.binary(BinaryKind::Sub, node.splat(update.rate, 1), power);
  };
  Value one = node.splat(update.rate, 1);
  Value later = isPositive(node, update.count);
  // Not divided by 0 where it is not taken.
  Value divisor = node.select(later, rest(alpha), one);
  Value factor = node.binary(BinaryKind::Div,
                             node.unary(UnaryKind::Sqrt, rest(beta)), divisor);
  return multiply(node, update.rate, node.select(later, factor, one));
}

static LogicalResult importAdam(NodeContext &node) {
  double alpha = node.getFloat("alpha", 0.9f),
         beta = node.getFloat("beta", 0.999f),
         epsilon = node.getFloat("epsilon", 1e-6f),
         norm = node.getFloat("norm_coefficient", 0),
         after = node.getFloat("norm_coefficient_post", 0);
  FailureOr<Update> update = readUpdate(node, 4);
  if (failed(update))
    return failure();
  Value rate = correctRate(node, *update, alpha, beta);
  return setUpdates(node, update->kinds[0].size(), [&](size_t i) {
    Value x = update->kinds[0][i];
    Value g = regularize(node, x, update->kinds[1][i], norm);
    Value mean = add(node, scale(node, update->kinds[2][i], alpha),
                     scale(node, g, 1 - alpha));
    Value squares = add(node, scale(node, update->kinds[3][i], beta),
                        scale(node, multiply(node, g, g), 1 - beta));
    Value root = node.binary(BinaryKind::Add,
                             node.unary(UnaryKind::Sqrt, squares), epsilon);
    Value next = move(node, x, rate, node.binary(BinaryKind::Div, mean, root));
    return SmallVector<Value>{scale(node, next, 1 - after), mean, squares};
  });
}

static LogicalResult importMomentum(NodeContext &node) {
  double alpha = node.getFloat("alpha", 0), beta = node.getFloat("beta", 0),
         norm = node.getFloat("norm_coefficient", 0);
  std::string mode = node.getString("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return node.emitError() << "mode of Momentum must be standard or nesterov, "
                               "found '"
                            << mode << "'";
  FailureOr<Update> update = readUpdate(node, 3);
  if (failed(update))
    return failure();
  Value one = node.splat(update->rate, 1);
  Value damping = node.select(isPositive(node, update->count),
                              node.splat(update->rate, beta), one);
  return setUpdates(node, update->kinds[0].size(), [&](size_t i) {
    Value x = update->kinds[0][i];
    Value g = regularize(node, x, update->kinds[1][i], norm);
    Value damped = multiply(node, node.cast(damping, getElement(x)), g);
    Value velocity = add(node, scale(node, update->kinds[2][i], alpha), damped);
    Value direction = mode == "standard"
                          ? velocity
                          : add(node, g, scale(node, velocity, alpha));
    return SmallVector<Value>{move(node, x, update->rate, direction), velocity};
  });
}

void cleave::registerOptimizers(OperatorTable &table) {
  const char *domain = "ai.onnx.preview.training";
  table.onOp(domain, "Adagrad", 1, importAdagrad);
  table.onOp(domain, "Adam", 1, importAdam);
  table.onOp(domain, "Momentum", 1, importMomentum);
}
