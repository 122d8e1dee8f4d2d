//===- Compare.h - outputs beside those that were expected ----------------===//
#ifndef CLEAVE_RUNTIME_MAIN_COMPARE_H
#define CLEAVE_RUNTIME_MAIN_COMPARE_H

#include "runtime/Arrays.h"
#include "runtime/program/Manifest.h"

#include <span>

namespace cleave::rt {

/// How far an output is from what was expected.
struct Difference {
  std::string output;
  /// The largest |found - expected|, in parts of the largest |expected| (as it
  /// is where all that was expected is 0). NaN equals NaN and an infinity
  /// itself; against anything else they differ by infinity.
  double relative;
};

/// Reads what was expected, in the order of `outputs`. An array without a name
/// is the only output. Throws Failure (ExitMismatch) on an output that is
/// missing or has another shape, and on arrays that are no outputs; element
/// types may differ.
std::vector<Array> readExpected(const std::filesystem::path &file,
                                std::span<const TensorInfo> outputs);

/// Compares the outputs with those that were read.
std::vector<Difference> compareOutputs(std::span<const Array> outputs,
                                       std::span<const Array> expected);

/// Throws Failure (ExitMismatch) that names the outputs which differ by more
/// than `tolerance`.
void verifyEqual(std::span<const Difference> differences, double tolerance);

} // namespace cleave::rt

#endif
