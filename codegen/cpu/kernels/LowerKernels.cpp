//===- LowerKernels.cpp - kernel functions to the LLVM dialect ------------===//
//
// f32 math becomes polynomials on vectors; what has none (f64, powers) becomes
// a call of the math library, one lane at a time. Then vectors, loops and
// arithmetic go to the LLVM dialect by MLIR's own conversions.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Kernels.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace cleave;
using namespace mlir;

namespace {
/// Polynomials for the math functions of f32.
struct ApproximateMathPass
    : public PassWrapper<ApproximateMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMathPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect,
                    vector::VectorDialect, LLVM::LLVMDialect, scf::SCFDialect,
                    cf::ControlFlowDialect, func::FuncDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(
            applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

LogicalResult cleave::lowerKernels(ModuleOp target) {
  PassManager manager(target.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(false);
  manager.addPass(std::make_unique<ApproximateMathPass>());
  manager.addPass(createCSEPass());
  manager.addPass(createConvertSCFToCFPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(target);
}
