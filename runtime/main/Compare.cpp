//===- Compare.cpp - outputs beside those that were expected --------------===//
//
// Elements are compared as long double, which holds every element type exactly.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Compare.h"

#include "runtime/support/Dtype.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace cleave::rt {

using Real = long double;
static_assert(std::numeric_limits<Real>::digits >= 64);

/// to[i] = array[begin + i].
static void load(const Array &array, int64_t begin, std::span<Real> to) {
  dispatchDtype(array.dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::byte *from = array.data.data() + begin * sizeof(T);
    for (Real &element : to) {
      T value;
      std::memcpy(&value, from, sizeof(T));
      from += sizeof(T);
      if constexpr (std::is_class_v<T>)
        element = static_cast<float>(value);
      else
        element = static_cast<Real>(value);
    }
  });
}

static Real distance(Real found, Real expected) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return 0;
  if (!std::isfinite(found) || !std::isfinite(expected))
    return std::numeric_limits<Real>::infinity();
  return std::abs(found - expected);
}

/// Difference::relative of two arrays of one shape.
static double relativeDistance(const Array &found, const Array &expected) {
  std::array<Real, 1024> left, right;
  Real largest = 0, scale = 0;
  int64_t count = elementCount(found.shape);
  for (int64_t begin = 0; begin < count; begin += left.size()) {
    size_t length = std::min<int64_t>(left.size(), count - begin);
    load(found, begin, std::span(left).first(length));
    load(expected, begin, std::span(right).first(length));
    for (size_t i = 0; i < length; ++i) {
      largest = std::max(largest, distance(left[i], right[i]));
      if (std::isfinite(right[i]))
        scale = std::max(scale, std::abs(right[i]));
    }
  }
  return static_cast<double>(scale > 0 ? largest / scale : largest);
}

static void verifyShape(const Array &array, const TensorInfo &output,
                        const std::filesystem::path &file) {
  if (array.shape != output.shape)
    fail(ExitMismatch, "'{}' holds '{}' as {}, the output is {}", file.string(),
         array.name, listed(array.shape), listed(output.shape));
}

std::vector<Array> readExpected(const std::filesystem::path &file,
                                std::span<const TensorInfo> outputs) {
  std::vector<Array> arrays = readArrays(file), expected;
  if (arrays.size() == 1 && outputs.size() == 1 && arrays[0].name.empty())
    arrays[0].name = outputs[0].name;
  for (const TensorInfo &output : outputs) {
    auto array =
        std::find_if(arrays.begin(), arrays.end(), [&](const Array &array) {
          return array.name == output.name;
        });
    if (array == arrays.end())
      fail(ExitMismatch, "'{}' does not hold the output '{}'", file.string(),
           output.name);
    verifyShape(*array, output, file);
    expected.push_back(std::move(*array));
    arrays.erase(array);
  }
  if (!arrays.empty())
    fail(ExitMismatch, "'{}': the model has no output '{}'", file.string(),
         arrays[0].name);
  return expected;
}

std::vector<Difference> compareOutputs(std::span<const Array> outputs,
                                       std::span<const Array> expected) {
  std::vector<Difference> differences;
  for (size_t i = 0; i < outputs.size(); ++i)
    differences.push_back(
        {outputs[i].name, relativeDistance(outputs[i], expected[i])});
  return differences;
}

void verifyEqual(std::span<const Difference> differences, double tolerance) {
  std::vector<std::string> far;
  for (const Difference &difference : differences)
    if (!(difference.relative <= tolerance))
      far.push_back(fmt::format("output '{}' differs by {:.3g}",
                                difference.output, difference.relative));
  if (!far.empty())
    fail(ExitMismatch, "{} of the largest value, at most {:g} is allowed",
         fmt::join(far, "; "), tolerance);
}

} // namespace cleave::rt
