//===- Collectives.h - calls of collectives, sends and receives -----------===//

#ifndef CLEAVE_CODEGEN_CPU_COLLECTIVES_H
#define CLEAVE_CODEGEN_CPU_COLLECTIVES_H

#include "codegen/RankModule.h"
#include "codegen/cpu/StepBuilder.h"

namespace cleave {

/// Name of the user's node at a location, for traces and messages: the
/// innermost name, or file and line.
std::string getNodeName(mlir::Location loc);

bool isCollective(mlir::Operation *op);

/// Bytes of workspace that the call of a collective needs.
int64_t getWorkspaceBytes(mlir::Operation *op);

/// Emits the call of a collective; its workspace is in the arena at
/// `workspace`.
[[nodiscard]] mlir::LogicalResult emitCollective(StepBuilder &step,
                                                 const RankModule &ranks,
                                                 mlir::Operation *op,
                                                 int64_t workspace);

} // namespace cleave

#endif
