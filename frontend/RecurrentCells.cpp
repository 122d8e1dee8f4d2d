//===- RecurrentCells.cpp - one step of RNN, GRU and LSTM -----------------===//

#include "frontend/RecurrentCells.h"

#include "frontend/Unroll.h"

using namespace cleave;
using namespace mlir;

//===-- Steps -------------------------------------------------------------===//

static Value add(NodeContext &node, Value x, Value y) {
  return node.binary(BinaryKind::Add, x, y);
}
static Value multiply(NodeContext &node, Value x, Value y) {
  return node.binary(BinaryKind::Mul, x, y);
}

/// The activation of a gate, of the clipped value.
static Value activate(NodeContext &node, const RecurrentCell &cell, unsigned i,
                      Value x) {
  if (cell.clip > 0) {
    x = node.binary(BinaryKind::Min, x, cell.clip);
    x = node.binary(BinaryKind::Max, x, -cell.clip);
  }
  return node.unary(cell.activations[i], x);
}

/// hidden [N, H] times gates [from, from + count): [N, count, H].
static Value recur(NodeContext &node, const RecurrentCell &cell, Value hidden,
                   int64_t from, int64_t count) {
  Value weights = node.sliceDim(cell.recurrence, 0, from, count);
  return node.dot(hidden, weights, {}, {}, {1}, {2});
}

static Value takeGate(NodeContext &node, Value gates, int64_t i) {
  return takeStep(node, gates, 1, i);
}

static RecurrentState stepRnn(NodeContext &node, const RecurrentCell &cell,
                              Value input, const RecurrentState &old) {
  Value sum = add(node, input, recur(node, cell, old.hidden, 0, 1));
  return {activate(node, cell, 0, takeGate(node, sum, 0)), nullptr};
}

/// Gates update, reset, hidden.
static RecurrentState stepGru(NodeContext &node, const RecurrentCell &cell,
                              Value input, const RecurrentState &old) {
  Value bias = cell.recurrenceBias;
  auto getBias = [&](int64_t from, int64_t count) {
    return node.sliceDim(bias, 0, from, count);
  };
  if (!input)
    return {};
  Value gates = add(node, node.sliceDim(input, 1, 0, 2),
                    recur(node, cell, old.hidden, 0, 2));
  if (bias)
    gates = add(node, gates, getBias(0, 2));
  gates = activate(node, cell, 0, gates);
  Value update = takeGate(node, gates, 0), reset = takeGate(node, gates, 1);
  Value base =
      cell.resetsAfter ? old.hidden : multiply(node, reset, old.hidden);
  Value recurrent = takeGate(node, recur(node, cell, base, 2, 1), 0);
  if (bias)
    recurrent = add(node, recurrent, takeStep(node, bias, 0, 2));
  if (cell.resetsAfter)
    recurrent = multiply(node, reset, recurrent);
  Value fresh =
      activate(node, cell, 1, add(node, takeGate(node, input, 2), recurrent));
  Value change = node.binary(BinaryKind::Sub, old.hidden, fresh);
  return {add(node, fresh, multiply(node, update, change)), nullptr};
}

/// Gates input, output, forget, cell; peepholes input, output, forget.
static RecurrentState stepLstm(NodeContext &node, const RecurrentCell &cell,
                               Value input, const RecurrentState &old) {
  Value sum = add(node, input, recur(node, cell, old.hidden, 0, 4));
  auto getGate = [&](int64_t i, unsigned activation, Value memory) {
    Value gate = takeGate(node, sum, i);
    if (memory && cell.peepholes)
      gate = add(node, gate,
                 multiply(node, memory, takeStep(node, cell.peepholes, 0, i)));
    return activate(node, cell, activation, gate);
  };
  Value in = getGate(0, 0, old.memory);
  Value forget = cell.couplesForget
                     ? node.binary(BinaryKind::Sub, node.splat(in, 1), in)
                     : getGate(2, 0, old.memory);
  Value memory = add(node, multiply(node, forget, old.memory),
                     multiply(node, in, getGate(3, 1, nullptr)));
  Value out = getGate(1, 0, memory);
  return {multiply(node, out, node.unary(cell.activations[2], memory)), memory};
}

//===-- Kinds -------------------------------------------------------------===//

static const UnaryKind rnnDefaults[] = {UnaryKind::Tanh};
static const UnaryKind gruDefaults[] = {UnaryKind::Sigmoid, UnaryKind::Tanh};
static const UnaryKind lstmDefaults[] = {UnaryKind::Sigmoid, UnaryKind::Tanh,
                                         UnaryKind::Tanh};

const RecurrentKind cleave::rnnKind = {1, rnnDefaults, false, false, stepRnn};
const RecurrentKind cleave::gruKind = {3, gruDefaults, true, false, stepGru};
const RecurrentKind cleave::lstmKind = {4, lstmDefaults, false, true, stepLstm};
