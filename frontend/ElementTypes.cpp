//===- ElementTypes.cpp - ONNX's element types as MLIR's ------------------===//

#include "frontend/ElementTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace mlir;

using Onnx = onnx::TensorProto;

namespace {
/// One row per supported type; the MLIR type is made on demand.
struct Row {
  int32_t onnxType;
  unsigned bytes;
  Type (*make)(MLIRContext *);
};
} // namespace

template <unsigned width, IntegerType::SignednessSemantics sign>
static Type makeInteger(MLIRContext *context) {
  return IntegerType::get(context, width, sign);
}
template <typename FloatTy> static Type makeFloat(MLIRContext *context) {
  return FloatTy::get(context);
}

static const Row rows[] = {
    {Onnx::FLOAT, 4, makeFloat<Float32Type>},
    {Onnx::DOUBLE, 8, makeFloat<Float64Type>},
    {Onnx::FLOAT16, 2, makeFloat<Float16Type>},
    {Onnx::BFLOAT16, 2, makeFloat<BFloat16Type>},
    {Onnx::BOOL, 1, makeInteger<1, IntegerType::Signless>},
    {Onnx::INT8, 1, makeInteger<8, IntegerType::Signless>},
    {Onnx::INT16, 2, makeInteger<16, IntegerType::Signless>},
    {Onnx::INT32, 4, makeInteger<32, IntegerType::Signless>},
    {Onnx::INT64, 8, makeInteger<64, IntegerType::Signless>},
    {Onnx::UINT8, 1, makeInteger<8, IntegerType::Unsigned>},
    {Onnx::UINT16, 2, makeInteger<16, IntegerType::Unsigned>},
    {Onnx::UINT32, 4, makeInteger<32, IntegerType::Unsigned>},
    {Onnx::UINT64, 8, makeInteger<64, IntegerType::Unsigned>},
};

static const Row *findRow(int32_t onnxType) {
  const Row *row =
      llvm::find_if(rows, [&](const Row &r) { return r.onnxType == onnxType; });
  return row == std::end(rows) ? nullptr : row;
}

Type cleave::getElementType(MLIRContext *context, int32_t onnxType) {
  const Row *row = findRow(onnxType);
  return row ? row->make(context) : Type();
}

int32_t cleave::getOnnxType(Type type) {
  for (const Row &row : rows)
    if (row.make(type.getContext()) == type)
      return row.onnxType;
  return Onnx::UNDEFINED;
}

std::string cleave::getTypeName(int32_t onnxType) {
  if (Onnx::DataType_IsValid(onnxType))
    return Onnx::DataType_Name(static_cast<Onnx::DataType>(onnxType));
  return "number " + std::to_string(onnxType);
}

std::optional<uint64_t>
cleave::getTensorBytes(const onnx::TensorProto &tensor) {
  const Row *row = findRow(tensor.data_type());
  if (!row)
    return std::nullopt;
  uint64_t bytes = row->bytes;
  bool overflows = false;
  for (int64_t size : tensor.dims()) {
    if (size < 0)
      return std::nullopt;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size, &overflows);
    if (overflows)
      return std::nullopt;
  }
  return bytes;
}
