//===- TrainedModel.h - a model with other weights ------------------------===//

#ifndef CLEAVE_FRONTEND_TRAINEDMODEL_H
#define CLEAVE_FRONTEND_TRAINEDMODEL_H

#include "frontend/ExternalData.h"

#include <vector>

namespace cleave {

/// A whole tensor in a file.
struct StoredTensor {
  std::string name;
  int32_t type; ///< TensorProto.DataType
  std::vector<int64_t> dims;
  FileSlice data;
};

/// What replaceWeights gives.
struct TrainedModel {
  std::string bytes; ///< the ModelProto
  /// What its external data consists of, in order, from multiples of
  /// ExternalAlignment on; empty: it has none.
  std::vector<FileSlice> data;
};

/// Bytes.
inline constexpr uint64_t ExternalAlignment = 64;

/// The model of the file with `weights` in place of its own initializers of
/// those names. Data that lay in the model lie in it again; all external data
/// are to be written to one file, `location`. Reads weights of the former kind
/// only. Tensors of Constant nodes, which are states of a compiled program but
/// are never trained, stay. Another weight that is no initializer of the model,
/// or is of another type or shape, is an error; all of them are told.
[[nodiscard]] mlir::FailureOr<TrainedModel>
replaceWeights(mlir::MLIRContext *context, llvm::StringRef modelPath,
               llvm::ArrayRef<StoredTensor> weights,
               const std::string &location);

} // namespace cleave

#endif
