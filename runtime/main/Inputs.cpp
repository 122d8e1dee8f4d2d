//===- Inputs.cpp - the user's files as a program's inputs ----------------===//
//
// An array without a name is the model's only input; NAME= names the array of a
// file that holds one.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Inputs.h"

#include "runtime/support/Dtype.h"

#include <algorithm>
#include <optional>

namespace cleave::rt {

/// "'image' f32 [1, 3, 224, 224]"
static std::string described(const std::string &name, CleaveDtype dtype,
                             const std::vector<int64_t> &shape) {
  return fmt::format("'{}' {} {}", name, dtypeInfo(dtype).name, listed(shape));
}

static std::string describedAll(std::span<const TensorInfo> tensors) {
  std::vector<std::string> texts;
  for (const TensorInfo &tensor : tensors)
    texts.push_back(described(tensor.name, tensor.dtype, tensor.shape));
  return fmt::format("{}", fmt::join(texts, ", "));
}

static std::vector<Array> readNamed(const InputFile &input,
                                    std::span<const TensorInfo> expected) {
  std::vector<Array> arrays = readArrays(input.file);
  if (!input.name.empty()) {
    if (arrays.size() != 1)
      fail(ExitMismatch,
           "'{}' holds {} arrays: '{}=' needs a file that holds one",
           input.file.string(), arrays.size(), input.name);
    arrays[0].name = input.name;
  }
  for (Array &array : arrays)
    if (array.name.empty()) {
      if (expected.size() != 1)
        fail(ExitMismatch,
             "'{}' names no input and the model has {}: write NAME={}",
             input.file.string(), expected.size(), input.file.string());
      array.name = expected[0].name;
    }
  return arrays;
}

namespace {
/// The arrays found so far, by input, and what is wrong with them.
struct Collector {
  std::span<const TensorInfo> expected;
  std::vector<std::optional<Array>> found;
  std::vector<std::string> problems;

  void add(Array array) {
    auto info = std::find_if(
        expected.begin(), expected.end(),
        [&](const TensorInfo &tensor) { return tensor.name == array.name; });
    if (info == expected.end())
      return problems.push_back(
          fmt::format("the model has no input '{}'", array.name));
    std::optional<Array> &place = found[info - expected.begin()];
    if (place)
      return problems.push_back(
          fmt::format("input '{}' is given twice", array.name));
    if (array.dtype != info->dtype || array.shape != info->shape)
      problems.push_back(
          fmt::format("input {}, expected {} {}",
                      described(array.name, array.dtype, array.shape),
                      dtypeInfo(info->dtype).name, listed(info->shape)));
    place = std::move(array);
  }
};
} // namespace

std::vector<Array> readInputs(std::span<const InputFile> files,
                              std::span<const TensorInfo> expected) {
  Collector collector{expected, {}, {}};
  collector.found.resize(expected.size());
  for (const InputFile &file : files)
    for (Array &array : readNamed(file, expected))
      collector.add(std::move(array));

  std::vector<Array> arrays;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!collector.found[i])
      collector.problems.push_back(
          fmt::format("input '{}' is missing", expected[i].name));
    else
      arrays.push_back(std::move(*collector.found[i]));
  }
  if (!collector.problems.empty())
    fail(ExitMismatch, "{} (the model takes {})",
         fmt::join(collector.problems, "; "), describedAll(expected));
  return arrays;
}

} // namespace cleave::rt
