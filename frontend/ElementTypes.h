//===- ElementTypes.h - ONNX's element types as MLIR's --------------------===//

#ifndef CLEAVE_FRONTEND_ELEMENTTYPES_H
#define CLEAVE_FRONTEND_ELEMENTTYPES_H

#include "frontend/Onnx.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace cleave {

/// The MLIR type of a TensorProto.DataType; null when it is not supported.
/// Integers are signless, those without sign are unsigned; bool is i1.
mlir::Type getElementType(mlir::MLIRContext *context, int32_t onnxType);
/// The inverse; UNDEFINED for a type that ONNX lacks.
int32_t getOnnxType(mlir::Type type);
/// ONNX's own name of a type, for messages.
std::string getTypeName(int32_t onnxType);

/// Bytes of a tensor's dense data by its type and dims; none when the type has
/// no whole number of bytes an element, or the size overflows.
std::optional<uint64_t> getTensorBytes(const onnx::TensorProto &tensor);

} // namespace cleave

#endif
