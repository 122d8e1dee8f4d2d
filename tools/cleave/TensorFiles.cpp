//===- TensorFiles.cpp - tables of .safetensors files ---------------------===//
//
// Format: 8 bytes, the length of a JSON header, the header, the data:
// https://huggingface.co/docs/safetensors. Several files of one model have an
// index that says in which each tensor is.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/TensorFiles.h"

#include "frontend/ElementTypes.h"
#include "passes/plan/Json.h"
#include "tools/cleave/Manifest.h"
#include "tools/cleave/Messages.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace cleave;
using llvm::json::Object;
using llvm::json::Value;

static constexpr uint64_t kLengthBytes = 8;

std::optional<Object> cleave::readTensorHeader(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    printError("cannot read '" + path + "': " + buffer.getError().message());
    return std::nullopt;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  uint64_t length = bytes.size() < kLengthBytes
                        ? bytes.size()
                        : llvm::support::endian::read64le(bytes.data());
  if (bytes.size() < kLengthBytes || length > bytes.size() - kLengthBytes) {
    printError("'" + path + "' is no safetensors file: its header is cut off");
    return std::nullopt;
  }
  llvm::Expected<Value> header = parseJson(bytes.substr(kLengthBytes, length));
  if (!header || !header->getAsObject()) {
    printError("'" + path + "' is no safetensors file: " +
               (header ? "its header is no object"
                       : llvm::toString(header.takeError())));
    return std::nullopt;
  }
  return std::move(*header->getAsObject());
}

/// UNDEFINED for what ONNX lacks.
static int32_t getOnnxType(llvm::StringRef dtype) {
  return llvm::StringSwitch<int32_t>(dtype)
      .Case("F64", onnx::TensorProto::DOUBLE)
      .Case("F32", onnx::TensorProto::FLOAT)
      .Case("F16", onnx::TensorProto::FLOAT16)
      .Case("BF16", onnx::TensorProto::BFLOAT16)
      .Case("I64", onnx::TensorProto::INT64)
      .Case("I32", onnx::TensorProto::INT32)
      .Case("I16", onnx::TensorProto::INT16)
      .Case("I8", onnx::TensorProto::INT8)
      .Case("U64", onnx::TensorProto::UINT64)
      .Case("U32", onnx::TensorProto::UINT32)
      .Case("U16", onnx::TensorProto::UINT16)
      .Case("U8", onnx::TensorProto::UINT8)
      .Case("BOOL", onnx::TensorProto::BOOL)
      .Default(onnx::TensorProto::UNDEFINED);
}

namespace {
/// Numbers of a JSON list; `fits` is false when one is none.
struct Numbers {
  std::vector<int64_t> values;
  bool fits = true;

  explicit Numbers(const llvm::json::Array *list) : fits(list) {
    for (const Value &value : list ? *list : llvm::json::Array()) {
      std::optional<int64_t> number = value.getAsInteger();
      fits &= number && *number >= 0;
      values.push_back(number.value_or(0));
    }
  }
};
} // namespace

/// `start` is the byte where the data of the file begin, `size` that behind.
static std::optional<StoredTensor> parseEntry(llvm::StringRef name,
                                              const Object *entry,
                                              const std::string &path,
                                              uint64_t start, uint64_t size) {
  Numbers dims(entry ? entry->getArray("shape") : nullptr);
  Numbers offsets(entry ? entry->getArray("data_offsets") : nullptr);
  int32_t type =
      getOnnxType(entry ? entry->getString("dtype").value_or("") : "");
  if (!dims.fits || !offsets.fits || offsets.values.size() != 2 ||
      type == onnx::TensorProto::UNDEFINED)
    return std::nullopt;
  uint64_t first = offsets.values[0], last = offsets.values[1];
  onnx::TensorProto tensor;
  tensor.set_data_type(type);
  for (int64_t dim : dims.values)
    tensor.add_dims(dim);
  if (first > last || last > size - start ||
      getTensorBytes(tensor) != last - first)
    return std::nullopt;
  return StoredTensor{
      name.str(), type, dims.values, {path, start + first, last - first}};
}

/// Adds the tensors of a file.
static bool readTensors(const std::string &path,
                        std::vector<StoredTensor> &tensors) {
  std::optional<Object> header = readTensorHeader(path);
  if (!header)
    return false;
  auto head = llvm::MemoryBuffer::getFileSlice(path, kLengthBytes, 0);
  uint64_t size = 0;
  if (!head || llvm::sys::fs::file_size(path, size)) {
    printError("cannot read '" + path + "'");
    return false;
  }
  uint64_t start =
      kLengthBytes + llvm::support::endian::read64le((*head)->getBufferStart());
  for (const auto &[name, value] : *header) {
    if (name == "__metadata__")
      continue;
    std::optional<StoredTensor> tensor =
        parseEntry(name, value.getAsObject(), path, start, size);
    if (!tensor) {
      printError("'" + path + "' says of '" + name.str() +
                 "' what no tensor in it can be");
      return false;
    }
    tensors.push_back(std::move(*tensor));
  }
  return true;
}

std::optional<std::vector<StoredTensor>>
cleave::readStoredTensors(const std::string &folder) {
  std::set<std::string> files;
  std::string index = folder + "/model.safetensors.index.json";
  if (!llvm::sys::fs::exists(index)) {
    files.insert("model.safetensors");
  } else {
    std::optional<Object> json = readJson(index);
    if (!json)
      return std::nullopt;
    const Object *map = json->getObject("weight_map");
    for (const auto &entry : map ? *map : Object())
      files.insert(entry.second.getAsString().value_or("").str());
  }
  std::vector<StoredTensor> tensors;
  for (const std::string &file : files)
    if (!readTensors((llvm::Twine(folder) + "/" + file).str(), tensors))
      return std::nullopt;
  llvm::sort(tensors, [](const StoredTensor &a, const StoredTensor &b) {
    return a.name < b.name;
  });
  return tensors;
}
