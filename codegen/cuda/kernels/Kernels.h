//===- Kernels.h - turn cleave.kernel into PTX kernels --------------------===//
//
// One call per kernel builds its function, one lowers a module of them. A
// kernel function takes the addresses of the first elements of its operands,
// then of its results, as `operands` and `results` describe them: the host adds
// offsets to bases that are multiples of BaseAlignment. Where the plan says
// `mayFail`, the address of an i64 error cell follows, which the kernel sets
// where it met what `failMessage` says; it reads nothing out of bounds then.
//
// Bools are bytes that hold 0 or 1. f16 and bf16 are computed in f32 and
// rounded when they are stored. A result may share its buffer with an operand
// as on the CPU (codegen/cpu/kernels/Kernels.h).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_KERNELS_KERNELS_H
#define CLEAVE_CODEGEN_CUDA_KERNELS_KERNELS_H

#include "ir/Cleave.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace cleave::cuda {

/// Alignment of the bases of all spaces in device memory, in bytes.
inline constexpr int64_t BaseAlignment = 256;

/// How a kernel is launched: blocks of a one-dimensional grid, threads of a
/// block. A grid of 0 has nothing to do.
struct LaunchPlan {
  int64_t grid = 0;
  int64_t block = 1;
  bool mayFail = false;
  std::string failMessage = {};
  /// Of an elementwise kernel: why it loads no 8 or 16 bytes at once; empty
  /// where it does.
  std::string narrowLoads = {};
};

/// Adds the kernel function `name` to `target`, in LLVM, NVVM, scf, arith, math
/// and vector ops that `lowerKernels` turns into the LLVM dialect. Fails with a
/// diagnostic at the op that has no code.
mlir::FailureOr<LaunchPlan> buildKernel(KernelOp op,
                                        llvm::ArrayRef<BufferAttr> operands,
                                        llvm::ArrayRef<BufferAttr> results,
                                        llvm::StringRef name,
                                        mlir::ModuleOp target);

/// Text that is equal for two kernels exactly when their functions would be:
/// as on the CPU, with the alignment of each buffer.
std::string getKernelKey(KernelOp op, llvm::ArrayRef<BufferAttr> operands,
                         llvm::ArrayRef<BufferAttr> results);

/// Lowers what `buildKernel` made. Fails with a diagnostic where there is no
/// code for a function of f64.
mlir::LogicalResult lowerKernels(mlir::ModuleOp target);

} // namespace cleave::cuda

#endif
