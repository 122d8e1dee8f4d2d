//===- ShardingRule.h - factors of an op ----------------------------------===//
//
// A factor is an index of the op's iteration space, as in an einsum: every dim
// of an operand or result is a product of factors, major first. Splitting a
// factor splits every dim whose major factor it is; a factor that some result
// lacks is reduced there and leaves a partial value.
//
// Example, dot [b, m, k] x [k, n] -> [b, m, n]: factors b, m, n are parallel, k
// is reduced by sum. Example, reshape [6 * 64] -> [6, 64]: two factors 6 and
// 64; only the first may be split in the operand, in blocks of 64.
//
// After the idea of Shardy's and GSPMD's op sharding rules (arXiv 2105.04663).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_SHARDINGRULE_H
#define CLEAVE_IR_SHARDINGRULE_H

#include "ir/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace cleave {

enum class FactorKind {
  Parallel,  ///< in every result
  Reduction, ///< absent in the results: they are partial under `reduction`
  Whole,     ///< cannot be split
};

struct Factor {
  int64_t size;
  FactorKind kind = FactorKind::Parallel;
  ReduceKind reduction = ReduceKind::Sum;
};

/// Factors of one dim, major first. Empty: a dim of size 1.
using DimFactors = llvm::SmallVector<int64_t, 2>;
/// One entry per dim.
using TensorFactors = llvm::SmallVector<DimFactors, 4>;

struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands;
  llvm::SmallVector<TensorFactors> results;
  /// The op is linear in these operands together: if all of them are partial
  /// sums over an axis (and the others not), so is the result.
  llvm::SmallVector<int64_t> linearOperands;

  int64_t addFactor(int64_t size, FactorKind kind = FactorKind::Parallel,
                    ReduceKind reduction = ReduceKind::Sum);
  /// Dim of `tensor` whose major factor (after size-1 ones) is `factor`; -1 if
  /// the tensor lacks it; -2 if it is there but not major.
  static int64_t findMajor(const TensorFactors &tensor, int64_t factor,
                           llvm::ArrayRef<Factor> factors);
  /// Whether `factor` can be split: not Whole, larger than 1, and major
  /// wherever it occurs.
  bool isSplittable(int64_t factor) const;
  /// Elements of a dim per unit of its major factor (product of the minor
  /// ones).
  int64_t getBlock(const DimFactors &dim) const;
};

/// Rule of an elementwise op: all operands and results have one shape.
ShardingRule getElementwiseRule(mlir::Operation *op, bool linear);
/// Rule that splits nothing: the safe answer for an op that has no better one.
ShardingRule getWholeRule(mlir::Operation *op);
/// Splits nothing in dims marked false; the rest is parallel. For ops whose
/// operands and results all have the shape of operand 0.
ShardingRule getRowwiseRule(mlir::Operation *op,
                            llvm::ArrayRef<bool> parallelDims);

/// Work of one execution: floating-point operations, bytes read and written.
struct Work {
  double flops = 0;
  double bytesRead = 0;
  double bytesWritten = 0;
  /// The operations are multiply-adds of products, for which devices have units
  /// of their own.
  bool isProduct = false;
  /// Bytes of what single rows are read from or written to in no order; 0 where
  /// memory is walked in order.
  double scatteredOver = 0;
  /// The number of those rows, and the operand whose elements they are for.
  double scatteredRows = 0;
  unsigned rowOperand = 0;
};
/// `flopsPerElement` for each element of the first result; every operand is
/// read and every result written once.
Work getElementwiseWork(mlir::Operation *op, double flopsPerElement);
/// Bytes of a tensor type (bool counts 1).
int64_t getByteSize(mlir::Type type);

mlir::Operation *cloneWithTypes(mlir::OpBuilder &builder, mlir::Operation *op,
                                mlir::ValueRange operands,
                                mlir::TypeRange resultTypes);

} // namespace cleave

#include "ir/Interfaces.h.inc"

#endif
