//===- Samples.h - which samples of a batch count -------------------------===//
//
// The first n of them: a run sets n, the setting "samples", for a batch that is
// not full. All count if it says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_TRAIN_SAMPLES_H
#define CLEAVE_PASSES_TRAIN_SAMPLES_H

#include "ir/LogicalBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave {

/// Samples of a batch, as the planner counts them: the size of dim 0 of the
/// first input that has one; 0 if there is none.
int64_t getBatch(mlir::func::FuncOp main);

/// Whether rows in dim 0 of `type` can be those of the samples of a batch, in
/// order: k rows a sample.
bool hasSamples(mlir::RankedTensorType type, int64_t batch);

/// Elements of values of one type, and which of them count.
class Samples {
public:
  /// All count where the type has no samples.
  Samples(LogicalBuilder &b, mlir::ModuleOp module, mlir::RankedTensorType type,
          int64_t batch);

  /// `other` where an element does not count.
  mlir::Value select(mlir::Value x, double other);
  /// Over all elements that count.
  mlir::Value getMean(mlir::Value x);

private:
  LogicalBuilder &b;
  int64_t batch;
  mlir::Value count, mask; ///< null: all count
};

} // namespace cleave

#endif
