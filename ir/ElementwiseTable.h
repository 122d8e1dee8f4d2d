//===- ElementwiseTable.h - what each elementwise kind means --------------===//
//
// One row per kind: its ONNX name, its value (for folding), its code on scalars
// or vectors, its derivative, its cost. Everything else about elementwise ops
// is the same for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_ELEMENTWISETABLE_H
#define CLEAVE_IR_ELEMENTWISETABLE_H

#include "ir/Derivatives.h"
#include "mlir/IR/Builders.h"

namespace cleave {

struct UnaryInfo {
  UnaryKind kind;
  const char *onnxName; ///< null when ONNX has no op of this name
  double flops;         ///< per element
  bool keepsZero;       ///< kind(0) == 0
  double (*evaluate)(double);
  /// Code on a scalar or vector of floats (`arith` and `math` ops).
  mlir::Value (*build)(mlir::OpBuilder &, mlir::Location, mlir::Value);
  UnaryGradient *gradient;                   ///< null: not for floats
  int64_t (*evaluateInt)(int64_t) = nullptr; ///< null: not for integers
};

/// Code on scalars or vectors: floats, or integers as signless ones.
using BinaryBuilder = mlir::Value (*)(mlir::OpBuilder &, mlir::Location,
                                      mlir::Value, mlir::Value);

struct BinaryInfo {
  BinaryKind kind;
  const char *onnxName;
  double flops;
  double (*evaluate)(double, double);
  /// Wraps around; the divisor is not 0. Null: floats only.
  int64_t (*evaluateInt)(int64_t, int64_t);
  BinaryBuilder build;
  BinaryGradient *gradient;              ///< null: not for floats
  BinaryBuilder buildUnsigned = nullptr; ///< null: as `build`
};

struct CompareInfo {
  CompareKind kind;
  const char *onnxName;
  BinaryBuilder build, buildUnsigned;
};

/// Code for two values of a tensor's element type, which may be unsigned.
template <typename Info>
mlir::Value buildFor(const Info &info, mlir::Type element, mlir::OpBuilder &b,
                     mlir::Location loc, mlir::Value x, mlir::Value y) {
  bool isUnsigned = element.isUnsignedInteger() && info.buildUnsigned;
  return (isUnsigned ? info.buildUnsigned : info.build)(b, loc, x, y);
}

const UnaryInfo &getInfo(UnaryKind kind);
const BinaryInfo &getInfo(BinaryKind kind);
const CompareInfo &getInfo(CompareKind kind);
llvm::ArrayRef<UnaryInfo> getUnaryTable();
llvm::ArrayRef<BinaryInfo> getBinaryTable();
llvm::ArrayRef<CompareInfo> getCompareTable();

/// The value that leaves a reduction unchanged: 0, -inf, +inf, 1 (integers: the
/// least or largest value).
mlir::TypedAttr getNeutralElement(ReduceKind kind, mlir::Type elementType);
/// The binary kind that combines two values of a reduction; bools by or and
/// and.
BinaryKind getCombiningKind(ReduceKind kind, mlir::Type elementType);
/// Combines two scalars or vectors that hold elements of type `element`.
mlir::Value buildCombine(mlir::OpBuilder &, mlir::Location, ReduceKind kind,
                         mlir::Type element, mlir::Value, mlir::Value);

} // namespace cleave

#endif
