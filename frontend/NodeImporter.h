//===- NodeImporter.h - imports the nodes of graphs, bodies, functions ----===//
//
// A scope is the values of one graph by name. The body of a control-flow node
// has one of its own for each copy of it, which sees the scopes around it; that
// of a function sees nothing around it.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_NODEIMPORTER_H
#define CLEAVE_FRONTEND_NODEIMPORTER_H

#include "frontend/Load.h"
#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"
#include "frontend/Tensors.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace cleave {

/// "" for the standard domain, which has two spellings.
std::string getDomain(const onnx::NodeProto &node);

/// Tells all operators of the model that this build does not import, those in
/// bodies included, with their nodes, in one error.
[[nodiscard]] mlir::LogicalResult verifySupported(mlir::MLIRContext *context,
                                                  const LoadedModel &model,
                                                  const OperatorTable &table);

struct Scope {
  /// The scope around the body of a control-flow node.
  Scope *outer = nullptr;
  Opsets opsets;
  /// Where all nodes are said to be; none: each at its own name.
  std::optional<mlir::Location> loc;
  /// A null value is one whose node failed, after an error.
  llvm::StringMap<mlir::Value> values;
  /// Those that are no values yet.
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// Operands of a function that its caller left out.
  llvm::StringSet<> absent;
  /// Results that handlers do not build: what to say, and where, when one is
  /// read.
  llvm::StringMap<std::pair<mlir::Location, std::string>> unsupported;
};

class NodeImporter {
public:
  NodeImporter(mlir::OpBuilder &builder, const LoadedModel &model,
               const OperatorTable &table, TensorImporter &tensors)
      : builder(builder), model(model), table(table), tensors(tensors) {}

  /// Adds the values of all nodes and the initializers of a graph. An error in
  /// one node does not hide those of nodes that do not depend on it.
  [[nodiscard]] mlir::LogicalResult importNodes(const onnx::GraphProto &graph,
                                                Scope &scope);

  /// The value of a name; failure, after an error, when its node failed.
  mlir::FailureOr<mlir::Value> lookup(const std::string &name, Scope &scope);

  mlir::Location locate(llvm::StringRef name) const {
    return getNamedLoc(builder.getContext(), model.path, name);
  }

private:
  mlir::LogicalResult importNode(const onnx::NodeProto &node, Scope &scope);
  /// Operands of a node; null where one is left out.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  lookupOperands(const onnx::NodeProto &node, Scope &scope);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  importResults(const onnx::NodeProto &node,
                llvm::ArrayRef<mlir::Value> operands, Scope &scope,
                mlir::Location loc);
  /// The body of an operator that ONNX defines by others, at `loc`.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  importFunction(const onnx::FunctionProto &body,
                 llvm::ArrayRef<mlir::Value> operands, const Opsets &opsets,
                 mlir::Location loc);
  /// One copy of the body of a control-flow node.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  importBody(const onnx::GraphProto &body, llvm::ArrayRef<mlir::Value> operands,
             Scope &outer);
  mlir::FailureOr<mlir::Value>
  importInitializer(const onnx::TensorProto &tensor, Scope &scope);

  mlir::OpBuilder &builder;
  const LoadedModel &model;
  const OperatorTable &table;
  TensorImporter &tensors;
};

} // namespace cleave

#endif
