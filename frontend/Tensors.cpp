//===- Tensors.cpp - tensors of a model as constants and params -----------===//

#include "frontend/Tensors.h"

#include "frontend/ElementTypes.h"
#include "frontend/ExternalData.h"
#include "ir/Cleave.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;
using namespace mlir;

using Onnx = onnx::TensorProto;

//===-- Types -------------------------------------------------------------===//

/// The type of a tensor; null after an error.
static RankedTensorType getType(Location loc, const Onnx &tensor) {
  Type element = getElementType(loc.getContext(), tensor.data_type());
  if (!element) {
    emitError(loc) << "element type " << getTypeName(tensor.data_type())
                   << " is not supported";
    return nullptr;
  }
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) ||
      !getTensorBytes(tensor)) {
    emitError(loc) << "tensor has an impossible shape";
    return nullptr;
  }
  return RankedTensorType::get(shape, element);
}

//===-- Bytes -------------------------------------------------------------===//

template <typename To, typename From>
static void append(std::string &bytes, const From &values) {
  for (auto value : values) {
    char buffer[sizeof(To)];
    llvm::support::endian::write<To, llvm::endianness::little>(
        buffer, static_cast<To>(value));
    bytes.append(buffer, sizeof(To));
  }
}

/// Dense little-endian bytes of the typed fields. 16-bit floats are bit
/// patterns in int32_data, and so are 8- and 16-bit integers and bools.
static std::string encodeTyped(const Onnx &tensor) {
  std::string bytes;
  switch (tensor.data_type()) {
  case Onnx::FLOAT:
    append<float>(bytes, tensor.float_data());
    break;
  case Onnx::DOUBLE:
    append<double>(bytes, tensor.double_data());
    break;
  case Onnx::INT64:
    append<int64_t>(bytes, tensor.int64_data());
    break;
  case Onnx::UINT64:
    append<uint64_t>(bytes, tensor.uint64_data());
    break;
  case Onnx::UINT32:
    append<uint32_t>(bytes, tensor.uint64_data());
    break;
  case Onnx::INT32:
    append<int32_t>(bytes, tensor.int32_data());
    break;
  case Onnx::INT8:
  case Onnx::UINT8:
  case Onnx::BOOL:
    append<uint8_t>(bytes, tensor.int32_data());
    break;
  default:
    append<uint16_t>(bytes, tensor.int32_data());
  }
  return bytes;
}

/// All bytes of the tensor, in whatever form they are.
static FailureOr<std::string> readBytes(Location loc, const LoadedModel &model,
                                        const Onnx &tensor) {
  std::string bytes;
  if (isExternal(tensor)) {
    FileSlice slice = getFileSlice(model, tensor);
    auto buffer = llvm::MemoryBuffer::getFileSlice(slice.file, slice.length,
                                                   slice.offset);
    if (!buffer)
      return emitError(loc) << "cannot read '" << slice.file
                            << "': " << buffer.getError().message();
    bytes = (*buffer)->getBuffer().str();
  } else {
    bytes = tensor.has_raw_data() ? tensor.raw_data() : encodeTyped(tensor);
  }
  uint64_t expected = *getTensorBytes(tensor);
  if (bytes.size() != expected)
    return emitError(loc) << "data of the tensor has " << bytes.size()
                          << " bytes, its type and shape need " << expected;
  return bytes;
}

static DenseElementsAttr makeElements(RankedTensorType type,
                                      const std::string &bytes) {
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef<char>(bytes.data(), bytes.size()));
  SmallVector<bool> bits;
  for (char byte : bytes)
    bits.push_back(byte != 0);
  return DenseElementsAttr::get(type, bits);
}

DenseElementsAttr TensorImporter::readElements(Location loc,
                                               const Onnx &tensor) {
  RankedTensorType type = ::getType(loc, tensor);
  if (!type)
    return nullptr;
  FailureOr<std::string> bytes = readBytes(loc, model, tensor);
  return failed(bytes) ? nullptr : makeElements(type, *bytes);
}

//===-- Values ------------------------------------------------------------===//

Value TensorImporter::import(OpBuilder &builder, Location loc,
                             const Onnx &tensor, StringRef name) {
  RankedTensorType type = ::getType(loc, tensor);
  if (!type)
    return nullptr;
  bool isInteger = isa<IntegerType>(type.getElementType());
  int64_t limit = isInteger ? MaxIntegerElements : MaxConstantElements;
  if (type.getNumElements() > limit)
    return importParam(builder, loc, tensor, type, name, /*frozen=*/train);
  DenseElementsAttr elements = readElements(loc, tensor);
  if (!elements)
    return nullptr;
  return builder.create<ConstantOp>(loc, elements);
}

Value TensorImporter::importInitializer(OpBuilder &builder, Location loc,
                                        const Onnx &tensor, StringRef name) {
  RankedTensorType type = ::getType(loc, tensor);
  if (!type)
    return nullptr;
  bool isTrained =
      train && isa<FloatType>(type.getElementType()) && type.getRank() > 0;
  return isTrained ? importParam(builder, loc, tensor, type, name,
                                 /*frozen=*/false)
                   : import(builder, loc, tensor, name);
}

Value TensorImporter::importParam(OpBuilder &builder, Location loc,
                                  const Onnx &tensor, RankedTensorType type,
                                  StringRef name, bool frozen) {
  Attribute value;
  if (isExternal(tensor)) {
    FileSlice slice = getFileSlice(model, tensor);
    value = WeightsAttr::get(builder.getContext(), slice.file, slice.offset,
                             slice.length);
  } else if (!(value = readElements(loc, tensor))) {
    return nullptr;
  }
  StringAttr &symbol = params[{value, builder.getStringAttr(name)}];
  if (symbol)
    return builder.create<LoadOp>(loc, type, FlatSymbolRefAttr::get(symbol));
  OpBuilder detached(builder.getContext());
  auto param = detached.create<ParamOp>(loc, name, type, value,
                                        /*true_shape=*/DenseI64ArrayAttr(),
                                        /*sharding=*/ShardingAttr());
  param.setFrozen(frozen);
  symbol = symbols.insert(param, Block::iterator(anchor));
  return builder.create<LoadOp>(loc, type, FlatSymbolRefAttr::get(symbol));
}
