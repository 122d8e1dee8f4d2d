//===- GraphImporter.h - from a checked model to @main --------------------===//

#ifndef CLEAVE_FRONTEND_GRAPHIMPORTER_H
#define CLEAVE_FRONTEND_GRAPHIMPORTER_H

#include "frontend/BindDims.h"
#include "frontend/Load.h"
#include "frontend/OperatorTable.h"
#include "mlir/IR/BuiltinOps.h"

namespace cleave {

/// Fills `module` with the model's params, function and annotations. An error
/// in one node does not hide those of nodes that do not depend on it.
[[nodiscard]] mlir::LogicalResult importGraph(mlir::ModuleOp module,
                                              const LoadedModel &model,
                                              const OperatorTable &table,
                                              const DimSizes &sizes,
                                              const ImportOptions &options);

} // namespace cleave

#endif
