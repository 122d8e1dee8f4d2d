//===- Program.cpp - find a rank's program --------------------------------===//
//
// Programs have no mutable globals, so ranks of one process share what is
// loaded; it stays loaded to the end of the process.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/Program.h"

#include "runtime/Format.h"

#include <dlfcn.h>

namespace cleave::rt {

static const CleaveProgram *load(const std::filesystem::path &file) {
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(ExitMismatch, "cannot load program: {}", dlerror());
  auto *program =
      static_cast<const CleaveProgram *>(dlsym(library, format::ProgramSymbol));
  if (!program)
    fail(ExitMismatch, "'{}' is no program of cleave", file.string());
  return program;
}

const CleaveProgram &findProgram(const Manifest &manifest, int rank,
                                 const CleaveProgram *linked) {
  const ProgramInfo &info = manifest.programOf(rank);
  const CleaveProgram *program =
      linked ? linked : load(manifest.directory / info.file);
  if (program->abiVersion != CLEAVE_ABI_VERSION)
    fail(ExitMismatch, "program '{}' has ABI version {}, this runtime has {}",
         program->name, program->abiVersion, int{CLEAVE_ABI_VERSION});
  if (info.identity != program->identity)
    fail(ExitMismatch,
         "the executable of rank {} is of another build: it holds program {} "
         "'{}', the manifest expects '{}'",
         rank, program->name, program->identity, info.identity);
  return *program;
}

} // namespace cleave::rt
