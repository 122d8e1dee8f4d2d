//===- Pipeline.cpp - the passes of this room, in order -------------------===//

#include "passes/normalize/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace cleave;

static void addSimplify(mlir::OpPassManager &pm) {
  pm.addPass(createSimplifyPass());
  pm.addPass(mlir::createCSEPass());
}

void cleave::buildNormalizePipeline(mlir::OpPassManager &pm) {
  addSimplify(pm);
  pm.addPass(createRaiseGeluPass());
  pm.addPass(createRaiseNormPass());
  pm.addPass(createUnflattenHeadsPass());
  addSimplify(pm);
  pm.addPass(createRaiseAttentionPass());
  addSimplify(pm);
}
