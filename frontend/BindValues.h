//===- BindValues.h - inputs that are constants ---------------------------===//

#ifndef CLEAVE_FRONTEND_BINDVALUES_H
#define CLEAVE_FRONTEND_BINDVALUES_H

#include "frontend/Import.h"
#include "frontend/Load.h"

namespace cleave {

/// Makes a node Constant of each input that the options give a value.
[[nodiscard]] mlir::LogicalResult bindValues(mlir::MLIRContext *context,
                                             const ImportOptions &options,
                                             LoadedModel &model);

} // namespace cleave

#endif
