//===- ImportScan.cpp - Scan as straight-line code ------------------------===//

#include "frontend/OperatorTable.h"
#include "frontend/Unroll.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>

using namespace cleave;
using namespace mlir;

namespace {

/// How Scan goes along its inputs and outputs; defaults are 0.
struct ScanAttributes {
  int64_t inputs;
  Shape inputAxes, inputDirections, outputAxes, outputDirections;
};

} // namespace

static int64_t getEntry(ArrayRef<int64_t> list, size_t i) {
  return i < list.size() ? list[i] : 0;
}

/// The number of steps: the size that all inputs have along their axes, which
/// are normalised here. Failure after an error.
static FailureOr<int64_t> getLength(NodeContext &node, ArrayRef<Value> inputs,
                                    ScanAttributes &scan) {
  std::optional<int64_t> length;
  scan.inputAxes.resize(inputs.size());
  for (auto [axis, input] : llvm::zip(scan.inputAxes, inputs)) {
    FailureOr<int64_t> dim = node.normalizeAxis(axis, getShape(input).size());
    if (failed(dim))
      return failure();
    axis = *dim;
    int64_t size = getShape(input)[axis];
    if (length.value_or(size) != size)
      return node.emitError() << "shapes conflict: the inputs of Scan have "
                              << *length << " and " << size << " steps";
    length = size;
  }
  return length.value_or(0);
}

/// Final states and collected outputs of one scan.
static FailureOr<SmallVector<Value>> unrollScan(NodeContext &node,
                                                SmallVector<Value> states,
                                                ArrayRef<Value> inputs,
                                                ScanAttributes scan) {
  FailureOr<int64_t> length = getLength(node, inputs, scan);
  if (failed(length))
    return failure();
  if (*length == 0)
    return node.emitError() << "Scan over 0 steps is not supported";
  AddedCode code(node);
  SmallVector<SmallVector<Value>> collected;
  for (int64_t step = 0; step < *length; ++step) {
    SmallVector<Value> values(states);
    for (auto [i, input] : llvm::enumerate(inputs)) {
      bool isReverse = getEntry(scan.inputDirections, i) != 0;
      values.push_back(takeStep(node, input, scan.inputAxes[i],
                                isReverse ? *length - 1 - step : step));
    }
    FailureOr<SmallVector<Value>> results = node.importBody("body", values);
    if (failed(results) || failed(code.verifySize(step + 1)))
      return failure();
    if (results->size() < states.size())
      return node.emitError()
             << "the body of Scan has " << results->size()
             << " results, expected " << states.size() << " states";
    std::copy_n(results->begin(), states.size(), states.begin());
    collected.resize(results->size() - states.size());
    for (auto [list, value] :
         llvm::zip(collected, llvm::drop_begin(*results, states.size())))
      list.push_back(value);
  }
  for (auto [i, list] : llvm::enumerate(collected)) {
    int64_t rank = getShape(list.front()).size() + 1;
    FailureOr<int64_t> axis =
        node.normalizeAxis(getEntry(scan.outputAxes, i), rank);
    if (failed(axis))
      return failure();
    if (getEntry(scan.outputDirections, i))
      std::reverse(list.begin(), list.end());
    states.push_back(stackSteps(node, list, *axis));
  }
  return states;
}

/// States and inputs of a Scan from operand `first` on; empty after an error.
static FailureOr<std::pair<SmallVector<Value>, SmallVector<Value>>>
getScanOperands(NodeContext &node, unsigned first, const ScanAttributes &scan) {
  SmallVector<Value> states, inputs;
  int64_t stateCount = int64_t(node.getNumOperands()) - first - scan.inputs;
  if (stateCount < 0 || scan.inputs < 1)
    return node.emitError() << "Scan has " << node.getNumOperands()
                            << " operands, of which num_scan_inputs says that "
                            << scan.inputs << " are scanned";
  for (unsigned i = first; i < node.getNumOperands(); ++i) {
    Value value = node.getOperand(i);
    if (!value)
      return failure();
    (i - first < stateCount ? states : inputs).push_back(value);
  }
  return std::pair(states, inputs);
}

static LogicalResult importScan(NodeContext &node) {
  auto getList = [&](StringRef name) {
    return node.getInts(name).value_or(Shape());
  };
  ScanAttributes scan{
      node.getInt("num_scan_inputs", 0), getList("scan_input_axes"),
      getList("scan_input_directions"), getList("scan_output_axes"),
      getList("scan_output_directions")};
  node.ignoreAttribute("body");
  auto operands = getScanOperands(node, 0, scan);
  if (failed(operands))
    return failure();
  FailureOr<SmallVector<Value>> results =
      unrollScan(node, operands->first, operands->second, scan);
  return failed(results) ? failure() : node.setResults(*results);
}

/// Before opset 9 all operands and results have a batch dim in front, of which
/// each element is a scan of its own, along the next dim.
static LogicalResult importBatchedScan(NodeContext &node) {
  ScanAttributes scan{node.getInt("num_scan_inputs", 0),
                      {},
                      node.getInts("directions").value_or(Shape()),
                      {},
                      {}};
  node.ignoreAttribute("body");
  auto operands = getScanOperands(node, 1, scan);
  if (failed(operands))
    return failure();
  std::optional<int64_t> count;
  for (Value value : llvm::concat<Value>(operands->first, operands->second)) {
    ArrayRef<int64_t> shape = getShape(value);
    if (shape.empty() || shape[0] < 1 || count.value_or(shape[0]) != shape[0])
      return node.emitError() << "the operands of Scan need one batch dim in "
                                 "front, found "
                              << formatShape(shape);
    count = shape[0];
  }
  auto take = [&](ArrayRef<Value> values, int64_t i) {
    return llvm::map_to_vector(
        values, [&](Value value) { return takeStep(node, value, 0, i); });
  };
  SmallVector<SmallVector<Value>> batch;
  for (int64_t i = 0; i < *count; ++i) {
    FailureOr<SmallVector<Value>> results = unrollScan(
        node, take(operands->first, i), take(operands->second, i), scan);
    if (failed(results))
      return failure();
    batch.resize(results->size());
    for (auto [list, value] : llvm::zip(batch, *results))
      list.push_back(value);
  }
  return node.setResults(llvm::map_to_vector(
      batch, [&](ArrayRef<Value> list) { return stackSteps(node, list, 0); }));
}

void cleave::registerScan(OperatorTable &table) {
  table.onOp("", "Scan", 8, importBatchedScan);
  table.onOp("", "Scan", 9, importScan);
}
