//===- ExternalData.h - tensor data that lies in files --------------------===//
//
// External data is located relative to the folder of the model, and refused
// outside it (links are followed first). After `resolveExternalData` every such
// tensor says "#i" for file i of the model, a checked offset and a length that
// fits its type.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_EXTERNALDATA_H
#define CLEAVE_FRONTEND_EXTERNALDATA_H

#include "frontend/Load.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cleave {

/// Dense little-endian bytes in a file.
struct FileSlice {
  std::string file; ///< absolute path
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// Called with a tensor and its name; that of a node's attribute is the node's.
using TensorVisitor = llvm::function_ref<mlir::LogicalResult(
    onnx::TensorProto &, llvm::StringRef name)>;

/// Visits the tensors of all graphs and functions, until one fails.
[[nodiscard]] mlir::LogicalResult visitTensors(onnx::ModelProto &model,
                                               TensorVisitor visit);

/// Checks and rewrites the external data of all tensors of the model.
[[nodiscard]] mlir::LogicalResult
resolveExternalData(mlir::MLIRContext *context, LoadedModel &model);

bool isExternal(const onnx::TensorProto &tensor);
/// Says where the data of an external tensor lies; here `file` is a location.
void setExternalData(onnx::TensorProto &tensor, const FileSlice &slice);
/// Where the data of an external tensor lies, after `resolveExternalData`.
FileSlice getFileSlice(const LoadedModel &model,
                       const onnx::TensorProto &tensor);

} // namespace cleave

#endif
