//===- BatchPins.cpp - pins inputs and parameters on the batch axis -------===//

#include "passes/plan/BatchPins.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

static bool hasBatch(const Tensor &tensor) {
  return tensor.kind == Tensor::Input && tensor.type.getRank() > 0;
}

std::optional<int64_t> cleave::plan::getBatch(const Graph &graph) {
  for (const Tensor &tensor : graph.tensors)
    if (hasBatch(tensor))
      return tensor.type.getDimSize(0);
  return std::nullopt;
}

/// "--microbatches 2 x --dp 3"
static std::string printFlags(const PlanAxis &axis) {
  std::string text;
  if (axis.microBatches > 1)
    text = "--microbatches " + std::to_string(axis.microBatches);
  if (axis.ranks > 1)
    text += (text.empty() ? "" : " x ") + std::string("--dp ") +
            std::to_string(axis.ranks);
  return text;
}

/// Micro-batches are equal parts; without them ranks may hold unequal ones.
static LogicalResult verifyBatch(const Graph &graph, const Tensor &input,
                                 const PlanAxis &axis) {
  int64_t batch = input.type.getDimSize(0);
  auto fail = [&] {
    return graph.module.emitError()
           << printFlags(axis) << ": input '" << input.name << "' has batch "
           << batch << " in dim 0, which ";
  };
  if (batch == 0)
    return fail() << "leaves nothing to divide";
  if (batch < axis.getSize() && axis.microBatches == 1)
    return fail() << "leaves nothing to some of " << axis.ranks
                  << " ranks; --dp " << batch << " is the most";
  if (axis.microBatches > 1 && batch % axis.getSize() != 0)
    return fail() << "does not divide into " << axis.getSize()
                  << " equal parts";
  return success();
}

LogicalResult cleave::plan::pinBatch(Pins &pins, const Graph &graph,
                                     const PlanAxis &axis) {
  if (axis.getSize() == 1)
    return success();
  std::optional<int64_t> batch;
  bool isPinned = false;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors)) {
    if (tensor.kind == Tensor::Value)
      continue;
    if (pins.find(i, axis.name)) {
      isPinned = true;
      continue;
    }
    StatePin pin;
    pin.source = "data parallelism";
    if (hasBatch(tensor) && !batch)
      batch = tensor.type.getDimSize(0);
    if (hasBatch(tensor) && tensor.type.getDimSize(0) == *batch) {
      if (failed(verifyBatch(graph, tensor, axis)))
        return failure();
      pin.dims = {0};
    }
    pins.states[i].try_emplace(axis.name, pin);
  }
  if (!batch && !isPinned)
    return graph.module.emitError()
           << printFlags(axis) << ": the model has no input with a batch";
  return success();
}
