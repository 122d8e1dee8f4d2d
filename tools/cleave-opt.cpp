//===- cleave-opt.cpp - run passes on text IR -----------------------------===//
//
// Like mlir-opt: every pass of every room by its flag, round-trips text IR.
//
//===----------------------------------------------------------------------===//

#include "ir/Cleave.h"
#include "passes/AllPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<cleave::CleaveDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  cleave::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Cleave pass driver\n", registry));
}
