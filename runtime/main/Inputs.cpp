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

/// Gives the arrays of a file the names of inputs.
template <typename AnyArray>
static void nameArrays(std::vector<AnyArray> &arrays, const InputFile &input,
                       std::span<const TensorInfo> expected) {
  if (!input.name.empty()) {
    if (arrays.size() != 1)
      fail(ExitMismatch,
           "'{}' holds {} arrays: '{}=' needs a file that holds one",
           input.file.string(), arrays.size(), input.name);
    arrays[0].name = input.name;
  }
  for (AnyArray &array : arrays)
    if (array.name.empty()) {
      if (expected.size() != 1)
        fail(ExitMismatch,
             "'{}' names no input and the model has {}: write NAME={}",
             input.file.string(), expected.size(), input.file.string());
      array.name = expected[0].name;
    }
}

namespace {
/// What the files hold: the arrays of --input, and those of --data.
struct Given {
  std::vector<Array> arrays;
  std::vector<ArrayView> samples;
};
} // namespace

static const TensorInfo *find(std::span<const TensorInfo> tensors,
                              const std::string &name) {
  auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const TensorInfo &tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

static std::vector<std::string>
findProblems(const Given &given, std::span<const TensorInfo> expected) {
  std::vector<std::string> problems;
  std::set<std::string> names;
  for (const ArrayView &samples : given.samples)
    if (!find(expected, samples.name))
      problems.push_back(
          fmt::format("the model has no input '{}'", samples.name));
    else if (!names.insert(samples.name).second)
      problems.push_back(
          fmt::format("input '{}' is given twice", samples.name));
  for (const Array &array : given.arrays) {
    const TensorInfo *info = find(expected, array.name);
    if (!info)
      problems.push_back(
          fmt::format("the model has no input '{}'", array.name));
    else if (!names.insert(array.name).second)
      problems.push_back(fmt::format("input '{}' is given twice", array.name));
    else if (array.dtype != info->dtype || array.shape != info->shape)
      problems.push_back(
          fmt::format("input {}, expected {} {}",
                      described(array.name, array.dtype, array.shape),
                      dtypeInfo(info->dtype).name, listed(info->shape)));
  }
  for (const TensorInfo &tensor : expected)
    if (!names.contains(tensor.name))
      problems.push_back(fmt::format("input '{}' is missing", tensor.name));
  return problems;
}

/// The bucket that the arrays fit; the error is about the one that they fit
/// best.
static size_t chooseBucket(const Given &given,
                           std::span<const Manifest> buckets) {
  std::vector<std::string> least, taken;
  for (size_t i = 0; i < buckets.size(); ++i) {
    std::vector<std::string> problems = findProblems(given, buckets[i].inputs);
    if (problems.empty())
      return i;
    if (i == 0 || problems.size() < least.size())
      least = std::move(problems);
    taken.push_back(describedAll(buckets[i].inputs));
  }
  fail(ExitMismatch, "{} (the model takes {})", fmt::join(least, "; "),
       fmt::join(taken, "; or "));
}

/// All arrays of the files, by the names of inputs.
template <typename AnyArray>
static std::vector<AnyArray>
readAll(std::span<const InputFile> files, std::span<const TensorInfo> expected,
        std::vector<AnyArray> (*read)(const std::filesystem::path &)) {
  std::vector<AnyArray> all;
  for (const InputFile &file : files) {
    std::vector<AnyArray> arrays = read(file.file);
    nameArrays(arrays, file, expected);
    std::ranges::move(arrays, std::back_inserter(all));
  }
  return all;
}

/// Moves the array of each input, where there is one, to its place.
template <typename AnyArray, typename Place>
static void place(std::vector<AnyArray> &arrays,
                  std::span<const TensorInfo> inputs,
                  std::vector<Place> &places) {
  places.resize(inputs.size());
  for (AnyArray &array : arrays)
    places[find(inputs, array.name) - inputs.data()] = std::move(array);
}

BoundInputs readInputs(std::span<const InputFile> files,
                       std::span<const InputFile> data,
                       const Buckets &buckets) {
  const std::vector<TensorInfo> &names = buckets.front().inputs;
  Given given{readAll(files, names, readArrays),
              readAll(data, names, mapArrays)};
  std::span<const Manifest> candidates(buckets);
  BoundInputs inputs{
      chooseBucket(given, data.empty() ? candidates : candidates.first(1)),
      {},
      {}};
  const std::vector<TensorInfo> &chosen = buckets[inputs.bucket].inputs;
  place(given.arrays, chosen, inputs.arrays);
  place(given.samples, chosen, inputs.samples);
  return inputs;
}

} // namespace cleave::rt
