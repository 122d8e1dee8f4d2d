//===- RowOps.h - what the ops of row kernels mean ------------------------===//
//
// A row kernel holds ops that need sums or maxima over the rows of one domain:
// norms, softmax, cross-entropy. What they compute is here; how a row is folded
// and what of it is kept between passes is the target's.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_ROWOPS_H
#define CLEAVE_CODEGEN_KERNELS_ROWOPS_H

#include "codegen/kernels/Template.h"

namespace cleave {

class RowOps {
protected:
  using Values = Code::Values;
  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  using Term = llvm::function_ref<mlir::Value(Frame &)>;

  RowOps(Template &kernel, int64_t lanes)
      : kernel(kernel), code(kernel.code),
        evaluator(kernel.makeEvaluator(lanes)) {
    evaluator.hook = [this](mlir::Value value, Frame &frame) {
      return finish(value, frame);
    };
  }
  virtual ~RowOps() = default;

  /// Finds the row ops and their domain; then its rows in memory.
  [[nodiscard]] mlir::LogicalResult findRows();
  void findGroups();
  /// Computes what the values of a row op need, for the current row.
  void addStatistics(mlir::Operation *op);

  /// Folds `term` over the row, starting from `neutral`; the result in all
  /// lanes.
  virtual mlir::Value fold(double neutral, mlir::Type element, Term term,
                           Combine combine) = 0;
  /// Memory in which a pass that evaluates x may keep it; none: it is evaluated
  /// again.
  virtual std::optional<View> keep(mlir::Value x) { return std::nullopt; }
  /// The same for the exponentials of a softmax, and for scaled gradients.
  virtual std::optional<View> keepPowers(mlir::Type element) {
    return std::nullopt;
  }

  Frame makeFrame(llvm::ArrayRef<Index> rowPoint, mlir::Value mask);
  mlir::Value sumRow(mlir::Type element, Term term);

  Template &kernel;
  Code &code;
  Evaluator evaluator;

  llvm::SmallVector<int64_t> shape;     ///< of the domain
  llvm::SmallVector<int64_t> outerDims; ///< dims that number the rows
  llvm::SmallVector<int64_t> rowDims;
  llvm::SmallVector<Group> outer, row; ///< row is never empty
  llvm::SmallVector<Index> origin;     ///< first element of the current row
  llvm::SmallVector<mlir::Operation *> ops; ///< row ops, in order
  llvm::DenseMap<mlir::Value, View> kept;

private:
  /// Mean (rms: what it is of) and 1 / sqrt(variance + epsilon) of x.
  Values addMoments(mlir::Value x, NormKind kind, const llvm::APFloat &epsilon);
  void addNormGrad(NormGradOp op);
  mlir::Value normalize(mlir::Value x, NormKind kind, const Values &moments,
                        Frame &frame);
  /// The gradient times the scale, kept or computed.
  mlir::Value getScaledGradient(NormGradOp op, Frame &frame);
  mlir::Value meanRow(mlir::Value x);
  /// Largest value and sum of exponentials; keeps these if told to.
  void addSoftmax(mlir::Operation *op, mlir::Value x, bool keepExponentials);
  mlir::Value buildPower(mlir::Value x, mlir::Value largest, Frame &frame);
  /// The exponential of a softmax at a point, kept or computed.
  mlir::Value getPower(mlir::Operation *op, mlir::Value x, Frame &frame);
  mlir::Value mulBy(mlir::Value x, double factor);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);

  mlir::Value finish(mlir::Value value, Frame &frame);
  mlir::Value finish(NormOp op, Frame &frame);
  mlir::Value finish(NormGradOp op, Frame &frame);
  mlir::Value finish(SoftmaxOp op, Frame &frame);
  mlir::Value finish(CrossEntropyOp op, Frame &frame);
  mlir::Value finish(CrossEntropyGradOp op, Frame &frame);
  mlir::Value finishLabel(mlir::Value labels, Frame &frame, int64_t ignore,
                          mlir::Value &ignored);

  llvm::DenseMap<mlir::Operation *, View> exponentials, scaledGradients;
  llvm::DenseMap<mlir::Operation *, Values> statistics;
};

} // namespace cleave

#endif
