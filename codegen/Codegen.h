//===- Codegen.h - from rank programs to the folder OUT -------------------===//
//
// A module holds one function per pipeline stage, as the memory phase leaves
// it: every value has a buffer, every collective is explicit. Each stage
// function becomes one program (kernels and a step function that calls them in
// order), each rank one executable that is linked to the program of its stage.
// Several modules are buckets: the same model for inputs of different sizes.
// Ranks are linked to the programs of the first and load those of the others;
// weights are shared.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CODEGEN_H
#define CLEAVE_CODEGEN_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>

namespace cleave {

enum class EmitKind {
  Out,    ///< the folder OUT with executables, libraries and weights
  Llvm,   ///< LLVM IR of all programs, as text in one file
  Object, ///< a folder with one object file per program
  Ptx,    ///< PTX of all programs, as text in one file; for CUDA only
};

enum class EmitResult {
  Done,
  Invalid,    ///< something is wrong with the module or the options
  NotWritten, ///< the disk, or a file that is needed
};

struct EmitOptions {
  /// Where to write: a folder (Out, Object) or a file, "-" for standard output.
  std::string output;
  EmitKind kind = EmitKind::Out;
  /// Name of the model, for the manifest.
  std::string model;
  /// plan.json as text.
  std::string plan;
  /// An LLVM CPU name; "native" is the one of this machine.
  std::string cpu = "native";
  /// "cpu" or "cuda".
  std::string target = "cpu";
  /// CUDA: the architectures to make binaries for: "sm_80", ...
  std::vector<std::string> archs;
  /// CUDA: the toolkit's folder; empty: found on PATH or in the usual places.
  std::string cudaPath;
  /// The folder with what rank programs are linked to: libcleave_rt.so,
  /// libcleave_mpi.so, the C start-up objects, the rank main object, the
  /// launcher.
  std::string resources;
  /// Called when a long step begins; may be empty.
  std::function<void(llvm::StringRef)> progress;
};

/// Loads what the translation to LLVM IR needs. Call it before passes run.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Notes what the user knows of a logical module, the whole inputs and outputs
/// of @main, as module attributes `cleave.inputs` and `cleave.outputs`: arrays
/// of {name = "..", type = tensor<..>}. Call it before passes run.
[[nodiscard]] mlir::LogicalResult recordSignature(mlir::ModuleOp module);

/// Whether a module has stage functions with planned memory: what emitProgram
/// takes.
bool isRankModule(mlir::ModuleOp module);

/// Fails when the output could not be written: where nobody can write, or over
/// what is no OUT. Call it before long work.
[[nodiscard]] mlir::LogicalResult verifyOutput(mlir::MLIRContext *context,
                                               const EmitOptions &options);

/// Writes what `options` asks for: OUT of all buckets, other kinds of the only
/// one. OUT appears complete or not at all; an older OUT of Cleave is replaced,
/// anything else of that name is refused. Every failure has a diagnostic.
[[nodiscard]] EmitResult emitProgram(llvm::ArrayRef<mlir::ModuleOp> buckets,
                                     const EmitOptions &options);

} // namespace cleave

#endif
