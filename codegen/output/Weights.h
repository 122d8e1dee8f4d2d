//===- Weights.h - write each rank's part of the parameters ---------------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_WEIGHTS_H
#define CLEAVE_CODEGEN_OUTPUT_WEIGHTS_H

#include "codegen/RankModule.h"
#include "codegen/output/OutFolder.h"

namespace cleave {

/// For each rank the name of its weights file in OUT; empty: it has no state.
using RankWeights = llvm::SmallVector<std::string>;

/// Writes the shards of all ranks, one .safetensors file per distinct set of
/// shards, tensor by tensor from the mapped sources. What several buckets keep
/// is there once. Names are those of the states, shapes are local, padding is
/// zero.
mlir::FailureOr<RankWeights>
writeWeights(llvm::ArrayRef<RankModule> buckets, OutFolder &folder,
             llvm::function_ref<void(llvm::StringRef)> progress);

} // namespace cleave

#endif
