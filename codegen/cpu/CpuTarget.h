//===- CpuTarget.h - programs for CPUs ------------------------------------===//

#ifndef CLEAVE_CODEGEN_CPU_CPUTARGET_H
#define CLEAVE_CODEGEN_CPU_CPUTARGET_H

#include "codegen/cpu/kernels/Kernels.h"
#include "codegen/host/Target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace cleave {

/// Kernels are range functions of the program; oneDNN does the whole chain of a
/// library kernel in one call.
class CpuTarget : public ProgramTarget {
public:
  /// Kernels that differ only by where their tensors lie share a function.
  mlir::LogicalResult buildKernels(mlir::func::FuncOp stage,
                                   mlir::ModuleOp program) override;
  void emitCall(StepBuilder &step, KernelOp kernel,
                mlir::ArrayRef<mlir::Value> pointers) override;
  mlir::FailureOr<LibraryCall> readLibrary(KernelOp kernel) override;
  mlir::Value addConstant(StepBuilder &step, llvm::StringRef bytes) override;
  void storeIndex(StepBuilder &step, mlir::Value index,
                  mlir::Value address) override;

private:
  /// A range function and how to run it.
  struct Function {
    std::string name;
    KernelPlan plan;
  };
  mlir::LogicalResult add(KernelOp kernel, mlir::ModuleOp program);

  llvm::SmallVector<Function> functions;
  llvm::StringMap<size_t> byKey;
  llvm::DenseMap<mlir::Operation *, size_t> uses;
};

} // namespace cleave

#endif
