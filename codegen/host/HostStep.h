//===- HostStep.h - the program of one stage, as an LLVM dialect module ---===//

#ifndef CLEAVE_CODEGEN_HOST_HOSTSTEP_H
#define CLEAVE_CODEGEN_HOST_HOSTSTEP_H

#include "codegen/RankModule.h"
#include "codegen/host/Target.h"
#include "mlir/IR/OwningOpRef.h"

namespace cleave {

/// Kernels and functions of one stage, and what CleaveProgram says of them.
struct ProgramCode {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t arenaBytes = 0;
  int32_t slotCount = 0;
  bool hasPrepare = false;
  std::string device; ///< symbol of the device code; empty: none
};

/// Names of the functions in the module.
inline constexpr const char *StepFunction = "step";
inline constexpr const char *PrepareFunction = "prepare";

/// Generates the code of a program. Kernels with equal bodies and strides are
/// generated once.
mlir::FailureOr<ProgramCode> buildProgram(const RankModule &ranks,
                                          const Program &program,
                                          ProgramTarget &target);

/// Adds the constant `cleave_program` (runtime/Abi.h) to a program's module.
void addProgramSymbol(const ProgramCode &code, llvm::StringRef name,
                      llvm::StringRef identity);

} // namespace cleave

#endif
