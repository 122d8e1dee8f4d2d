//===- BindDims.h - sizes for what a model leaves open --------------------===//
//
// Writes the sizes of `--bind` and `--shapes` into the types of the model's
// inputs. All dims that stay unbound are told in one error, each with the flag
// that binds it; so are flags that bind nothing.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_BINDDIMS_H
#define CLEAVE_FRONTEND_BINDDIMS_H

#include "frontend/Import.h"
#include "frontend/Load.h"

namespace cleave {

/// Size of each symbolic dim that is known.
using DimSizes = llvm::StringMap<int64_t>;

/// Inputs that the caller feeds: those that no initializer gives a value.
std::vector<const onnx::ValueInfoProto *>
getTrueInputs(const onnx::GraphProto &graph);

/// After success all inputs have static shapes, and `sizes` has what was bound.
[[nodiscard]] mlir::LogicalResult bindDims(mlir::MLIRContext *context,
                                           const ImportOptions &options,
                                           LoadedModel &model, DimSizes &sizes);

} // namespace cleave

#endif
