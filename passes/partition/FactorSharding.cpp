//===- FactorSharding.cpp - shardings of an op as splits of its factors ---===//

#include "passes/partition/FactorSharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

/// The major factor of a dim: the first that is larger than 1; -1 if none.
static int64_t getMajor(const ShardingRule &rule, const DimFactors &dim) {
  for (int64_t factor : dim)
    if (rule.factors[factor].size != 1)
      return factor;
  return -1;
}

bool FactorSharding::isUsed(StringAttr axis) const {
  return llvm::is_contained(passed, axis) ||
         llvm::any_of(splits, [&](const FactorSplit &split) {
           return llvm::is_contained(split.axes, axis);
         });
}

/// Takes the splits of one tensor. Axes are outer first, so those behind an
/// axis that is in use elsewhere go with it: they cut what it has cut.
void FactorSharding::read(const TensorFactors &tensor, ShardingAttr sharding) {
  for (auto [factors, dim] : llvm::zip(tensor, sharding.getDims())) {
    int64_t factor = getMajor(rule, factors);
    if (factor < 0 || !rule.isSplittable(factor) ||
        !splits[factor].axes.empty())
      continue;
    FactorSplit split;
    int64_t minor = rule.getBlock(factors);
    split.block = dim.getBlock() % minor ? 1 : dim.getBlock() / minor;
    for (StringAttr axis : dim.getAxes()) {
      if (isUsed(axis))
        break;
      split.axes.push_back(axis);
    }
    if (!split.axes.empty())
      splits[factor] = split;
  }
}

bool FactorSharding::passThrough(StringAttr axis,
                                 ArrayRef<ShardingAttr> operands) {
  auto isPartialSum = [&](int64_t operand) {
    ShardingAttr sharding = operands[operand];
    return sharding && sharding.isPartialOver(axis) &&
           sharding.getPartialKind() == ReduceKind::Sum;
  };
  if (rule.linearOperands.empty() || isUsed(axis) ||
      !llvm::all_of(rule.linearOperands, isPartialSum))
    return false;
  passed.push_back(axis);
  return true;
}

/// The first factor reduced by `kind` that can be split; -1 if none.
int64_t FactorSharding::findReduction(ReduceKind kind) const {
  for (auto [factor, info] : llvm::enumerate(rule.factors))
    if (info.kind == FactorKind::Reduction && info.reduction == kind &&
        rule.isSplittable(factor))
      return factor;
  return -1;
}

/// Splits a reduced factor by `axis`: the one that an operand has split by it,
/// with the operand's block and order of axes; else the first.
bool FactorSharding::reduceOver(StringAttr axis, ReduceKind kind,
                                ArrayRef<ShardingAttr> operands) {
  for (auto [tensor, sharding] : llvm::zip(rule.operands, operands)) {
    int64_t dim = sharding ? sharding.getDimOf(axis) : -1;
    int64_t factor = dim < 0 ? -1 : getMajor(rule, tensor[dim]);
    if (factor < 0 || !rule.isSplittable(factor) ||
        rule.factors[factor].kind != FactorKind::Reduction ||
        rule.factors[factor].reduction != kind)
      continue;
    int64_t minor = rule.getBlock(tensor[dim]);
    int64_t block = sharding.getDims()[dim].getBlock();
    splits[factor].block = block % minor ? 1 : block / minor;
    splits[factor].axes.push_back(axis);
    llvm::sort(splits[factor].axes, [&](StringAttr a, StringAttr b) {
      ArrayRef<StringAttr> order = sharding.getDims()[dim].getAxes();
      return llvm::find(order, a) < llvm::find(order, b);
    });
    return true;
  }
  int64_t factor = findReduction(kind);
  if (factor >= 0)
    splits[factor].axes.push_back(axis);
  return factor >= 0;
}

FailureOr<FactorSharding>
FactorSharding::fromResults(const ShardingRule &rule, FlatSymbolRefAttr mesh,
                            ArrayRef<ShardingAttr> results,
                            ArrayRef<ShardingAttr> operands,
                            llvm::function_ref<InFlightDiagnostic()> error) {
  FactorSharding sharding(rule, mesh);
  for (auto [tensor, result] : llvm::zip(rule.results, results))
    if (result)
      sharding.read(tensor, result);
  for (ShardingAttr result : results) {
    if (!result)
      continue;
    for (StringAttr axis : result.getPartialAxes()) {
      if (sharding.isUsed(axis))
        continue;
      ReduceKind kind = result.getPartialKind();
      if (kind == ReduceKind::Sum && sharding.passThrough(axis, operands))
        continue;
      if (sharding.reduceOver(axis, kind, operands))
        continue;
      if (error)
        error() << "result is partial over " << axis
                << ", but the op reduces nothing by "
                << stringifyReduceKind(kind)
                << " and not all its operands are partial over " << axis;
      return failure();
    }
  }
  return sharding;
}

FactorSharding FactorSharding::fromOperands(const ShardingRule &rule,
                                            FlatSymbolRefAttr mesh,
                                            ArrayRef<ShardingAttr> operands) {
  FactorSharding sharding(rule, mesh);
  if (!rule.linearOperands.empty())
    if (ShardingAttr first = operands[rule.linearOperands.front()])
      for (StringAttr axis : first.getPartialAxes())
        sharding.passThrough(axis, operands);
  for (auto [tensor, operand] : llvm::zip(rule.operands, operands))
    if (operand)
      sharding.read(tensor, operand);
  // A result has one kind of partial value: the first keeps its splits.
  std::optional<ReduceKind> kind;
  if (!sharding.passed.empty())
    kind = ReduceKind::Sum;
  for (auto [info, split] : llvm::zip(rule.factors, sharding.splits)) {
    if (info.kind != FactorKind::Reduction || split.axes.empty())
      continue;
    if (kind && *kind != info.reduction)
      split.axes.clear();
    else
      kind = info.reduction;
  }
  return sharding;
}

ShardingAttr FactorSharding::project(const TensorFactors &tensor,
                                     ReduceKind kind,
                                     ArrayRef<StringAttr> partial) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimShardingAttr> dims;
  for (const DimFactors &factors : tensor) {
    int64_t factor = getMajor(rule, factors);
    if (factor < 0 || splits[factor].axes.empty()) {
      dims.push_back(DimShardingAttr::get(context, {}, 1));
      continue;
    }
    int64_t block = splits[factor].block * rule.getBlock(factors);
    dims.push_back(DimShardingAttr::get(context, splits[factor].axes, block));
  }
  return ShardingAttr::get(context, mesh, dims, kind, partial);
}

ShardingAttr FactorSharding::getOperand(int64_t index) const {
  bool linear = llvm::is_contained(rule.linearOperands, index);
  return project(rule.operands[index], ReduceKind::Sum,
                 linear ? ArrayRef<StringAttr>(passed)
                        : ArrayRef<StringAttr>());
}

ShardingAttr FactorSharding::getResult(int64_t index) const {
  ReduceKind kind = ReduceKind::Sum;
  SmallVector<StringAttr> partial(passed);
  for (auto [info, split] : llvm::zip(rule.factors, splits)) {
    if (info.kind != FactorKind::Reduction || split.axes.empty())
      continue;
    kind = info.reduction;
    partial.append(split.axes.begin(), split.axes.end());
  }
  return project(rule.results[index], kind, partial);
}
