//===- Match.h - what rewrites of this room ask of values -----------------===//
//
// Constants compare by value with a tolerance: exporters round them to the
// model's type, and fold them in several orders.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_NORMALIZE_MATCH_H
#define CLEAVE_PASSES_NORMALIZE_MATCH_H

#include "ir/Cleave.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace cleave {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return typeOf(value).getShape();
}
inline int64_t rankOf(mlir::Value value) { return typeOf(value).getRank(); }

/// An element of a constant as a number.
double toDouble(mlir::Attribute element);

/// The one value of a constant, also through reshapes and broadcasts.
std::optional<double> getSplat(mlir::Value value);

/// Whether `found` is `expected` to 1e-6, or to two units of a shorter type.
bool isClose(double found, double expected, mlir::Type elementType);

/// Whether all elements are `expected`, as `isClose` says.
bool isSplat(mlir::Value value, double expected);

/// A constant of one value.
mlir::Value makeSplat(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::RankedTensorType type, double value);

/// The op of this kind that gives `value`, or null.
UnaryOp getUnary(mlir::Value value, UnaryKind kind);
BinaryOp getBinary(mlir::Value value, BinaryKind kind);

/// If `value` is `kind(x, c)` with a splat c on the right (a simplified program
/// has it there): x, and c in `constant`. Else null.
mlir::Value getWithConstant(mlir::Value value, BinaryKind kind,
                            double &constant);

/// Whether every use of `value` is by one op.
bool hasOneUser(mlir::Value value);

/// Whether two shapes are equal but for dims of size 1.
bool differsByUnits(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Dims [from, to).
llvm::SmallVector<int64_t> getRange(int64_t from, int64_t to);

} // namespace cleave

#endif
