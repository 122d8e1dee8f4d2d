//===- LogicalBuilder.h - write formulas in logical ops -------------------===//
//
// A thin layer over OpBuilder for one location, used by gradients. Operands of
// an operation agree in shape and type; `repeat` brings them there.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_LOGICALBUILDER_H
#define CLEAVE_IR_LOGICALBUILDER_H

#include "ir/Attributes.h"
#include "mlir/IR/Builders.h"

namespace cleave {

/// The integers [from, to).
llvm::SmallVector<int64_t> getDims(int64_t from, int64_t to);
/// The dims of a tensor of `rank` that are not in `dims`, in order.
llvm::SmallVector<int64_t> getOtherDims(int64_t rank,
                                        llvm::ArrayRef<int64_t> dims);
mlir::RankedTensorType getTensorType(mlir::Value value);

class LogicalBuilder {
public:
  LogicalBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  //===-- Elementwise -------------------------------------------------------//
  mlir::Value unary(UnaryKind kind, mlir::Value x);
  mlir::Value binary(BinaryKind kind, mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x);
  mlir::Value add(mlir::Value x, double y) { return add(x, splat(x, y)); }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, splat(x, y)); }
  /// y - x.
  mlir::Value subFrom(double y, mlir::Value x) { return sub(splat(x, y), x); }
  mlir::Value compare(CompareKind kind, mlir::Value x, mlir::Value y);
  mlir::Value compare(CompareKind kind, mlir::Value x, double y) {
    return compare(kind, x, splat(x, y));
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// x where the condition holds, else 0.
  mlir::Value keepWhere(mlir::Value condition, mlir::Value x) {
    return select(condition, x, splat(x, 0));
  }
  mlir::Value cast(mlir::Value x, mlir::Type element);

  //===-- Constants ---------------------------------------------------------//
  mlir::Value splat(mlir::RankedTensorType type, double value);
  mlir::Value splat(mlir::Value like, double value);
  mlir::Value iota(mlir::RankedTensorType type, int64_t dim);

  //===-- Reductions and products -------------------------------------------//
  /// Reduces `dims`, which are sorted, away; x itself if there are none.
  mlir::Value reduce(ReduceKind kind, mlir::Value x,
                     llvm::ArrayRef<int64_t> dims);
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  /// Sum over products along `contract`, for each index of `batch`.
  mlir::Value dot(mlir::Value x, mlir::Value y, llvm::ArrayRef<int64_t> xBatch,
                  llvm::ArrayRef<int64_t> yBatch,
                  llvm::ArrayRef<int64_t> xContract,
                  llvm::ArrayRef<int64_t> yContract);

  //===-- Movement ----------------------------------------------------------//
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm);
  /// Dim i of x is dim dims[i] of the result; all else is repeated.
  mlir::Value repeat(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> dims);
  /// Repeats x, which lacks the dims `reduced` of `shape`, along them.
  mlir::Value repeatAlong(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> reduced);
  /// The elements from `start` on of `dim`.
  mlir::Value slice(mlir::Value x, int64_t dim, int64_t start, int64_t size);
  /// Zeros around x.
  mlir::Value pad(mlir::Value x, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high);
};

} // namespace cleave

#endif
