//===- FactorSharding.h - shardings of an op as splits of its factors -----===//
//
// A sharding speaks of the dims of one tensor, a rule of the factors of one op.
// This translates: from the shardings of results (or operands) to the axes that
// split each factor, and from there to the shardings that the op needs of its
// operands and makes of its results. Plain data: it changes no IR.
//
// Example, dot [b, m, k] x [k, n] -> [b, m, n] with result
// [{"dp"}, {}, {}], partial<sum, {"tp"}>: dp splits factor b, tp splits the
// reduced factor k, so the operands are [{"dp"}, {}, {"tp"}] and [{"tp"}, {}].
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PARTITION_FACTORSHARDING_H
#define CLEAVE_PASSES_PARTITION_FACTORSHARDING_H

#include "ir/Cleave.h"

namespace cleave {

/// Axes that split one factor, outer first; `block` counts units of the factor.
struct FactorSplit {
  llvm::SmallVector<mlir::StringAttr, 2> axes;
  int64_t block = 1;
};

class FactorSharding {
public:
  FactorSharding(const ShardingRule &rule, mlir::FlatSymbolRefAttr mesh)
      : rule(rule), mesh(mesh), splits(rule.factors.size()) {}

  /// Splits by what the results say. A partial axis is, in this order: passed
  /// through when all linear operands are partial sums over it; a split of the
  /// reduced factor that some operand has split by it; a split of the first
  /// reduced factor that can be split. `operands` may have null entries.
  /// Axes on dims that the op cannot split are dropped. Fails when a partial
  /// axis cannot be explained; `error` then emits the reason, if it is given.
  static mlir::FailureOr<FactorSharding>
  fromResults(const ShardingRule &rule, mlir::FlatSymbolRefAttr mesh,
              llvm::ArrayRef<ShardingAttr> results,
              llvm::ArrayRef<ShardingAttr> operands,
              llvm::function_ref<mlir::InFlightDiagnostic()> error = nullptr);

  /// Splits by what the operands say: partial sums pass where the op is linear,
  /// then the first operand wins a factor or an axis. Null entries say nothing.
  static FactorSharding fromOperands(const ShardingRule &rule,
                                     mlir::FlatSymbolRefAttr mesh,
                                     llvm::ArrayRef<ShardingAttr> operands);

  /// The sharding that the op needs of an operand.
  ShardingAttr getOperand(int64_t index) const;
  /// The sharding that the op then gives a result.
  ShardingAttr getResult(int64_t index) const;

  llvm::ArrayRef<FactorSplit> getSplits() const { return splits; }

private:
  bool isUsed(mlir::StringAttr axis) const;
  void read(const TensorFactors &tensor, ShardingAttr sharding);
  bool passThrough(mlir::StringAttr axis,
                   llvm::ArrayRef<ShardingAttr> operands);
  bool reduceOver(mlir::StringAttr axis, ReduceKind kind,
                  llvm::ArrayRef<ShardingAttr> operands);
  int64_t findReduction(ReduceKind kind) const;
  ShardingAttr project(const TensorFactors &tensor, ReduceKind kind,
                       llvm::ArrayRef<mlir::StringAttr> partial) const;

  const ShardingRule &rule;
  mlir::FlatSymbolRefAttr mesh;
  llvm::SmallVector<FactorSplit> splits;
  /// Axes over which the linear operands are partial sums, and so the results.
  llvm::SmallVector<mlir::StringAttr> passed;
};

} // namespace cleave

#endif
