//===- TensorBuilder.h - builds cleave ops, and folds shape arithmetic ----===//
//
// What operator handlers build with. A null value stands for an error that has
// been reported: every function here passes it on, so that handlers need not
// look after each step. Integer results (shapes, indices), small tables and
// splats are folded at once; larger values stay ops.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_TENSORBUILDER_H
#define CLEAVE_FRONTEND_TENSORBUILDER_H

#include "ir/Cleave.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace cleave {

using Shape = llvm::SmallVector<int64_t>;

/// The type of a value of this dialect.
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
  return getTensorType(value).getShape();
}
inline mlir::Type getElement(mlir::Value value) {
  return getTensorType(value).getElementType();
}
inline bool isFloat(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(getElement(value));
}
/// The elements of a constant; null when `value` is none.
mlir::DenseElementsAttr getConstant(mlir::Value value);
/// "[2, 3]".
std::string formatShape(llvm::ArrayRef<int64_t> shape);
/// 0, 1, ... count - 1.
Shape getIota(int64_t count);
/// The product of sizes; the largest number where it is larger.
int64_t getProduct(llvm::ArrayRef<int64_t> sizes);
/// The shape that numpy's rules broadcast all shapes to.
mlir::FailureOr<Shape>
getCommonShape(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Fails with a diagnostic when no address space can hold a tensor of the type.
/// Sizes of what fits are multiplied and added up without a look at overflow.
[[nodiscard]] mlir::LogicalResult verifyFitsMemory(mlir::Location loc,
                                                   mlir::Type type);

class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::MLIRContext *getContext() const { return builder.getContext(); }
  mlir::Location getLoc() const { return loc; }
  mlir::InFlightDiagnostic emitError() { return mlir::emitError(loc); }

  /// Creates an op of one result with the arguments of its build method. A null
  /// `type` is inferred. Types and the op are verified.
  template <typename OpTy, typename... Args>
  mlir::Value create(mlir::RankedTensorType type, Args &&...args) {
    mlir::OperationState state(loc, OpTy::getOperationName());
    OpTy::build(builder, state, mlir::Type(type), std::forward<Args>(args)...);
    return finish(state);
  }

  mlir::Value constant(mlir::DenseElementsAttr elements);
  /// A rank-1 i64 constant.
  mlir::Value constant(llvm::ArrayRef<int64_t> values);
  /// A constant of one value.
  mlir::Value splat(mlir::RankedTensorType type, double value);
  /// A splat of the type of `like`.
  mlir::Value splat(mlir::Value like, double value);

  mlir::Value unary(UnaryKind kind, mlir::Value x);
  /// The operands have one element type; shapes broadcast.
  mlir::Value binary(BinaryKind kind, mlir::Value x, mlir::Value y);
  mlir::Value binary(BinaryKind kind, mlir::Value x, double y);
  mlir::Value compare(CompareKind kind, mlir::Value x, mlir::Value y);
  mlir::Value compare(CompareKind kind, mlir::Value x, double y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value cast(mlir::Value x, mlir::Type element);

  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm);
  /// Numpy's rule: trailing dims are matched.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  /// Operand dim i becomes dim dims[i].
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dims);
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides);
  /// `size` elements from `start` on of one dim.
  mlir::Value sliceDim(mlir::Value x, int64_t dim, int64_t start, int64_t size);
  mlir::Value pad(mlir::Value x, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double value);
  mlir::Value concat(mlir::ValueRange values, int64_t dim);
  mlir::Value gather(mlir::Value x, mlir::Value indices, int64_t dim,
                     int64_t batchDims = 0);
  mlir::Value iota(mlir::RankedTensorType type, int64_t dim);

  mlir::Value reduce(ReduceKind kind, mlir::Value x,
                     llvm::ArrayRef<int64_t> dims, bool keepDims = false);
  /// The mean over dims: sum times the reciprocal count; integers divide.
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                   bool keepDims = false);
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs,
                  llvm::ArrayRef<int64_t> lhsBatch,
                  llvm::ArrayRef<int64_t> rhsBatch,
                  llvm::ArrayRef<int64_t> lhsContract,
                  llvm::ArrayRef<int64_t> rhsContract);
  mlir::Value softmax(mlir::Value x, int64_t dim, bool log);

protected:
  mlir::OpBuilder &builder;

private:
  /// Infers what is missing, creates, verifies, folds.
  mlir::Value finish(mlir::OperationState &state);
  /// Broadcasts both to their common shape.
  mlir::LogicalResult unify(mlir::Value &x, mlir::Value &y);

  mlir::Location loc;
};

} // namespace cleave

#endif
