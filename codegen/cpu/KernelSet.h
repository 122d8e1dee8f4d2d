//===- KernelSet.h - the generated kernels of a program -------------------===//

#ifndef CLEAVE_CODEGEN_CPU_KERNELSET_H
#define CLEAVE_CODEGEN_CPU_KERNELSET_H

#include "codegen/cpu/kernels/Kernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace cleave {

/// A range function and how to run it.
struct KernelFunction {
  std::string name;
  KernelPlan plan;
};

class KernelSet {
public:
  /// Generates and lowers, in `target`, what the kernels of `stage` need.
  /// Kernels that differ only by where their tensors lie share a function.
  [[nodiscard]] mlir::LogicalResult build(mlir::func::FuncOp stage,
                                          mlir::ModuleOp target);

  const KernelFunction &get(KernelOp kernel) const {
    return functions[uses.lookup(kernel)];
  }

private:
  mlir::LogicalResult add(KernelOp kernel, mlir::ModuleOp target);

  llvm::SmallVector<KernelFunction> functions;
  llvm::StringMap<size_t> byKey;
  llvm::DenseMap<mlir::Operation *, size_t> uses;
};

} // namespace cleave

#endif
