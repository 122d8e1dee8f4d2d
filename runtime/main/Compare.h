//===- Compare.h - outputs beside those that were expected ----------------===//
#ifndef CLEAVE_RUNTIME_MAIN_COMPARE_H
#define CLEAVE_RUNTIME_MAIN_COMPARE_H

#include "runtime/Arrays.h"
#include "runtime/program/Manifest.h"

#include <optional>
#include <span>

namespace cleave::rt {

/// How far an output is from what was expected.
struct Difference {
  TensorInfo output;
  /// The largest |found - expected|, in parts of the largest |expected| (as it
  /// is where all that was expected is 0). NaN equals NaN and an infinity
  /// itself; against anything else they differ by infinity.
  double relative = 0;
  /// Where that is, and the two elements; nothing where there are none.
  std::vector<int64_t> index;
  long double found = 0, expected = 0;
};

/// Reads what was expected, in the order of `outputs`; none where a kept value
/// is not in the file. An array without a name is the only output. Throws
/// Failure (ExitMismatch) on an output of the model that is missing, and on one
/// that has another shape; element types may differ. Arrays that are no outputs
/// are left out, with a warning.
std::vector<std::optional<Array>>
readExpected(const std::filesystem::path &file,
             std::span<const TensorInfo> outputs);

/// Compares the outputs with those that were read, in the order of the nodes
/// that make them. Both lists are in the order of `infos`.
std::vector<Difference>
compareOutputs(std::span<const TensorInfo> infos,
               std::span<const Array> outputs,
               std::span<const std::optional<Array>> expected);

/// The first of `differences` that is above `tolerance`; null: all are within.
const Difference *findFirst(std::span<const Difference> differences,
                            double tolerance);

/// "output 'y' of node 'fc2' (MatMul)"; "value" where it is a kept one.
std::string described(const TensorInfo &output);

/// Throws Failure (ExitMismatch) that tells the first difference above
/// `tolerance`: the node, the elements, and how many nodes before it have
/// values that were not compared.
void verifyEqual(std::span<const Difference> differences, double tolerance);

} // namespace cleave::rt

#endif
