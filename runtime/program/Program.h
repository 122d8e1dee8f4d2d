//===- Program.h - find a rank's program ----------------------------------===//
#ifndef CLEAVE_RUNTIME_PROGRAM_PROGRAM_H
#define CLEAVE_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/program/Manifest.h"

namespace cleave::rt {

/// The program of `rank`: `linked` when the executable brings one, else loaded
/// from its file, and kept loaded. Throws Failure (ExitMismatch) when it is of
/// another build than the manifest.
const CleaveProgram &findProgram(const Manifest &manifest, int rank,
                                 const CleaveProgram *linked);

} // namespace cleave::rt

#endif
