//===- Import.h - from an ONNX file to a logical program ------------------===//
//
// The entry of this room. The result is a module with a `cleave.param` per
// large weight (named by the user's tensor, bytes left in the file) and
// `func.func
// @main`, whose arguments and results carry `cleave.name`; results also carry
// the node that makes them (ir/Origin.h). All shapes are static: symbolic dims
// are bound here, and shape arithmetic has folded away.
// The model's sharding annotations go along as data (ir/Annotations.h).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_IMPORT_H
#define CLEAVE_FRONTEND_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace cleave {

/// Sizes for what the model leaves open.
struct ImportOptions {
  /// Symbolic dim -> size (`--bind batch=8`).
  std::map<std::string, int64_t> bindings;
  /// Input -> whole shape (`--shapes x:8x128`), for dims without a usable name.
  std::map<std::string, llvm::SmallVector<int64_t>> shapes;
  /// Input -> numbers (`--value axes=0,2`): it is a constant, no input.
  std::map<std::string, llvm::SmallVector<std::string>> values;
  /// Every float initializer of rank 1 or more is a param, however small.
  /// Scalars stay constants: exporters write the numbers of a formula that way.
  bool train = false;
  /// Of several configurations of the model's annotations, the one to read;
  /// empty: all.
  std::string configuration;
  bool ignoresAnnotations = false;
  /// Globs of values that become outputs, behind the model's own (`--keep`).
  std::vector<std::string> kept;
  /// Note the names and shapes of the model's tensors, for a plan that will be
  /// written as annotations.
  bool keepsTensors = false;
};

/// Parses the value of `--bind`, NAME=SIZE. On failure `error` says why.
[[nodiscard]] mlir::LogicalResult
parseBinding(llvm::StringRef text, ImportOptions &options, std::string &error);
/// Parses the value of `--shapes`, INPUT:8x128 (the last colon splits; nothing
/// after it is a scalar). On failure `error` says why.
[[nodiscard]] mlir::LogicalResult
parseShape(llvm::StringRef text, ImportOptions &options, std::string &error);
/// Parses the value of `--value`, INPUT=1,2 (the last equal sign splits;
/// nothing after it is no number). On failure `error` says why.
[[nodiscard]] mlir::LogicalResult
parseValue(llvm::StringRef text, ImportOptions &options, std::string &error);

/// Reads `path` (.onnx; .onnxtxt is ONNX's text syntax). Every failure has at
/// least one diagnostic, located at the model file and, where there is one, the
/// node (a NameLoc over a FileLineColLoc).
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, llvm::StringRef path,
            const ImportOptions &options = {});

} // namespace cleave

#endif
