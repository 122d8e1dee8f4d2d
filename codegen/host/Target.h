//===- Target.h - what differs between targets in a program ---------------===//
//
// The host code of a step is the same for all targets: calls of the runtime in
// order. A target generates the kernels, and says how the host code calls them,
// what a library call does of a kernel's chain, and where constants lie.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_HOST_TARGET_H
#define CLEAVE_CODEGEN_HOST_TARGET_H

#include "codegen/host/DeviceFigures.h"
#include "codegen/host/LibraryCall.h"
#include "codegen/host/StepBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave {

/// Kernels and conventions of one program for one target.
class ProgramTarget {
public:
  using Address =
      llvm::function_ref<mlir::FailureOr<mlir::Value>(const LibraryOperand &)>;

  virtual ~ProgramTarget() = default;

  /// Generates what the kernels of `stage` need, and adds to `program`, an LLVM
  /// dialect module, what the host code refers to. Comes before all else.
  [[nodiscard]] virtual mlir::LogicalResult
  buildKernels(mlir::func::FuncOp stage, mlir::ModuleOp program) = 0;

  /// Emits the call of a generated kernel; `pointers` are the addresses of its
  /// operands, then of its results.
  virtual void emitCall(StepBuilder &step, KernelOp kernel,
                        mlir::ArrayRef<mlir::Value> pointers) = 0;

  /// The library call of a matmul or conv kernel.
  virtual mlir::FailureOr<LibraryCall> readLibrary(KernelOp kernel) = 0;

  /// Emits what the library call leaves of the kernel's chain.
  [[nodiscard]] virtual mlir::LogicalResult finishLibrary(StepBuilder &step,
                                                          KernelOp kernel,
                                                          mlir::Value result,
                                                          Address address) {
    return mlir::success();
  }

  /// Address of constant bytes that kernels and library calls read.
  virtual mlir::Value addConstant(StepBuilder &step, llvm::StringRef bytes) = 0;

  /// Stores an index of this rank where kernels read it.
  virtual void storeIndex(StepBuilder &step, mlir::Value index,
                          mlir::Value address) = 0;

  /// Adds the code of devices to the program; the symbol of a CleaveDeviceCode,
  /// empty where there is none. Comes after the host code.
  virtual mlir::FailureOr<std::string> addDeviceCode(mlir::ModuleOp program) {
    return std::string();
  }

  /// Of the device code, once it was added.
  virtual DeviceFigures getFigures() const { return {}; }
};

} // namespace cleave

#endif
