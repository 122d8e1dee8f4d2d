//===- ElementwiseTable.h - what each elementwise kind means --------------===//
//
// One row per kind: its ONNX name, its value (for folding), its code on scalars
// or vectors, its derivative, its cost. Everything else about elementwise ops
// is the same for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_ELEMENTWISETABLE_H
#define CLEAVE_IR_ELEMENTWISETABLE_H

#include "ir/Attributes.h"
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
  /// dx from x, y and dy, as logical ops; null: no derivative.
  mlir::Value (*gradient)(mlir::OpBuilder &, mlir::Location, mlir::Value x,
                          mlir::Value y, mlir::Value dy);
};

struct BinaryInfo {
  BinaryKind kind;
  const char *onnxName;
  double flops;
  double (*evaluate)(double, double);
  int64_t (*evaluateInt)(int64_t, int64_t); ///< null: floats only
  /// Code on scalars or vectors, floats or signless integers.
  mlir::Value (*build)(mlir::OpBuilder &, mlir::Location, mlir::Value,
                       mlir::Value);
};

struct CompareInfo {
  CompareKind kind;
  const char *onnxName;
  mlir::Value (*build)(mlir::OpBuilder &, mlir::Location, mlir::Value,
                       mlir::Value);
};

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
/// Combines two scalars or vectors.
mlir::Value buildCombine(mlir::OpBuilder &, mlir::Location, ReduceKind kind,
                         mlir::Value, mlir::Value);

} // namespace cleave

#endif
