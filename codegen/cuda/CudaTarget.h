//===- CudaTarget.h - programs for CUDA devices ---------------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_CUDATARGET_H
#define CLEAVE_CODEGEN_CUDA_CUDATARGET_H

#include "codegen/cuda/PostKernel.h"
#include "codegen/cuda/Toolkit.h"
#include "codegen/cuda/kernels/Kernels.h"
#include "codegen/host/Target.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace cleave {

struct CudaOptions {
  /// "sm_80", ...; binaries are made for each.
  std::vector<std::string> archs;
  std::string cudaPath; ///< see findPtxas
  bool ptxOnly = false; ///< no binaries
};

/// Kernels are PTX and cubins; the host code launches them. Products go to
/// cuBLASLt, convolutions to cuDNN, and what these leave of a kernel's chain is
/// a kernel behind them.
class CudaTarget : public ProgramTarget {
public:
  explicit CudaTarget(CudaOptions options) : options(std::move(options)) {}

  mlir::LogicalResult buildKernels(mlir::func::FuncOp stage,
                                   mlir::ModuleOp program) override;
  void emitCall(StepBuilder &step, KernelOp kernel,
                mlir::ArrayRef<mlir::Value> pointers) override;
  mlir::FailureOr<LibraryCall> readLibrary(KernelOp kernel) override;
  mlir::LogicalResult finishLibrary(StepBuilder &step, KernelOp kernel,
                                    mlir::Value result,
                                    Address address) override;
  mlir::Value addConstant(StepBuilder &step, llvm::StringRef bytes) override;
  void storeIndex(StepBuilder &step, mlir::Value index,
                  mlir::Value address) override;
  mlir::FailureOr<std::string> addDeviceCode(mlir::ModuleOp program) override;
  DeviceFigures getFigures() const override { return figures; }

  /// The PTX of all architectures, once there is device code.
  std::string getPtx() const;

private:
  struct Function {
    std::string name;
    cuda::LaunchPlan plan;
  };
  mlir::LogicalResult add(KernelOp kernel);
  mlir::LogicalResult addPost(KernelOp library);
  /// Number of the function of a kernel; it is made where there is none yet.
  mlir::FailureOr<size_t> getFunction(KernelOp kernel, llvm::StringRef what,
                                      llvm::ArrayRef<BufferAttr> operands,
                                      llvm::ArrayRef<BufferAttr> results);
  void launch(StepBuilder &step, size_t function,
              mlir::ArrayRef<mlir::Value> pointers, mlir::Location loc);

  CudaOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  std::vector<Function> functions;
  llvm::StringMap<size_t> byKey;
  llvm::DenseMap<mlir::Operation *, size_t> uses;
  /// What is left of a library kernel's chain.
  struct Rest {
    size_t function;
    llvm::SmallVector<LibraryOperand> reads;
  };
  llvm::DenseMap<mlir::Operation *, Rest> rests;
  std::string constants;
  llvm::StringMap<int64_t> constantPlaces;
  int32_t cells = 0;
  DeviceFigures figures;
  std::vector<std::pair<int64_t, std::string>> ptx; ///< by architecture
};

} // namespace cleave

#endif
