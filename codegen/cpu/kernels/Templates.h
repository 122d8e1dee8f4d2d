//===- Templates.h - the kernel templates of the CPU ----------------------===//
//
// A template writes code that does items [begin, end), and says how many items
// there are.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CPU_KERNELS_TEMPLATES_H
#define CLEAVE_CODEGEN_CPU_KERNELS_TEMPLATES_H

#include "codegen/cpu/kernels/Kernels.h"
#include "codegen/kernels/Template.h"

namespace cleave {

// Each fails with a diagnostic at the op that it has no code for.
mlir::FailureOr<KernelPlan> buildLoopKernel(Template &);
mlir::FailureOr<KernelPlan> buildResizeKernel(Template &, ResizeOp);
mlir::FailureOr<KernelPlan> buildPoolKernel(Template &, PoolOp);
mlir::FailureOr<KernelPlan> buildPoolChannels(Template &, PoolOp);
mlir::FailureOr<KernelPlan> buildRowKernel(Template &);
mlir::FailureOr<KernelPlan> buildReduceKernel(Template &);
mlir::FailureOr<KernelPlan> buildAttentionKernel(Template &);

//===-- Nests ---------------------------------------------------------------//

/// Carries values through the vectors of [0, size), in a few independent chains
/// that `combine` joins at the end, in fixed order.
Code::Values
foldVectors(Code &, int64_t size, mlir::ValueRange init,
            llvm::function_ref<Code::Values(mlir::Value base, mlir::Value mask,
                                            mlir::ValueRange carried)>
                body,
            llvm::function_ref<Code::Values(mlir::ValueRange, mlir::ValueRange)>
                combine);

} // namespace cleave

#endif
