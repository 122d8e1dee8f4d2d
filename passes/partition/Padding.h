//===- Padding.h - what the padding of uneven shards holds ----------------===//
//
// A dim of n elements over k ranks has chunks of equal size, so the last ranks
// hold padding behind what is valid. Elementwise work on padding does no harm;
// a reduction over the dim would add it up. This follows, op by op, what the
// padding holds, so that masks are made only where they are needed.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PARTITION_PADDING_H
#define CLEAVE_PASSES_PARTITION_PADDING_H

#include "ir/Cleave.h"

namespace cleave {

/// What the padding of one dim holds, from least to most known. An element of
/// it may be infinite or NaN in spite of the last two where the valid elements
/// at the same other coordinates are: whatever it spoils is spoilt already.
enum class Padding { Unknown, Finite, Zero };

struct PaddingFacts {
  llvm::SmallVector<Padding> dims;
  /// All elements, valid or not, are finite (weights are taken to be).
  bool isFinite = false;
};

/// What is read into a rank is padded with zeros.
PaddingFacts getZeroPadded(mlir::RankedTensorType type, bool isFinite);

/// What is known of the results of an op on padded operands.
llvm::SmallVector<PaddingFacts>
getPaddingFacts(mlir::Operation *op, const ShardingRule &rule,
                llvm::ArrayRef<PaddingFacts> operands);

/// An operand dim whose padding must hold `fill` before the op may run.
struct MaskNeed {
  int64_t operand;
  int64_t dim;
  double fill;
};

/// The masks that the op needs. `isPadded` says whether a dim of an operand has
/// padding on some rank.
llvm::SmallVector<MaskNeed>
getMaskNeeds(mlir::Operation *op, const ShardingRule &rule,
             llvm::ArrayRef<PaddingFacts> operands,
             llvm::function_ref<bool(int64_t operand, int64_t dim)> isPadded);

} // namespace cleave

#endif
