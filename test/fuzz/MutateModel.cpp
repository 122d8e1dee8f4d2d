//===- MutateModel.cpp - change a model at random, as a model -------------===//
//
// By protobuf's reflection: it knows no field by name.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/MutateModel.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace cleave;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {
class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}
  void mutate(Message &root);

private:
  size_t below(size_t count) { return random() % count; }
  template <typename T> const T &oneOf(const std::vector<T> &list) {
    return list[below(list.size())];
  }
  void collect(Message &message);
  void change(Message &message, const FieldDescriptor *field);
  void changeRepeated(Message &message, const FieldDescriptor *field);
  void setOrAdd(Message &message, const FieldDescriptor *field, bool add);
  int64_t anyInteger();
  double anyFloat();
  std::string anyString();

  std::mt19937 random;
  std::vector<Message *> messages;
  std::vector<std::string> strings = {"", "no such name"};
};
} // namespace

/// Notes the messages below `message` and the short strings in them.
void Mutator::collect(Message &message) {
  messages.push_back(&message);
  const Reflection *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor *field : fields) {
    int count =
        field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        collect(field->is_repeated()
                    ? *reflection->MutableRepeatedMessage(&message, field, i)
                    : *reflection->MutableMessage(&message, field));
      else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
        strings.push_back(field->is_repeated()
                              ? reflection->GetRepeatedString(message, field, i)
                              : reflection->GetString(message, field));
    }
  }
}

int64_t Mutator::anyInteger() {
  static const std::vector<int64_t> Edges = {0,
                                             1,
                                             -1,
                                             2,
                                             -2,
                                             3,
                                             7,
                                             8,
                                             64,
                                             1 << 16,
                                             INT32_MAX,
                                             INT32_MIN,
                                             int64_t{1} << 32,
                                             int64_t{1} << 62,
                                             INT64_MAX,
                                             INT64_MIN};
  return below(4) ? oneOf(Edges) : static_cast<int64_t>(below(32)) - 8;
}

double Mutator::anyFloat() {
  static const std::vector<double> Edges = {
      0,
      -0.0,
      1,
      -1,
      0.5,
      1e30,
      1e-30,
      std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN()};
  return oneOf(Edges);
}

std::string Mutator::anyString() {
  std::string text = oneOf(strings);
  if (!text.empty() && below(4) == 0)
    text[below(text.size())] ^= static_cast<char>(1 << below(8));
  if (below(8) == 0)
    text.resize(below(text.size() + 9));
  return text;
}

void Mutator::setOrAdd(Message &message, const FieldDescriptor *field,
                       bool add) {
  const Reflection *to = message.GetReflection();
#define CLEAVE_PUT(Type, value)                                                \
  add ? to->Add##Type(&message, field, value)                                  \
      : to->Set##Type(&message, field, value)
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return CLEAVE_PUT(Int32, static_cast<int32_t>(anyInteger()));
  case FieldDescriptor::CPPTYPE_INT64:
    return CLEAVE_PUT(Int64, anyInteger());
  case FieldDescriptor::CPPTYPE_UINT32:
    return CLEAVE_PUT(UInt32, static_cast<uint32_t>(anyInteger()));
  case FieldDescriptor::CPPTYPE_UINT64:
    return CLEAVE_PUT(UInt64, static_cast<uint64_t>(anyInteger()));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return CLEAVE_PUT(Float, static_cast<float>(anyFloat()));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return CLEAVE_PUT(Double, anyFloat());
  case FieldDescriptor::CPPTYPE_BOOL:
    return CLEAVE_PUT(Bool, below(2) == 0);
  case FieldDescriptor::CPPTYPE_ENUM:
    return CLEAVE_PUT(EnumValue, static_cast<int>(below(30)));
  case FieldDescriptor::CPPTYPE_STRING:
    return CLEAVE_PUT(String, anyString());
  case FieldDescriptor::CPPTYPE_MESSAGE:
    add ? to->AddMessage(&message, field) : to->MutableMessage(&message, field);
  }
#undef CLEAVE_PUT
}

void Mutator::changeRepeated(Message &message, const FieldDescriptor *field) {
  const Reflection *reflection = message.GetReflection();
  int count = reflection->FieldSize(message, field);
  if (count == 0)
    return setOrAdd(message, field, /*add=*/true);
  int last = count - 1, other = static_cast<int>(below(count));
  switch (below(4)) {
  case 0: // remove one
    reflection->SwapElements(&message, field, other, last);
    return reflection->RemoveLast(&message, field);
  case 1: // another order
    return reflection->SwapElements(&message, field, other, last);
  case 2: // another value
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      reflection->RemoveLast(&message, field);
      setOrAdd(message, field, /*add=*/true);
      return reflection->SwapElements(&message, field, other, last);
    }
    [[fallthrough]];
  default: // one more, of messages a copy
    setOrAdd(message, field, /*add=*/true);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      reflection->MutableRepeatedMessage(&message, field, count)
          ->CopyFrom(reflection->GetRepeatedMessage(message, field, other));
  }
}

void Mutator::change(Message &message, const FieldDescriptor *field) {
  const Reflection *reflection = message.GetReflection();
  if (field->is_repeated())
    return changeRepeated(message, field);
  if (reflection->HasField(message, field) && below(4) == 0)
    return reflection->ClearField(&message, field);
  setOrAdd(message, field, /*add=*/false);
}

void Mutator::mutate(Message &root) {
  collect(root);
  Message &message = *oneOf(messages);
  const Reflection *reflection = message.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  // What is there counts for more than what is not.
  const auto *type = message.GetDescriptor();
  if (fields.empty() || below(4) == 0)
    return change(message,
                  type->field(static_cast<int>(below(type->field_count()))));
  change(message, oneOf(fields));
}

void cleave::mutateModel(onnx::ModelProto &model, unsigned seed) {
  Mutator(seed).mutate(model);
}
