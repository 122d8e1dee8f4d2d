//===- ImportControl.cpp - If and Loop as straight-line code --------------===//

#include "frontend/OperatorTable.h"
#include "frontend/Unroll.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace cleave;
using namespace mlir;

//===-- Conditions --------------------------------------------------------===//

/// A condition as a scalar; null after an error.
static Value toScalar(NodeContext &node, Value condition) {
  if (!condition)
    return nullptr;
  if (getTensorType(condition).getNumElements() == 1 &&
      getElement(condition).isInteger(1))
    return node.reshape(condition, {});
  node.emitError() << "the condition of " << node.getNode().op_type()
                   << " must be one bool, found " << getTensorType(condition);
  return nullptr;
}

/// Its value; none where only a run knows it.
static std::optional<bool> getKnownBool(Value condition) {
  DenseElementsAttr elements = getConstant(condition);
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  return (*elements.value_begin<APInt>()).getBoolValue();
}

/// Element by element the one or the other; null after an error.
static Value choose(NodeContext &node, Value condition, Value x, Value y,
                    const Twine &what) {
  if (x.getType() == y.getType())
    return x == y ? x : node.select(condition, x, y);
  node.emitError() << what << " of " << node.getNode().op_type()
                   << " depends on a condition that is known only at run "
                      "time, and would be "
                   << getTensorType(x) << " or " << getTensorType(y);
  return nullptr;
}

//===-- If ----------------------------------------------------------------===//

static LogicalResult importIf(NodeContext &node) {
  Value condition = toScalar(node, node.getOperand(0));
  if (!condition)
    return failure();
  const char *names[] = {"then_branch", "else_branch"};
  for (const char *name : names)
    node.ignoreAttribute(name);
  if (std::optional<bool> known = getKnownBool(condition)) {
    FailureOr<SmallVector<Value>> results = node.importBody(names[!*known], {});
    return failed(results) ? failure() : node.setResults(*results);
  }
  SmallVector<Value> sides[2];
  for (unsigned i = 0; i < 2; ++i) {
    Value isTaken = i == 0 ? condition : node.unary(UnaryKind::Not, condition);
    AddedCode code(node);
    FailureOr<SmallVector<Value>> results = node.importBody(names[i], {});
    if (failed(results))
      return failure();
    code.guard(isTaken);
    sides[i] = *results;
  }
  if (sides[0].size() != sides[1].size())
    return node.emitError() << "the branches of If have " << sides[0].size()
                            << " and " << sides[1].size() << " results";
  SmallVector<Value> results;
  for (auto [i, x, y] : llvm::enumerate(sides[0], sides[1]))
    results.push_back(choose(node, condition, x, y, "result " + Twine(i)));
  return node.setResults(results);
}

//===-- Loop --------------------------------------------------------------===//

namespace {

/// A Loop while it is unrolled.
struct LoopState {
  NodeContext &node;
  int64_t steps = 0;
  /// What runs on; none: always, as far as is known so far.
  Value condition;
  SmallVector<Value> carried;
  SmallVector<SmallVector<Value>> collected;

  explicit LoopState(NodeContext &node) : node(node) {}
  LogicalResult step();
  LogicalResult finish();
};

} // namespace

/// One copy of the body: condition and carried values, then what is collected.
/// Where the condition is not known the carried values may stay as they are.
LogicalResult LoopState::step() {
  auto scalar = RankedTensorType::get({}, node.getBuilder().getI64Type());
  SmallVector<Value> inputs = {
      node.constant(DenseElementsAttr::get(scalar, steps)), condition};
  llvm::append_range(inputs, carried);
  std::optional<bool> known = getKnownBool(condition);
  AddedCode code(node);
  FailureOr<SmallVector<Value>> results = node.importBody("body", inputs);
  if (failed(results) || results->size() < 1 + carried.size())
    return failed(results) ? failure()
                           : node.emitError()
                                 << "the body of Loop has " << results->size()
                                 << " results, expected " << 1 + carried.size()
                                 << " or more";
  Value next = toScalar(node, results->front());
  if (!next)
    return failure();
  ArrayRef<Value> values = ArrayRef(*results).drop_front();
  if (!known) {
    code.guard(condition);
    next = node.binary(BinaryKind::And, condition, next);
  }
  for (auto [i, old] : llvm::enumerate(carried)) {
    old = known ? values[i]
                : choose(node, condition, values[i], old,
                         "carried value " + Twine(i));
    if (!old)
      return failure();
  }
  values = values.drop_front(carried.size());
  collected.resize(values.size());
  for (auto [list, value] : llvm::zip(collected, values))
    list.push_back(value);
  condition = next;
  ++steps;
  return success();
}

/// Sets the results once the last step is known.
LogicalResult LoopState::finish() {
  SmallVector<Value> results(carried);
  for (unsigned i = carried.size(); i < node.getNumResults(); ++i) {
    unsigned index = i - carried.size();
    if (index >= collected.size())
      return node.emitError()
             << "result " << i << " of Loop collects what no step gives";
    results.push_back(stackSteps(node, collected[index], 0));
  }
  return node.setResults(results);
}

/// Whether results beyond the carried values are wanted.
static bool collects(const LoopState &loop) {
  for (unsigned i = loop.carried.size(); i < loop.node.getNumResults(); ++i)
    if (loop.node.hasResult(i))
      return true;
  return false;
}

/// At most `trip count` steps (if given) while the condition (if given) holds.
static LogicalResult importLoop(NodeContext &node) {
  LoopState loop(node);
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (node.hasOperand(0)) {
    FailureOr<Shape> count = node.getConstantInts(0, "trip count");
    if (failed(count) || count->size() != 1)
      return failed(count) ? failure()
                           : node.emitError()
                                 << "the trip count of Loop must be one number";
    limit = count->front();
  }
  auto always = RankedTensorType::get({}, node.getBuilder().getI1Type());
  loop.condition = node.hasOperand(1) ? toScalar(node, node.getOperand(1))
                                      : node.splat(always, 1);
  for (unsigned i = 2; i < node.getNumOperands(); ++i)
    loop.carried.push_back(node.getOperand(i));
  if (!loop.condition || llvm::is_contained(loop.carried, Value()))
    return failure();
  node.ignoreAttribute("body");
  AddedCode code(node);
  while (loop.steps < limit && getKnownBool(loop.condition).value_or(true)) {
    if (!getKnownBool(loop.condition) && collects(loop))
      return node.emitError()
             << "the condition of Loop after " << loop.steps
             << " steps is known only at run time, and decides how much "
                "it collects";
    if (failed(loop.step()) || failed(code.verifySize(loop.steps)))
      return failure();
  }
  return loop.finish();
}

void cleave::registerControl(OperatorTable &table) {
  table.onOp("", "If", 1, importIf);
  table.onOp("", "Loop", 1, importLoop);
}
