//===- ImportRecurrent.cpp - RNN, GRU, LSTM, unrolled ---------------------===//
//
// The products of the input with its weights are one product for all steps.
// Shapes: T steps, N batch, D directions, G gates, H hidden, I input.
//
//===----------------------------------------------------------------------===//

#include "frontend/OperatorTable.h"
#include "frontend/RecurrentCells.h"
#include "frontend/Unroll.h"
#include "ir/ElementwiseTable.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

//===-- Attributes --------------------------------------------------------===//

static FailureOr<UnaryKind> parseActivation(NodeContext &node, StringRef name) {
  for (UnaryKind kind : {UnaryKind::Sigmoid, UnaryKind::Tanh, UnaryKind::Relu})
    if (name.equals_insensitive(getInfo(kind).onnxName))
      return kind;
  return node.emitError() << "activation '" << name << "' of "
                          << node.getNode().op_type()
                          << " is not supported: expected Sigmoid, Tanh or "
                             "Relu";
}

/// Those of all directions, one after the other.
static FailureOr<SmallVector<UnaryKind>>
getActivations(NodeContext &node, const RecurrentKind &kind,
               size_t directions) {
  SmallVector<UnaryKind> activations;
  const onnx::AttributeProto *names = node.getAttribute("activations");
  if (!names) {
    for (size_t i = 0; i < directions; ++i)
      llvm::append_range(activations, kind.defaults);
    return activations;
  }
  for (const std::string &name : names->strings()) {
    FailureOr<UnaryKind> activation = parseActivation(node, name);
    if (failed(activation))
      return failure();
    activations.push_back(*activation);
  }
  size_t expected = directions * kind.defaults.size();
  if (activations.size() == expected)
    return activations;
  return node.emitError() << node.getNode().op_type() << " needs " << expected
                          << " activations, found " << activations.size();
}

namespace {

/// The node as a whole.
struct Recurrent {
  Recurrent(NodeContext &node, const RecurrentKind &kind)
      : node(node), kind(kind) {}

  NodeContext &node;
  const RecurrentKind &kind;
  Value x{}; ///< [T, N, I]
  int64_t hidden = 0;
  /// Whether each direction goes from the last step to the first.
  SmallVector<bool> directions;
  bool isBatchFirst = false;
  SmallVector<UnaryKind> activations;
  RecurrentCell options; ///< what is the same for all directions
  Value lengths;         ///< [N], null: all steps

  LogicalResult readAttributes();
  LogicalResult verifyOperands();
  LogicalResult readLengths();
  Value getInitial(unsigned operand, int64_t direction);
  Value multiplyInput(int64_t direction);
  Value getBias(int64_t direction, int64_t half);
  RecurrentCell getCell(int64_t direction);
  Value mask(int64_t step, Value inside, Value outside);
  RecurrentState unroll(int64_t direction, SmallVector<Value> &outputs);
  LogicalResult run();

  int64_t getSteps() const { return getShape(x)[0]; }
  int64_t getBatch() const { return getShape(x)[1]; }
};

} // namespace

LogicalResult Recurrent::readAttributes() {
  std::string direction = node.getString("direction", "forward");
  if (direction == "forward")
    directions = {false};
  else if (direction == "reverse")
    directions = {true};
  else if (direction == "bidirectional")
    directions = {false, true};
  else
    return node.emitError()
           << "direction '" << direction << "' of " << node.getNode().op_type()
           << " must be forward, reverse or bidirectional";
  isBatchFirst = node.getInt("layout", 0) != 0;
  options.clip = node.getFloat("clip", 0);
  if (kind.hasMemory)
    options.couplesForget = node.getInt("input_forget", 0) != 0;
  if (kind.separatesBias)
    options.resetsAfter = node.getInt("linear_before_reset", 0) != 0;
  FailureOr<SmallVector<UnaryKind>> list =
      getActivations(node, kind, directions.size());
  if (failed(list))
    return failure();
  activations = *list;
  return success();
}

//===-- Operands ----------------------------------------------------------===//

/// x, W [D, G H, I], R [D, G H, H], B [D, 2 G H], lengths, h [D, N, H],
/// c [D, N, H], P [D, 3 H].
LogicalResult Recurrent::verifyOperands() {
  x = node.getOperand(0);
  Value r = node.getOperand(2);
  if (!x || !r || !node.getOperand(1))
    return failure();
  if (getShape(x).size() == 3 && isBatchFirst)
    x = node.transpose(x, {1, 0, 2});
  hidden = getShape(r).empty() ? 0 : getShape(r).back();
  if (node.getInt("hidden_size", hidden) != hidden)
    return node.emitError()
           << "hidden_size is " << node.getInt("hidden_size", 0)
           << ", but the recurrence weights are " << node.describe(2);
  if (getShape(x).size() != 3 || getSteps() == 0)
    return node.emitError() << node.getNode().op_type()
                            << " needs an input of 3 dims and at least one "
                               "step, found "
                            << node.describe(0);
  int64_t count = directions.size(), rows = kind.gates * hidden;
  Shape state = isBatchFirst ? Shape{getBatch(), count, hidden}
                             : Shape{count, getBatch(), hidden};
  Shape expected[] = {{},
                      {count, rows, getShape(x)[2]},
                      {count, rows, hidden},
                      {count, 2 * rows},
                      {getBatch()},
                      state,
                      state,
                      {count, 3 * hidden}};
  for (unsigned i = 1; i < node.getNumOperands() && i < 8; ++i)
    if (node.hasOperand(i) &&
        getShape(node.getOperand(i)) != ArrayRef(expected[i]))
      return node.emitError()
             << "shapes conflict: operand " << i << " of "
             << node.getNode().op_type() << " must be "
             << formatShape(expected[i]) << ", found " << node.describe(i);
  return success();
}

/// Lengths that are all T are none.
LogicalResult Recurrent::readLengths() {
  if (!node.hasOperand(4))
    return success();
  lengths = node.getOperand(4);
  DenseElementsAttr known = getConstant(lengths);
  if (known && llvm::all_of(known.getValues<APInt>(), [&](const APInt &length) {
        return length.getSExtValue() == getSteps();
      }))
    lengths = nullptr;
  return success();
}

/// The initial state of a direction, [N, H]; 0 where it is left out.
Value Recurrent::getInitial(unsigned operand, int64_t direction) {
  if (node.hasOperand(operand))
    return takeStep(node, node.getOperand(operand), isBatchFirst, direction);
  return node.splat(RankedTensorType::get({getBatch(), hidden}, getElement(x)),
                    0);
}

/// One half of B: the input's bias or that of the recurrence, [G, H].
Value Recurrent::getBias(int64_t direction, int64_t half) {
  if (!node.hasOperand(3))
    return nullptr;
  Value bias = takeStep(node, node.getOperand(3), 0, direction);
  bias = node.reshape(bias, {2, kind.gates, hidden});
  return takeStep(node, bias, 0, half);
}

/// What the input and the biases give to all gates of all steps, [T, N, G, H].
Value Recurrent::multiplyInput(int64_t direction) {
  Value weights = takeStep(node, node.getOperand(1), 0, direction);
  weights = node.reshape(weights, {kind.gates, hidden, getShape(x)[2]});
  Value product = node.dot(x, weights, {}, {}, {2}, {2});
  Value bias = getBias(direction, 0);
  if (!bias)
    return product;
  if (!kind.separatesBias)
    bias = node.binary(BinaryKind::Add, bias, getBias(direction, 1));
  return node.binary(BinaryKind::Add, product, bias);
}

RecurrentCell Recurrent::getCell(int64_t direction) {
  RecurrentCell cell = options;
  cell.recurrence =
      node.reshape(takeStep(node, node.getOperand(2), 0, direction),
                   {kind.gates, hidden, hidden});
  if (kind.separatesBias)
    cell.recurrenceBias = getBias(direction, 1);
  if (kind.hasMemory && node.hasOperand(7))
    cell.peepholes = node.reshape(
        takeStep(node, node.getOperand(7), 0, direction), {3, hidden});
  size_t count = kind.defaults.size();
  cell.activations.assign(activations.begin() + direction * count,
                          activations.begin() + (direction + 1) * count);
  return cell;
}

//===-- Unrolling ---------------------------------------------------------===//

/// `inside` for the sequences that have this step, `outside` for the others.
Value Recurrent::mask(int64_t step, Value inside, Value outside) {
  if (!lengths || !inside)
    return inside;
  Value isInside = node.reshape(
      node.compare(CompareKind::Gt, lengths, double(step)), {getBatch(), 1});
  return node.select(isInside, inside, outside);
}

/// The last state of a direction; appends the hidden state [N, H] of each step,
/// in the order of time. A sequence that is shorter keeps its state and gives
/// 0: in the other direction it so begins at its own last step.
RecurrentState Recurrent::unroll(int64_t direction,
                                 SmallVector<Value> &outputs) {
  Value input = multiplyInput(direction);
  RecurrentCell cell = getCell(direction);
  RecurrentState state{getInitial(5, direction),
                       kind.hasMemory ? getInitial(6, direction) : nullptr};
  AddedCode code(node);
  int64_t steps = getSteps();
  for (int64_t i = 0; i < steps; ++i) {
    int64_t step = directions[direction] ? steps - 1 - i : i;
    RecurrentState next =
        kind.step(node, cell, takeStep(node, input, 0, step), state);
    if (!next.hidden || failed(code.verifySize(i + 1)))
      return {};
    outputs.push_back(mask(step, next.hidden, node.splat(next.hidden, 0)));
    state.hidden = mask(step, next.hidden, state.hidden);
    state.memory = mask(step, next.memory, state.memory);
  }
  if (directions[direction])
    std::reverse(outputs.begin(), outputs.end());
  return state;
}

/// Y [T, D, N, H], the last hidden state [D, N, H], and that of the memory;
/// batch first, Y is [N, T, D, H] and the states are [N, D, H].
LogicalResult Recurrent::run() {
  if (failed(readAttributes()) || failed(verifyOperands()) ||
      failed(readLengths()))
    return failure();
  SmallVector<Value> sequences, hiddens, memories;
  for (int64_t direction = 0, e = directions.size(); direction < e;
       ++direction) {
    SmallVector<Value> outputs;
    RecurrentState last = unroll(direction, outputs);
    if (!last.hidden)
      return failure();
    hiddens.push_back(last.hidden);
    memories.push_back(last.memory);
    if (node.hasResult(0))
      sequences.push_back(stackSteps(node, outputs, isBatchFirst));
  }
  int64_t dim = isBatchFirst ? 1 : 0;
  SmallVector<Value> results = {
      node.hasResult(0) ? stackSteps(node, sequences, isBatchFirst ? 2 : 1)
                        : hiddens[0],
      stackSteps(node, hiddens, dim)};
  if (kind.hasMemory)
    results.push_back(stackSteps(node, memories, dim));
  return node.setResults(results);
}

void cleave::registerRecurrent(OperatorTable &table) {
  auto bind = [](const RecurrentKind &kind) -> OpHandler {
    return [&kind](NodeContext &node) { return Recurrent(node, kind).run(); };
  };
  table.onOp("", "RNN", 7, bind(rnnKind));
  table.onOp("", "GRU", 7, bind(gruKind));
  table.onOp("", "LSTM", 7, bind(lstmKind));
}
