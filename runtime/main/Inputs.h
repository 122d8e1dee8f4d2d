//===- Inputs.h - the user's files as a program's inputs ------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_INPUTS_H
#define CLEAVE_RUNTIME_MAIN_INPUTS_H

#include "runtime/Arrays.h"
#include "runtime/data/DataSet.h"
#include "runtime/main/RunOptions.h"
#include "runtime/program/Manifest.h"

#include <span>

namespace cleave::rt {

/// The inputs of a run, in the order of the model's, and the bucket that takes
/// them.
struct BoundInputs {
  size_t bucket = 0;
  std::vector<Array> arrays; ///< without data where `samples` has some
  InputData samples;
};

/// Reads the files of --input, maps those of --data, and finds the bucket that
/// their arrays fit; samples are for the first one, and their shapes are left
/// to DataSet. All that is unknown, missing or of a wrong type or shape goes
/// into one Failure (ExitMismatch).
BoundInputs readInputs(std::span<const InputFile> files,
                       std::span<const InputFile> data, const Buckets &buckets);

} // namespace cleave::rt

#endif
