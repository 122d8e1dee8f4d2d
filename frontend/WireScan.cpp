//===- WireScan.cpp - cut weights out of a serialized model ---------------===//

#include "frontend/WireScan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

#include <optional>

using namespace cleave;
using namespace mlir;

namespace {

enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// One field: where it starts (its tag) and ends, and its payload.
struct Field {
  uint64_t number;
  WireType type;
  llvm::StringRef whole;
  llvm::StringRef payload; ///< of Bytes fields
  uint64_t value = 0;      ///< of Varint fields
};

/// A message that may hold tensors, by its field numbers.
enum class Message { Model, Graph, Node, Attribute, Function, Tensor };

/// The message in field `number` of `message`, if tensors can be in there.
std::optional<Message> getChild(Message message, uint64_t number) {
  switch (message) {
  case Message::Model:
    if (number == 7)
      return Message::Graph;
    return number == 25 ? std::optional(Message::Function) : std::nullopt;
  case Message::Graph:
    if (number == 1)
      return Message::Node;
    return number == 5 ? std::optional(Message::Tensor) : std::nullopt;
  case Message::Node:
    return number == 5 ? std::optional(Message::Attribute) : std::nullopt;
  case Message::Attribute:
    if (number == 6 || number == 11)
      return Message::Graph;
    return number == 5 || number == 10 ? std::optional(Message::Tensor)
                                       : std::nullopt;
  case Message::Function:
    return number == 7 ? std::optional(Message::Node) : std::nullopt;
  case Message::Tensor:
    return std::nullopt;
  }
  llvm_unreachable("unknown message");
}

//===-- Reading -----------------------------------------------------------===//

/// Reads the fields of one message in turn.
class Reader {
public:
  Reader(llvm::StringRef bytes, const char *base) : rest(bytes), base(base) {}

  bool atEnd() const { return rest.empty(); }

  /// The next field; none when the bytes are not of the wire format.
  std::optional<Field> next(std::string &error) {
    const char *begin = rest.data();
    std::optional<uint64_t> tag = readVarint();
    if (!tag || *tag >> 3 == 0)
      return fail(error, begin, "there is no field tag");
    Field field{*tag >> 3, static_cast<WireType>(*tag & 7), {}, {}};
    if (!readPayload(field, error))
      return std::nullopt;
    field.whole = llvm::StringRef(begin, rest.data() - begin);
    return field;
  }

private:
  std::optional<uint64_t> readVarint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      uint8_t byte = rest.front();
      rest = rest.drop_front();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    return std::nullopt;
  }

  bool readPayload(Field &field, std::string &error) {
    uint64_t size = 0;
    const char *begin = rest.data();
    switch (field.type) {
    case Varint:
      if (std::optional<uint64_t> value = readVarint()) {
        field.value = *value;
        return true;
      }
      fail(error, begin, "a number does not end");
      return false;
    case Fixed64:
      size = 8;
      break;
    case Fixed32:
      size = 4;
      break;
    case Bytes:
      if (std::optional<uint64_t> length = readVarint()) {
        size = *length;
        break;
      }
      fail(error, begin, "a length does not end");
      return false;
    default:
      fail(error, begin, "there is no field of a known kind");
      return false;
    }
    if (size > rest.size()) {
      fail(error, begin,
           llvm::Twine("field ") + llvm::Twine(field.number) + " needs " +
               llvm::Twine(size) + " bytes, found " + llvm::Twine(rest.size()));
      return false;
    }
    field.payload = rest.take_front(size);
    rest = rest.drop_front(size);
    return true;
  }

  std::nullopt_t fail(std::string &error, const char *at,
                      const llvm::Twine &what) {
    error = ("at byte " + llvm::Twine(at - base) + " " + what).str();
    return std::nullopt;
  }

  llvm::StringRef rest;
  const char *base;
};

//===-- Writing -----------------------------------------------------------===//

void writeVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void writeBytes(std::string &out, uint64_t number, llvm::StringRef payload) {
  writeVarint(out, number << 3 | Bytes);
  writeVarint(out, payload.size());
  out.append(payload.data(), payload.size());
}

/// Appends TensorProto.external_data (field 13, key and value as strings).
void writeExternalEntry(std::string &out, llvm::StringRef key,
                        llvm::StringRef value) {
  std::string entry;
  writeBytes(entry, 1, key);
  writeBytes(entry, 2, value);
  writeBytes(out, 13, entry);
}

//===-- Tensors and the messages around them ------------------------------===//

/// Fields of TensorProto.
enum TensorField {
  DataTypeField = 2,
  FloatDataField = 4,
  RawDataField = 9,
  DoubleDataField = 10,
  DataLocationField = 14
};
/// Values of TensorProto.DataType and DataLocation.
enum { FloatType = 1, DoubleType = 11, External = 1 };

/// The field that holds the tensor's data as dense little-endian bytes:
/// raw_data, or the packed float_data or double_data of a tensor of that type.
/// Null when the data is small or in another form.
const Field *findLargeData(llvm::ArrayRef<Field> fields) {
  const Field *data = nullptr;
  uint64_t type = 0;
  for (const Field &field : fields) {
    if (field.number == DataTypeField)
      type = field.value;
    if (field.number == DataLocationField && field.value == External)
      return nullptr;
  }
  for (const Field &field : fields) {
    bool isDense = field.number == RawDataField ||
                   (field.number == FloatDataField && type == FloatType) ||
                   (field.number == DoubleDataField && type == DoubleType);
    if (!isDense || field.type != Bytes)
      continue;
    if (data) // In pieces: left to the parser.
      return nullptr;
    data = &field;
  }
  return data && data->payload.size() >= LargeTensorBytes ? data : nullptr;
}

/// Walks messages from the model down to its tensors.
class Scanner {
public:
  Scanner(const char *base, std::string &error) : base(base), error(error) {}

  bool scan(Message message, llvm::StringRef bytes, std::string &out) {
    Nesting nesting(depth);
    if (depth > MaxDepth) {
      error = "bodies are nested more than " + std::to_string(MaxDepth) +
              " messages deep";
      return false;
    }
    if (message == Message::Tensor)
      return scanTensor(bytes, out);
    Reader reader(bytes, base);
    while (!reader.atEnd()) {
      std::optional<Field> field = reader.next(error);
      if (!field)
        return false;
      std::optional<Message> child = getChild(message, field->number);
      if (message == Message::Model)
        hasGraph |= field->number == 7 && field->type == Bytes;
      if (!child || field->type != Bytes) {
        out.append(field->whole.data(), field->whole.size());
        continue;
      }
      std::string inner;
      if (!scan(*child, field->payload, inner))
        return false;
      writeBytes(out, field->number, inner);
    }
    return true;
  }

  bool hasGraph = false;

private:
  /// As deep as protobuf reads.
  static constexpr int MaxDepth = 100;
  struct Nesting {
    explicit Nesting(int &depth) : depth(++depth) {}
    ~Nesting() { --depth; }
    int &depth;
  };

  bool scanTensor(llvm::StringRef bytes, std::string &out) {
    Reader reader(bytes, base);
    llvm::SmallVector<Field> fields;
    while (!reader.atEnd()) {
      std::optional<Field> field = reader.next(error);
      if (!field)
        return false;
      fields.push_back(*field);
    }
    const Field *data = findLargeData(fields);
    for (const Field &field : fields)
      if (&field != data)
        out.append(field.whole.data(), field.whole.size());
    if (!data)
      return true;
    writeExternalEntry(out, "location", ModelFileLocation);
    writeExternalEntry(out, "offset",
                       std::to_string(data->payload.data() - base));
    writeExternalEntry(out, "length", std::to_string(data->payload.size()));
    writeVarint(out, DataLocationField << 3 | Varint);
    writeVarint(out, External);
    return true;
  }

  const char *base;
  std::string &error;
  int depth = 0;
};

} // namespace

LogicalResult cleave::scanModel(llvm::StringRef model, std::string &reduced,
                                std::string &error) {
  reduced.clear();
  Scanner scanner(model.data(), error);
  if (!scanner.scan(Message::Model, model, reduced))
    return failure();
  if (scanner.hasGraph)
    return success();
  error = "there is no graph in its " + std::to_string(model.size()) + " bytes";
  return failure();
}
