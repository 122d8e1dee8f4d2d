//===- NodeContext.h - one node while it is imported ----------------------===//
//
// What a handler sees of its node: operands by position, attributes by name,
// and a builder. Reads are recorded: an operand or attribute that a handler did
// not read is one that it does not support, and that is an error of its own.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_NODECONTEXT_H
#define CLEAVE_FRONTEND_NODECONTEXT_H

#include "frontend/Onnx.h"
#include "frontend/TensorBuilder.h"
#include "frontend/Tensors.h"
#include "llvm/ADT/SmallBitVector.h"

#include <functional>
#include <optional>

namespace cleave {

/// Adds one copy of a body to the program, given the values of its inputs;
/// gives those of its outputs.
using BodyImporter =
    std::function<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(
        const onnx::GraphProto &, llvm::ArrayRef<mlir::Value>)>;

class NodeContext : public TensorBuilder {
public:
  /// `operands` has one entry per input of the node; null where it is left out.
  NodeContext(mlir::OpBuilder &builder, mlir::Location loc,
              const onnx::NodeProto &node, llvm::ArrayRef<mlir::Value> operands,
              TensorImporter &tensors, BodyImporter bodyImporter);

  const onnx::NodeProto &getNode() const { return node; }
  unsigned getNumResults() const { return node.output_size(); }
  /// Whether somebody may use result i.
  bool hasResult(unsigned i) const {
    return i < getNumResults() && !node.output(i).empty();
  }

  //===-- Operands --------------------------------------------------------===//

  unsigned getNumOperands() const { return operands.size(); }
  bool hasOperand(unsigned i) const {
    return i < operands.size() && operands[i];
  }
  /// Operand i; null after an error when it is left out.
  mlir::Value getOperand(unsigned i);
  /// All operands; empty after an error when one is left out.
  llvm::SmallVector<mlir::Value> getOperands();
  /// Marks operand i as known and without effect.
  void ignoreOperand(unsigned i);
  /// Elements of integer operand i, which must be constant. `what` names it.
  mlir::FailureOr<Shape> getConstantInts(unsigned i, llvm::StringRef what);
  /// The one element of operand i, which must be constant.
  mlir::FailureOr<double> getConstantScalar(unsigned i, llvm::StringRef what);
  /// Elements of float operand i, which must be constant.
  mlir::FailureOr<llvm::SmallVector<double>>
  getConstantFloats(unsigned i, llvm::StringRef what);
  /// "'x' [2, 3] from node 'n'", for messages.
  std::string describe(unsigned i);

  //===-- Attributes ------------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  double getFloat(llvm::StringRef name, double otherwise);
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<Shape> getInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> getFloats(llvm::StringRef name);
  /// A tensor attribute; null when absent or after an error.
  const onnx::TensorProto *getTensor(llvm::StringRef name);
  const onnx::AttributeProto *getAttribute(llvm::StringRef name);
  /// Marks an attribute as known and without effect.
  void ignoreAttribute(llvm::StringRef name) { (void)getAttribute(name); }
  /// Adds a copy of the body that is attribute `name`. The values of its inputs
  /// are as many as it has, or that is an error.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  importBody(llvm::StringRef name, llvm::ArrayRef<mlir::Value> inputs);
  /// Integer attribute that must have this value (its default too).
  mlir::LogicalResult requireInt(llvm::StringRef name, int64_t value);

  /// A list of sizes, axes or the like: attribute `name`, or operand i in newer
  /// opsets. None when neither is there; failure after an error.
  mlir::FailureOr<std::optional<Shape>> getList(unsigned i,
                                                llvm::StringRef name);

  /// Axis in [0, rank) from one in [-rank, rank).
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// The same for a list; sorted, without duplicates.
  mlir::FailureOr<Shape> normalizeAxes(llvm::ArrayRef<int64_t> axes,
                                       int64_t rank);

  //===-- Results ---------------------------------------------------------===//

  /// Sets the first results. Fails when one is null.
  mlir::LogicalResult setResults(llvm::ArrayRef<mlir::Value> values);
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }
  /// Fails when the handler passed over an operand or attribute.
  mlir::LogicalResult verifyAllRead();

  TensorImporter &getTensors() { return tensors; }
  mlir::OpBuilder &getBuilder() { return builder; }

private:
  const onnx::NodeProto &node;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Value> results;
  TensorImporter &tensors;
  BodyImporter bodyImporter;
  llvm::SmallBitVector readOperands, readAttributes;
};

} // namespace cleave

#endif
