//===- Pipeline.cpp - the passes of this room, in order -------------------===//

#include "passes/partition/Passes.h"

#include "mlir/Pass/PassManager.h"

void cleave::buildPartitionPipeline(mlir::OpPassManager &pm) {
  pm.addPass(createPropagateShardingsPass());
  pm.addPass(createLiftCountsPass());
  pm.addPass(createInsertReshardsPass());
  pm.addPass(createCutStagesPass());
  pm.addPass(createLocalizePass());
  pm.addPass(createOptimizeCollectivesPass());
}
