//===- Kernels.h - turn cleave.kernel into range functions and objects ----===//
//
// One call per kernel builds its function, one lowers a module of them, one
// makes an object file. The host side meets the kernels here and nowhere else.
//
// A kernel function has the type CleaveKernelFn of runtime/Abi.h. args[i] is
// the address of the first element of operand i, then of the results, as
// `operands` and `results` describe them (offset, space and index of a buffer
// are the host's business: only the strides are read here). Where the plan says
// `mayFail`, one more argument follows: the address of an i64 error cell. The
// host sets it to 0 before the kernel runs and calls cleaveFail with
// `failMessage` when it is not 0 afterwards; the kernel reads nothing out of
// bounds in that case.
//
// Bools are bytes that hold 0 or 1. f16 and bf16 are computed in f32 and
// rounded when they are stored. Functions may call libm (powf, fmodf and the
// functions of f64): link it. A result may share its buffer with an operand
// only when the body reads that operand element by element at the result's own
// index (no broadcast, gather, concat, pad, resize, attention, reduce) and the
// strides are equal.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CPU_KERNELS_KERNELS_H
#define CLEAVE_CODEGEN_CPU_KERNELS_KERNELS_H

#include "codegen/kernels/Template.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace cleave {

/// Adds `llvm.func @name(%args: !llvm.ptr, %begin: i64, %end: i64, %scratch:
/// !llvm.ptr)` for the kernel to `target`, in LLVM, scf, arith, math and vector
/// ops that `lowerKernels` turns into the LLVM dialect. The module must not
/// have a symbol `name`. Fails with a diagnostic at the op that has no code.
mlir::FailureOr<KernelPlan> buildKernel(KernelOp op,
                                        llvm::ArrayRef<BufferAttr> operands,
                                        llvm::ArrayRef<BufferAttr> results,
                                        llvm::StringRef name,
                                        mlir::ModuleOp target);

/// Lowers what `buildKernel` made, and leaves LLVM dialect ops alone.
mlir::LogicalResult lowerKernels(mlir::ModuleOp target);

/// Optimises (-O3) and compiles a module of the LLVM dialect for `cpu`,
/// "native" or a name that LLVM knows, to position-independent object bytes.
/// Vectors are 512 bits wide where the CPU has AVX-512. `llvm.target_triple` is
/// the host's.
mlir::LogicalResult emitObject(mlir::ModuleOp llvmModule, llvm::StringRef cpu,
                               llvm::SmallVectorImpl<char> &object);

} // namespace cleave

#endif
