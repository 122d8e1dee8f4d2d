//===- Origins.h - which nodes make the values of a graph -----------------===//

#ifndef CLEAVE_FRONTEND_ORIGINS_H
#define CLEAVE_FRONTEND_ORIGINS_H

#include "frontend/Onnx.h"
#include "ir/Origin.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace cleave {

/// By value name: the nodes of a graph, bodies left out, that compute it. What
/// is known at compile time is computed by none.
llvm::StringMap<Origin> findOrigins(const onnx::GraphProto &graph,
                                    const llvm::StringMap<mlir::Value> &values);

/// The values that `patterns` name or match as globs, but for the graph's own
/// outputs, in the order of the nodes. A pattern that is none or matches
/// nothing is an error.
mlir::FailureOr<std::vector<std::string>>
findKept(mlir::Location loc, const onnx::GraphProto &graph,
         const llvm::StringMap<Origin> &origins,
         const std::vector<std::string> &patterns);

} // namespace cleave

#endif
