//===- ModelFacts.h - what a model file says of itself --------------------===//
//
// Read from the file alone, so also of a model whose dims are not bound, or
// that holds operators which are not imported.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_MODELFACTS_H
#define CLEAVE_FRONTEND_MODELFACTS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"

#include <map>
#include <string>
#include <vector>

namespace cleave {

struct ModelFacts {
  struct Tensor {
    std::string name, type;        ///< "f32"; what is no tensor is "?"
    std::vector<std::string> dims; ///< sizes, names, or "?"
    bool hasShape = true;
  };
  /// ONNX's own annotations for one number of devices.
  struct Configuration {
    std::string name;
    int64_t devices = 0;
    int64_t nodes = 0;  ///< of which it says something
    int64_t stages = 0; ///< that nodes are put in
  };
  int64_t irVersion = 0;
  std::map<std::string, int64_t> opsets; ///< by domain, the standard one is ""
  std::vector<Tensor> inputs, outputs;
  int64_t initializers = 0, initializerBytes = 0;
  /// Nodes by operator, "domain.Op" of other domains than the standard one;
  /// those in bodies count, and functions of the model are their nodes.
  std::map<std::string, int64_t> operators;
  std::vector<Configuration> configurations;

  /// Whether an input has a dim without a size.
  bool isOpen() const;
};

/// Fails after an error, as importModel does of a file that is no model.
mlir::FailureOr<ModelFacts> readModelFacts(mlir::MLIRContext *context,
                                           llvm::StringRef path);

} // namespace cleave

#endif
