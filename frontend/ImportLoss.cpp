//===- ImportLoss.cpp - losses over classes -------------------------------===//
//
// Scores have the classes in dim 1, labels lack that dim. Labels equal to
// ignore_index give no loss and no weight; a mean is over the weights of the
// labels that count, and 0 where none does.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

/// Moves the classes of [n, c, d...] to the end.
static Value moveClassesLast(NodeContext &node, Value scores) {
  Shape perm = getIota(getShape(scores).size());
  std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return node.transpose(scores, perm);
}

/// 1, or the class's weight, per label; 0 where it is ignored.
static Value makeWeights(NodeContext &node, Value labels, Type element,
                         int64_t ignored) {
  Value isIgnored = node.compare(CompareKind::Eq, labels, ignored);
  auto type = RankedTensorType::get(getShape(labels), element);
  Value weights = node.splat(type, 1.0);
  if (node.hasOperand(2)) {
    Value known = node.select(isIgnored, node.splat(labels, 0), labels);
    weights = node.gather(node.getOperand(2), known, 0);
  }
  return node.select(isIgnored, node.splat(type, 0.0), weights);
}

/// `losses` per label, reduced as the node says.
static Value reduceLosses(NodeContext &node, Value losses, Value weights) {
  std::string reduction = node.getString("reduction", "mean");
  Value weighted = node.binary(BinaryKind::Mul, losses, weights);
  if (!weighted || reduction == "none")
    return weighted;
  Shape dims = getIota(getShape(losses).size());
  Value sum = node.reduce(ReduceKind::Sum, weighted, dims);
  if (reduction == "sum")
    return sum;
  Value total = node.reduce(ReduceKind::Sum, weights, dims);
  Value isEmpty = node.compare(CompareKind::Eq, total, 0.0);
  Value divisor = node.select(isEmpty, node.splat(total, 1.0), total);
  return node.binary(BinaryKind::Div, sum, divisor);
}

static LogicalResult verifyLabels(NodeContext &node, Value scores,
                                  Value labels) {
  Shape expected(getShape(scores));
  if (expected.size() >= 2)
    expected.erase(expected.begin() + 1);
  if (getShape(scores).size() >= 2 && ArrayRef(expected) == getShape(labels))
    return success();
  return node.emitError() << "shapes conflict: labels " << node.describe(1)
                          << " do not fit scores " << node.describe(0);
}

/// Softmax and logarithm are part of the loss. Result 1 is their value.
static LogicalResult importCrossEntropy(NodeContext &node) {
  Value scores = node.getOperand(0), labels = node.getOperand(1);
  int64_t ignored = node.getInt("ignore_index", -100);
  if (!scores || !labels || failed(verifyLabels(node, scores, labels)))
    return failure();
  Value losses = node.create<CrossEntropyOp>(
      nullptr, moveClassesLast(node, scores), labels, ignored, APFloat(0.0));
  Value weights = makeWeights(node, labels, getElement(scores), ignored);
  SmallVector<Value> results{reduceLosses(node, losses, weights)};
  if (node.hasResult(1))
    results.push_back(node.softmax(scores, 1, /*log=*/true));
  return node.setResults(results);
}

/// Scores are logarithms already: the loss is minus the label's.
static LogicalResult importLikelihood(NodeContext &node) {
  Value scores = node.getOperand(0), labels = node.getOperand(1);
  int64_t ignored = node.getInt("ignore_index", -100);
  if (!scores || !labels || failed(verifyLabels(node, scores, labels)))
    return failure();
  Value classes = moveClassesLast(node, scores);
  Shape wide(getShape(labels));
  wide.push_back(1);
  auto type = RankedTensorType::get(getShape(classes), getElement(labels));
  Value isLabel = node.compare(CompareKind::Eq, node.reshape(labels, wide),
                               node.iota(type, wide.size() - 1));
  Value picked = node.select(isLabel, classes, node.splat(classes, 0.0));
  Value sum = node.reduce(ReduceKind::Sum, picked, wide.size() - 1);
  Value weights = makeWeights(node, labels, getElement(scores), ignored);
  return node.setResults(
      reduceLosses(node, node.unary(UnaryKind::Neg, sum), weights));
}

void cleave::registerLoss(OperatorTable &table) {
  table.onOp("", "SoftmaxCrossEntropyLoss", 12, importCrossEntropy);
  table.onOp("", "NegativeLogLikelihoodLoss", 12, importLikelihood);
}
