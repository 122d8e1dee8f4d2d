//===- OnnxTensor.cpp - a serialized onnx.TensorProto ---------------------===//
//
// Walks the protobuf wire format by hand: a tensor has few fields, and the
// runtime has no protobuf. Raw and typed data give the same values; data in
// another file is refused.
//
//===----------------------------------------------------------------------===//

#include "runtime/arrays/Formats.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"

#include <cstring>

namespace cleave::rt {

namespace {
/// Field numbers of onnx.TensorProto.
enum Field {
  Dims = 1,
  DataType = 2,
  FloatData = 4,
  Int32Data = 5,
  StringData = 6,
  Int64Data = 7,
  Name = 8,
  RawData = 9,
  DoubleData = 10,
  Uint64Data = 11,
  DataLocation = 14,
};
enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// Reads protobuf values from a range of bytes.
class WireReader {
public:
  WireReader(std::span<const std::byte> bytes, const std::string &where)
      : bytes(bytes), where(where) {}
  bool atEnd() const { return bytes.empty(); }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    cutOff();
  }
  template <typename T> T fixed() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes.size())
      cutOff();
    std::span<const std::byte> taken = bytes.first(count);
    bytes = bytes.subspan(count);
    return taken;
  }
  std::span<const std::byte> field() { return take(varint()); }

private:
  [[noreturn]] void cutOff() {
    fail(ExitMismatch, "{}: is no ONNX tensor or is cut off", where);
  }
  std::span<const std::byte> bytes;
  const std::string &where;
};

/// Collects the fields of one tensor.
class TensorReader {
public:
  TensorReader(std::span<const std::byte> bytes, const std::string &where)
      : reader(bytes, where), where(where) {}

  Array read() {
    while (!reader.atEnd())
      readField();
    return finish();
  }

private:
  void readField() {
    uint64_t key = reader.varint();
    auto number = static_cast<int>(key >> 3);
    switch (key & 7) {
    case Varint:
      return scalarField(number, reader.varint());
    case Fixed64:
      return store<uint64_t>(number, DoubleData, reader.fixed<uint64_t>());
    case Fixed32:
      return store<uint32_t>(number, FloatData, reader.fixed<uint32_t>());
    case Bytes:
      return bytesField(number, reader.field());
    }
    fail(ExitMismatch, "{}: is no ONNX tensor", where);
  }

  void scalarField(int field, uint64_t value) {
    switch (field) {
    case Dims:
      return array.shape.push_back(static_cast<int64_t>(value));
    case DataType:
      type = static_cast<int64_t>(value);
      return;
    case DataLocation:
      if (value == 1)
        fail(ExitMismatch, "{}: tensor '{}' has its data in another file",
             where, array.name);
      return;
    case Int32Data:
    case Int64Data:
    case Uint64Data:
      integers.push_back(value);
    }
  }

  void bytesField(int field, std::span<const std::byte> bytes) {
    switch (field) {
    case Name:
      array.name.assign(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
      return;
    case RawData:
      array.data.assign(bytes.begin(), bytes.end());
      return;
    case FloatData:
    case DoubleData:
      array.data.insert(array.data.end(), bytes.begin(), bytes.end());
      return;
    case Dims:
    case Int32Data:
    case Int64Data:
    case Uint64Data:
      for (WireReader packed(bytes, where); !packed.atEnd();)
        scalarField(field, packed.varint());
      return;
    case StringData:
      fail(ExitMismatch, "{}: tensors of strings are not supported", where);
    }
  }

  template <typename T> void store(int field, Field expected, T value) {
    if (field != expected)
      return;
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    array.data.insert(array.data.end(), bytes, bytes + sizeof(T));
  }

  Array finish() {
    const DtypeInfo *dtype = dtypeByOnnx(type);
    if (!dtype)
      fail(ExitMismatch,
           "{}: tensor '{}' has element type {}, which is not "
           "supported",
           where, array.name, type);
    array.dtype = dtype->dtype;
    // Typed integers, and the bits of half types, come as varints.
    for (uint64_t value : integers) {
      const auto *bytes = reinterpret_cast<const std::byte *>(&value);
      array.data.insert(array.data.end(), bytes, bytes + dtype->bytes);
    }
    size_t expected = elementCount(array.shape) * dtype->bytes;
    if (array.data.size() != expected)
      fail(ExitMismatch, "{}: tensor '{}' has {} of data, expected {}", where,
           array.name, counted(array.data.size(), "byte"), expected);
    return std::move(array);
  }

  WireReader reader;
  const std::string &where;
  Array array;
  int64_t type = 0;
  std::vector<uint64_t> integers;
};
} // namespace

Array parseOnnxTensor(std::span<const std::byte> bytes,
                      const std::string &where) {
  return TensorReader(bytes, where).read();
}

} // namespace cleave::rt
