//===- Emit.h - forms of a program: LLVM IR, objects, identity ------------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_EMIT_H
#define CLEAVE_CODEGEN_OUTPUT_EMIT_H

#include "codegen/Codegen.h"
#include "codegen/host/HostStep.h"
#include "codegen/output/OutFolder.h"
#include "llvm/Support/FileUtilities.h"

namespace cleave {

/// Hex digest of a program's code, the plan, the CPU and the runtime build.
/// Call it before the program symbol is added.
std::string identify(const ProgramCode &code, const EmitOptions &options,
                     llvm::StringRef build);

/// What makes the kernels of a program: for the target of the options.
std::unique_ptr<ProgramTarget> makeTarget(const EmitOptions &options);

/// A file that is removed with this object.
struct TemporaryFile {
  std::string path;
  std::unique_ptr<llvm::FileRemover> remover;
};

/// Writes bytes to a temporary file, for the linker.
mlir::FailureOr<TemporaryFile> writeTemporary(const OutFolder &folder,
                                              llvm::ArrayRef<char> bytes);

/// Writes the LLVM IR of all programs, before optimisation, to one file.
[[nodiscard]] EmitResult emitLlvm(const RankModule &ranks,
                                  const EmitOptions &options);

/// Writes one object file per program to a folder.
[[nodiscard]] EmitResult emitObjects(const RankModule &ranks,
                                     const EmitOptions &options);

/// Writes the PTX of all programs to one file.
[[nodiscard]] EmitResult emitPtx(const RankModule &ranks,
                                 const EmitOptions &options);

} // namespace cleave

#endif
