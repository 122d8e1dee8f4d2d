//===- LowerKernels.cpp - kernel functions to the LLVM dialect ------------===//
//
// f32 math becomes polynomials, on vectors of one lane or several: the library
// of device functions is not needed. What is left becomes an instruction, and
// what has none (functions of f64) is an error. Then as on the CPU.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Kernels.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace cleave;
using namespace mlir;

namespace {
/// Polynomials for the math functions of f32; powers by exp and log.
struct ApproximateMathPass
    : public PassWrapper<ApproximateMathPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMathPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect,
                    vector::VectorDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, cf::ControlFlowDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet powers(&getContext());
    populateExpandPowFPattern(powers);
    populateExpandTanPattern(powers);
    populateExpandSinhPattern(powers);
    populateExpandCoshPattern(powers);
    populateExpandAsinhPattern(powers);
    populateExpandAcoshPattern(powers);
    populateExpandAtanhPattern(powers);
    RewritePatternSet polynomials(&getContext());
    populateMathPolynomialApproximationPatterns(polynomials);
    for (RewritePatternSet *patterns : {&powers, &polynomials})
      if (failed(applyPatternsAndFoldGreedily(getOperation(),
                                              std::move(*patterns))))
        return signalPassFailure();
    WalkResult walk = getOperation()->walk([](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          hasInstruction(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' of "
                      << getElementTypeOrSelf(op->getResult(0).getType())
                      << " has no code for CUDA";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

  static bool hasInstruction(Operation *op) {
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
               math::FloorOp, math::FmaOp, math::RoundEvenOp, math::RoundOp,
               math::SqrtOp, math::TruncOp, math::RsqrtOp, math::CtPopOp,
               math::CountLeadingZerosOp>(op);
  }
};
} // namespace

LogicalResult cuda::lowerKernels(ModuleOp target) {
  PassManager manager(target.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(false);
  manager.addPass(std::make_unique<ApproximateMathPass>());
  manager.addPass(createCSEPass());
  manager.addPass(createConvertSCFToCFPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(target);
}
