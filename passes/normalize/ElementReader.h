//===- ElementReader.h - single elements of constant expressions ----------===//
#ifndef CLEAVE_PASSES_NORMALIZE_ELEMENTREADER_H
#define CLEAVE_PASSES_NORMALIZE_ELEMENTREADER_H

#include "mlir/IR/Value.h"

#include <optional>

namespace cleave {

/// The element of `value` at `index`, when it follows from constants alone:
/// through elementwise ops, comparisons, selections and movements. None when it
/// depends on an input or a weight.
std::optional<double> readElement(mlir::Value value,
                                  llvm::ArrayRef<int64_t> index);

/// Whether `value` follows from constants alone, as far as readElement sees.
bool isReadable(mlir::Value value);

} // namespace cleave

#endif
