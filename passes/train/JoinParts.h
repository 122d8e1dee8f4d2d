//===- JoinParts.h - sum gradients that came from parts of a value --------===//
//
// Slices of one value, as of queries, keys and values that a model computes
// together, give gradients that are zero around their part. Those that lie next
// to each other are joined instead of summed.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_TRAIN_JOINPARTS_H
#define CLEAVE_PASSES_TRAIN_JOINPARTS_H

#include "mlir/IR/Builders.h"

namespace cleave {

/// The sum of `parts`, which have one type; there is at least one.
mlir::Value buildSum(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::ArrayRef<mlir::Value> parts);

} // namespace cleave

#endif
