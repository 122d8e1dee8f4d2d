//===- Collectives.h - calls of collectives, sends and receives -----------===//

#ifndef CLEAVE_CODEGEN_HOST_COLLECTIVES_H
#define CLEAVE_CODEGEN_HOST_COLLECTIVES_H

#include "codegen/RankModule.h"
#include "codegen/host/StepBuilder.h"

namespace cleave {

/// Name of the user's node at a location, for traces and messages: the
/// innermost name, or file and line.
std::string getNodeName(mlir::Location loc);

bool isCollective(mlir::Operation *op);

/// Emits the call of a collective.
[[nodiscard]] mlir::LogicalResult
emitCollective(StepBuilder &step, const RankModule &ranks, mlir::Operation *op);

} // namespace cleave

#endif
