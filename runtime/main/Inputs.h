//===- Inputs.h - the user's files as a program's inputs ------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_INPUTS_H
#define CLEAVE_RUNTIME_MAIN_INPUTS_H

#include "runtime/Arrays.h"
#include "runtime/main/RunOptions.h"
#include "runtime/program/Manifest.h"

#include <span>

namespace cleave::rt {

/// The inputs of a run, in the order of the model's, and the bucket that takes
/// them.
struct BoundInputs {
  size_t bucket;
  std::vector<Array> arrays;
};

/// Reads the files and finds the bucket that their arrays fit. All that is
/// unknown, missing or of a wrong type or shape goes into one Failure
/// (ExitMismatch).
BoundInputs readInputs(std::span<const InputFile> files,
                       const Buckets &buckets);

} // namespace cleave::rt

#endif
