//===- Compare.cpp - outputs beside those that were expected --------------===//
//
// Elements are compared as long double, which holds every element type exactly.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Compare.h"

#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/Log.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

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

/// "[1, 0, 3]" of an element, in the order of rows.
static std::vector<int64_t> indexOf(int64_t element,
                                    const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; element /= shape[dim])
    index[dim] = element % shape[dim];
  return index;
}

/// All but the output itself, of two arrays of one shape.
static Difference findDistance(const Array &found, const Array &expected) {
  std::array<Real, 1024> left, right;
  Difference result;
  Real largest = -1, scale = 0;
  int64_t count = elementCount(found.shape), at = -1;
  for (int64_t begin = 0; begin < count; begin += left.size()) {
    size_t length = std::min<int64_t>(left.size(), count - begin);
    load(found, begin, std::span(left).first(length));
    load(expected, begin, std::span(right).first(length));
    for (size_t i = 0; i < length; ++i) {
      if (Real apart = distance(left[i], right[i]); apart > largest) {
        largest = apart;
        at = begin + static_cast<int64_t>(i);
        result.found = left[i];
        result.expected = right[i];
      }
      if (std::isfinite(right[i]))
        scale = std::max(scale, std::abs(right[i]));
    }
  }
  if (at >= 0) {
    result.index = indexOf(at, found.shape);
    result.relative =
        static_cast<double>(scale > 0 ? largest / scale : largest);
  }
  return result;
}

static void verifyShape(const Array &array, const TensorInfo &output,
                        const std::filesystem::path &file) {
  if (array.shape != output.shape)
    fail(ExitMismatch, "'{}' holds '{}' as {}, the output is {}", file.string(),
         array.name, listed(array.shape), listed(output.shape));
}

/// Arrays that nothing is compared with.
static void warnOfRest(const std::vector<Array> &rest,
                       const std::filesystem::path &file) {
  constexpr size_t Most = 3;
  if (rest.empty())
    return;
  std::vector<std::string> names;
  for (const Array &array : std::span(rest).first(std::min(Most, rest.size())))
    names.push_back(fmt::format("'{}'", array.name));
  logf(LogLevel::Warn,
       "'{}' holds {}{} that the program does not make: not compared (cleave "
       "compile --keep makes outputs of values)",
       file.string(), fmt::join(names, ", "),
       rest.size() > Most
           ? fmt::format(" and {} more", rest.size() - names.size())
           : "");
}

std::vector<std::optional<Array>>
readExpected(const std::filesystem::path &file,
             std::span<const TensorInfo> outputs) {
  std::vector<Array> arrays = readArrays(file);
  std::vector<std::optional<Array>> expected;
  if (arrays.size() == 1 && outputs.size() == 1 && arrays[0].name.empty())
    arrays[0].name = outputs[0].name;
  for (const TensorInfo &output : outputs) {
    std::optional<Array> &place = expected.emplace_back();
    auto array =
        std::find_if(arrays.begin(), arrays.end(), [&](const Array &array) {
          return array.name == output.name;
        });
    if (array == arrays.end()) {
      if (output.isKept)
        continue;
      fail(ExitMismatch, "'{}' does not hold the output '{}'", file.string(),
           output.name);
    }
    verifyShape(*array, output, file);
    place = std::move(*array);
    arrays.erase(array);
  }
  warnOfRest(arrays, file);
  return expected;
}

std::vector<Difference>
compareOutputs(std::span<const TensorInfo> infos,
               std::span<const Array> outputs,
               std::span<const std::optional<Array>> expected) {
  std::vector<size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(infos[a].position, a) < std::pair(infos[b].position, b);
  });
  std::vector<Difference> differences;
  for (size_t i : order) {
    if (!expected[i])
      continue;
    differences.push_back(findDistance(outputs[i], *expected[i]));
    differences.back().output = infos[i];
  }
  return differences;
}

const Difference *findFirst(std::span<const Difference> differences,
                            double tolerance) {
  for (const Difference &difference : differences)
    if (!(difference.relative <= tolerance))
      return &difference;
  return nullptr;
}

std::string described(const TensorInfo &output) {
  std::string text =
      fmt::format("{} '{}'", output.isKept ? "value" : "output", output.name);
  if (!output.op.empty())
    text += fmt::format(" of node '{}' ({})", output.node, output.op);
  return text;
}

/// Nodes before `first` of which no value was compared.
static int64_t countUnknown(std::span<const Difference> differences,
                            const Difference &first) {
  std::set<int64_t> known;
  for (const Difference &difference : differences)
    if (difference.output.position >= 0 &&
        difference.output.position < first.output.position)
      known.insert(difference.output.position);
  return std::max<int64_t>(first.output.position, 0) -
         static_cast<int64_t>(known.size());
}

void verifyEqual(std::span<const Difference> differences, double tolerance) {
  const Difference *first = findFirst(differences, tolerance);
  if (!first)
    return;
  auto count = std::count_if(differences.begin(), differences.end(),
                             [&](const Difference &difference) {
                               return !(difference.relative <= tolerance);
                             });
  std::string rest;
  if (count > 1)
    rest += fmt::format("; the first of {} that do", count);
  if (int64_t unknown = countUnknown(differences, *first))
    rest += fmt::format("; {} before it {} not compared (cleave compile "
                        "--keep '*')",
                        counted(unknown, "node"), unknown == 1 ? "is" : "are");
  fail(ExitMismatch,
       "{} differs by {:.3g} of the largest value, at most {:g} is allowed: "
       "{:.7g} at {}, expected {:.7g}{}",
       described(first->output), first->relative, tolerance, first->found,
       listed(first->index), first->expected, rest);
}

} // namespace cleave::rt
