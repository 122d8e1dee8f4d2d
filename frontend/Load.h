//===- Load.h - read, check and normalise a model file --------------------===//
//
// From a file to a model that the importer can walk without surprise: weights
// are references to files, versions are known, value names are unique, nodes
// are in order, and calls of the model's own functions are inlined. ONNX's
// checker is a step of its own: it stops at the first operator that it does not
// know, so the importer first tells all that it does not support.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_LOAD_H
#define CLEAVE_FRONTEND_LOAD_H

#include "frontend/Onnx.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace cleave {

/// Unique names of the nodes of a graph: that of the node, or its first output
/// where it has none or shares it with others.
class NodeNames {
public:
  explicit NodeNames(const onnx::GraphProto &graph);
  const std::string &get(const onnx::NodeProto &node) const;

private:
  llvm::StringMap<int64_t> uses;
};

/// Gives nodes of a graph that share a name the names of NodeNames.
void makeNodeNamesUnique(onnx::GraphProto &graph);

/// Operator set version by domain; the standard domain is "".
using Opsets = llvm::StringMap<int64_t>;

struct LoadedModel {
  onnx::ModelProto proto;
  std::string path; ///< absolute
  /// Files with tensor data; external_data's location "#i" is file i, and file
  /// 0 the model itself.
  std::vector<std::string> files;
  Opsets opsets;
};

Opsets getOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list);

/// Location of the file as a whole.
mlir::Location getFileLoc(mlir::MLIRContext *context, llvm::StringRef path);
/// Location of a named thing (node, tensor, input) in the file.
mlir::Location getNamedLoc(mlir::MLIRContext *context, llvm::StringRef path,
                           llvm::StringRef name);

/// Reads and parses the file; resolves external data; checks versions; inlines
/// functions; sorts nodes.
[[nodiscard]] mlir::LogicalResult
loadModel(mlir::MLIRContext *context, llvm::StringRef path, LoadedModel &model);
/// Reads the file as it is, weights included.
[[nodiscard]] mlir::LogicalResult readWholeModel(mlir::Location loc,
                                                 llvm::StringRef path,
                                                 onnx::ModelProto &proto);
/// Runs ONNX's checker. Reads no tensor data.
[[nodiscard]] mlir::LogicalResult checkModel(mlir::MLIRContext *context,
                                             const LoadedModel &model);

} // namespace cleave

#endif
