//===- Tensors.h - tensors of a model as constants and params -------------===//
//
// Small tensors and integer tables become `cleave.constant`; all other weights
// a `cleave.param` with the user's name, whose bytes stay in the file (values
// in forms that are not dense in the file travel with the param), and a
// `cleave.load`. The same value in raw, typed and external form reads the same.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_TENSORS_H
#define CLEAVE_FRONTEND_TENSORS_H

#include "frontend/Load.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace cleave {

/// Float tensors with at most this many elements are constants.
inline constexpr int64_t MaxConstantElements = 64;
/// Integer tensors (tables, shapes, masks) with at most this many are too.
inline constexpr int64_t MaxIntegerElements = 1 << 16;

class TensorImporter {
public:
  /// Params are placed before `anchor`, an op of the module's body.
  TensorImporter(mlir::ModuleOp module, mlir::Operation *anchor,
                 const LoadedModel &model, bool train)
      : model(model), anchor(anchor), symbols(module), train(train) {}
  /// See ImportOptions::train.
  bool isTraining() const { return train; }

  /// The tensor as a value at the builder's place; null after an error at
  /// `loc`.
  mlir::Value import(mlir::OpBuilder &builder, mlir::Location loc,
                     const onnx::TensorProto &tensor, llvm::StringRef name);
  /// The same for an initializer of the model, which may be trained.
  mlir::Value importInitializer(mlir::OpBuilder &builder, mlir::Location loc,
                                const onnx::TensorProto &tensor,
                                llvm::StringRef name);
  /// The elements of a tensor that is no param; null after an error at `loc`.
  mlir::DenseElementsAttr readElements(mlir::Location loc,
                                       const onnx::TensorProto &tensor);

private:
  mlir::Value importParam(mlir::OpBuilder &builder, mlir::Location loc,
                          const onnx::TensorProto &tensor,
                          mlir::RankedTensorType type, llvm::StringRef name,
                          bool frozen);

  const LoadedModel &model;
  mlir::Operation *anchor;
  mlir::SymbolTable symbols;
  /// Params by value and name: a body has one, however many copies of it.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::StringAttr>, mlir::StringAttr>
      params;
  bool train; ///< see ImportOptions
};

} // namespace cleave

#endif
