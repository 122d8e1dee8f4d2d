//===- Inputs.cpp - the user's files as a program's inputs ----------------===//
//
// An array without a name is the model's only input; NAME= names the array of a
// file that holds one.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Inputs.h"

#include "runtime/support/Dtype.h"

#include <algorithm>
#include <set>

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

static const TensorInfo *find(std::span<const TensorInfo> tensors,
                              const std::string &name) {
  auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const TensorInfo &tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

static std::vector<std::string>
findProblems(std::span<const Array> arrays,
             std::span<const TensorInfo> expected) {
  std::vector<std::string> problems;
  std::set<std::string> given;
  for (const Array &array : arrays) {
    const TensorInfo *info = find(expected, array.name);
    if (!info)
      problems.push_back(
          fmt::format("the model has no input '{}'", array.name));
    else if (!given.insert(array.name).second)
      problems.push_back(fmt::format("input '{}' is given twice", array.name));
    else if (array.dtype != info->dtype || array.shape != info->shape)
      problems.push_back(
          fmt::format("input {}, expected {} {}",
                      described(array.name, array.dtype, array.shape),
                      dtypeInfo(info->dtype).name, listed(info->shape)));
  }
  for (const TensorInfo &tensor : expected)
    if (!given.contains(tensor.name))
      problems.push_back(fmt::format("input '{}' is missing", tensor.name));
  return problems;
}

/// The bucket that the arrays fit; the error is about the one that they fit
/// best.
static size_t chooseBucket(std::span<const Array> arrays,
                           const Buckets &buckets) {
  std::vector<std::string> least, taken;
  for (size_t i = 0; i < buckets.size(); ++i) {
    std::vector<std::string> problems = findProblems(arrays, buckets[i].inputs);
    if (problems.empty())
      return i;
    if (i == 0 || problems.size() < least.size())
      least = std::move(problems);
    taken.push_back(describedAll(buckets[i].inputs));
  }
  fail(ExitMismatch, "{} (the model takes {})", fmt::join(least, "; "),
       fmt::join(taken, "; or "));
}

BoundInputs readInputs(std::span<const InputFile> files,
                       const Buckets &buckets) {
  std::vector<Array> given;
  for (const InputFile &file : files)
    for (Array &array : readNamed(file, buckets.front().inputs))
      given.push_back(std::move(array));

  BoundInputs inputs{chooseBucket(given, buckets), {}};
  for (const TensorInfo &tensor : buckets[inputs.bucket].inputs)
    inputs.arrays.push_back(std::move(
        *std::find_if(given.begin(), given.end(), [&](const Array &array) {
          return array.name == tensor.name;
        })));
  return inputs;
}

} // namespace cleave::rt
