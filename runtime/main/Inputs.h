//===- Inputs.h - the user's files as a program's inputs ------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_INPUTS_H
#define CLEAVE_RUNTIME_MAIN_INPUTS_H

#include "runtime/Arrays.h"
#include "runtime/main/RunOptions.h"
#include "runtime/program/Manifest.h"

#include <span>

namespace cleave::rt {

/// Reads the files and brings their arrays into the order of the model's
/// inputs. All that is unknown, missing or of a wrong type or shape goes into
/// one Failure (ExitMismatch).
std::vector<Array> readInputs(std::span<const InputFile> files,
                              std::span<const TensorInfo> expected);

} // namespace cleave::rt

#endif
