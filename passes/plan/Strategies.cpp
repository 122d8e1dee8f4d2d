//===- Strategies.cpp - factors of a node as strategies of an axis --------===//

#include "passes/plan/Strategies.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

//===-- Blocks ------------------------------------------------------------===//

/// Few block sizes are worth trying; more would only slow the search down.
static constexpr size_t kMaxBlocks = 4;

static bool addBlock(SmallVector<int64_t, 4> &blocks, int64_t block) {
  if (llvm::is_contained(blocks, block) || blocks.size() == kMaxBlocks)
    return false;
  blocks.insert(llvm::lower_bound(blocks, block), block);
  return true;
}

namespace {
/// A dim of a tensor that a factor splits, and the elements per unit of it.
struct Occurrence {
  size_t tensor;
  int64_t dim;
  int64_t minor;
};
} // namespace

static SmallVector<Occurrence> getOccurrences(const Node &node,
                                              int64_t factor) {
  SmallVector<Occurrence> found;
  auto collect = [&](ArrayRef<TensorFactors> rules, ArrayRef<size_t> tensors) {
    for (auto [rule, tensor] : llvm::zip(rules, tensors)) {
      int64_t dim = ShardingRule::findMajor(rule, factor, node.rule.factors);
      if (dim >= 0)
        found.push_back({tensor, dim, node.rule.getBlock(rule[dim])});
    }
  };
  collect(node.rule.operands, node.operands);
  collect(node.rule.results, node.results);
  return found;
}

/// Blocks of a factor, in its own units, that the dims around it suggest.
static SmallVector<int64_t, 4> getFactorBlocks(ArrayRef<Occurrence> occurrences,
                                               int64_t size,
                                               const BlockTable &blocks) {
  SmallVector<int64_t, 4> found = {1};
  for (const Occurrence &at : occurrences)
    for (int64_t block : blocks[at.tensor][at.dim])
      if (block % at.minor == 0 && size % (block / at.minor) == 0)
        addBlock(found, block / at.minor);
  return found;
}

/// Gives all dims of each splittable factor the blocks of the others.
static bool spreadBlocks(const Node &node, BlockTable &blocks) {
  bool changed = false;
  for (size_t factor = 0; factor < node.rule.factors.size(); ++factor) {
    if (!node.rule.isSplittable(factor))
      continue;
    SmallVector<Occurrence> occurrences = getOccurrences(node, factor);
    for (int64_t block :
         getFactorBlocks(occurrences, node.rule.factors[factor].size, blocks))
      for (const Occurrence &at : occurrences)
        changed |= addBlock(blocks[at.tensor][at.dim], block * at.minor);
  }
  return changed;
}

BlockTable cleave::plan::findBlocks(const Graph &graph, const Pins &pins,
                                    StringRef axis) {
  BlockTable blocks;
  for (auto [i, tensor] : llvm::enumerate(graph.tensors)) {
    blocks.emplace_back(tensor.type.getRank(), SmallVector<int64_t, 4>{1});
    const StatePin *pin = pins.find(i, axis);
    if (!pin || pin->block == 0)
      continue;
    for (int64_t dim : pin->dims)
      if (tensor.type.getDimSize(dim) % pin->block == 0)
        addBlock(blocks.back()[dim], pin->block);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node &node : graph.nodes)
      changed |= spreadBlocks(node, blocks);
    for (const Node &node : llvm::reverse(graph.nodes))
      changed |= spreadBlocks(node, blocks);
  }
  return blocks;
}

/// Keeps the first of the blocks that give the same chunks.
static SmallVector<int64_t, 4> dropEqualChunks(ArrayRef<int64_t> blocks,
                                               int64_t size, int64_t parts) {
  SmallVector<int64_t, 4> kept, chunks;
  for (int64_t block : blocks) {
    int64_t chunk = getChunk(size, block, parts);
    if (size % block || llvm::is_contained(chunks, chunk))
      continue;
    chunks.push_back(chunk);
    kept.push_back(block);
  }
  return kept;
}

SmallVector<AxisState>
cleave::plan::getStates(const LocalTensor &tensor,
                        ArrayRef<SmallVector<int64_t, 4>> blocks, int64_t parts,
                        llvm::function_ref<bool(int64_t)> isTaken) {
  SmallVector<AxisState> states = {AxisState::getReplicated()};
  for (auto [dim, size] : llvm::enumerate(tensor.shape))
    if (size > 1 && !isTaken(dim))
      for (int64_t block : dropEqualChunks(blocks[dim], size, parts))
        states.push_back(AxisState::getSplit(dim, block));
  return states;
}

//===-- Strategies --------------------------------------------------------===//

/// Only a constant of equal elements has parts that are constants.
static bool mustStayWhole(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && !constant.getValue().isSplat();
}

/// States of tensors when the axis splits `factor` in `block`s; what has not
/// the factor is whole. `partial` for results that lack it.
static SmallVector<AxisState> project(const Node &node,
                                      ArrayRef<TensorFactors> tensors,
                                      int64_t factor, int64_t block,
                                      AxisState otherwise) {
  SmallVector<AxisState> states;
  for (const TensorFactors &tensor : tensors) {
    int64_t dim = ShardingRule::findMajor(tensor, factor, node.rule.factors);
    states.push_back(dim < 0
                         ? otherwise
                         : AxisState::getSplit(
                               dim, block * node.rule.getBlock(tensor[dim])));
  }
  return states;
}

/// A tensor has one kind of partial value on all axes.
static bool canBePartial(const LocalGraph &local, const Node &node,
                         ReduceKind kind) {
  return llvm::all_of(node.results, [&](size_t result) {
    return llvm::all_of(local.states[result], [&](const AxisState &state) {
      return state.kind != AxisState::Partial || state.reduction == kind;
    });
  });
}

/// Whether the axis may split `factor`: no earlier axis splits it or one of its
/// dims, and each result has it or can be partial over it.
static bool canSplit(const LocalGraph &local, const Node &node, size_t index,
                     int64_t factor) {
  if (!node.rule.isSplittable(factor) ||
      llvm::is_contained(local.usedFactors[index], factor))
    return false;
  const Factor &info = node.rule.factors[factor];
  for (auto [rule, result] : llvm::zip(node.rule.results, node.results)) {
    int64_t dim = ShardingRule::findMajor(rule, factor, node.rule.factors);
    if (dim >= 0 && local.isSplit(result, dim))
      return false;
    if (dim < 0 && (info.kind != FactorKind::Reduction ||
                    !canBePartial(local, node, info.reduction)))
      return false;
  }
  return true;
}

std::vector<Strategy> cleave::plan::getStrategies(const Graph &graph,
                                                  const LocalGraph &local,
                                                  size_t index,
                                                  const BlockTable &blocks,
                                                  int64_t parts) {
  const Node &node = graph.nodes[index];
  const AxisState whole = AxisState::getReplicated();
  std::vector<Strategy> strategies(1);
  strategies[0].operands.assign(node.operands.size(), whole);
  strategies[0].results.assign(node.results.size(), whole);
  if (mustStayWhole(node.op))
    return strategies;
  for (size_t factor = 0; factor < node.rule.factors.size(); ++factor) {
    if (!canSplit(local, node, index, factor))
      continue;
    const Factor &info = node.rule.factors[factor];
    SmallVector<Occurrence> occurrences = getOccurrences(node, factor);
    SmallVector<int64_t, 4> sizes =
        getFactorBlocks(occurrences, info.size, blocks);
    for (int64_t block : dropEqualChunks(sizes, info.size, parts)) {
      Strategy strategy;
      strategy.factor = factor;
      strategy.operands =
          project(node, node.rule.operands, factor, block, whole);
      strategy.results = project(node, node.rule.results, factor, block,
                                 AxisState::getPartial(info.reduction));
      strategy.share = double(getChunk(info.size, block, parts)) / info.size;
      strategies.push_back(std::move(strategy));
    }
  }
  if (!node.rule.linearOperands.empty() &&
      canBePartial(local, node, ReduceKind::Sum)) {
    Strategy passing = strategies[0];
    AxisState partial = AxisState::getPartial(ReduceKind::Sum);
    for (int64_t operand : node.rule.linearOperands)
      passing.operands[operand] = partial;
    passing.results.assign(node.results.size(), partial);
    strategies.push_back(std::move(passing));
  }
  return strategies;
}

/// Bytes scale with those of the tensors read and written, FLOPs with the
/// factor.
Work cleave::plan::getLocalWork(const Graph &graph, const LocalGraph &local,
                                size_t index, const Strategy &strategy,
                                int64_t parts) {
  const Node &node = graph.nodes[index];
  auto getShare = [&](ArrayRef<size_t> tensors, ArrayRef<AxisState> states) {
    double before = 0, after = 0;
    for (auto [tensor, state] : llvm::zip(tensors, states)) {
      before += local.tensors[tensor].getBytes();
      after += local.tensors[tensor].getBytes(state, parts);
    }
    return before == 0 ? 1 : after / before;
  };
  Work work = local.work[index];
  work.flops *= strategy.share;
  work.bytesRead *= getShare(node.operands, strategy.operands);
  work.bytesWritten *= getShare(node.results, strategy.results);
  if (work.scatteredRows > 0)
    work.scatteredRows *= getShare(node.operands[work.rowOperand],
                                   strategy.operands[work.rowOperand]);
  return work;
}
