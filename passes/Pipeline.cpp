//===- Pipeline.cpp - the phases in order ---------------------------------===//
//
// Reads as the picture of the design: normalize, train, plan, partition,
// schedule, fuse, memory, with checks between. A phase adds its own passes in
// its room.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"

#include "passes/fuse/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/normalize/Passes.h"
#include "passes/partition/Passes.h"
#include "passes/schedule/Passes.h"
#include "passes/verify/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace cleave;

static void buildTrain(mlir::OpPassManager &pm,
                       const PipelineOptions &options) {
  DifferentiatePassOptions differentiate = options.differentiate;
  if (!options.loss.kind.empty()) {
    pm.addPass(createAddLossPass(options.loss));
    differentiate.loss = LossName;
  } else {
    pm.addPass(createMaskSamplesPass({differentiate.loss}));
  }
  pm.addPass(createFreezePass(options.freeze));
  pm.addPass(createDifferentiatePass(differentiate));
  pm.addPass(createAddOptimizerPass(options.optimizer));
  pm.addPass(mlir::createCSEPass());
}

void cleave::buildPlanPipeline(mlir::OpPassManager &pm,
                               const PipelineOptions &options) {
  buildNormalizePipeline(pm);
  if (options.train)
    buildTrain(pm, options);
  pm.addPass(createPlanPass(options.plan));
}

void cleave::buildPipeline(mlir::OpPassManager &pm,
                           const PipelineOptions &options) {
  auto verify = [&](auto pass) {
    if (options.verify)
      pm.addPass(std::move(pass));
  };
  buildPlanPipeline(pm, options);
  verify(createVerifyShardingsPass());
  buildPartitionPipeline(pm);
  verify(createVerifyLocalPass());
  pm.addPass(createFormChunksPass());
  pm.addPass(createOrderChunksPass());
  verify(createVerifyCollectivesPass());
  bool isCuda = options.target == "cuda";
  pm.addPass(createWidenProductsPass({/*narrow=*/isCuda}));
  pm.addPass(createFormKernelsPass());
  pm.addPass(createOverlapCollectivesPass());
  pm.addPass(createResolveViewsPass({/*channelsLast=*/!isCuda}));
  pm.addPass(createFormPreparePass());
  if (!isCuda)
    pm.addPass(createPadRowsPass());
  pm.addPass(createAssignBuffersPass({/*reuse=*/true, /*addInPlace=*/!isCuda}));
}

namespace {
/// What the pipeline takes on the command line of cleave-opt.
struct Flags : mlir::PassPipelineOptions<Flags> {
  Option<int64_t> dp{*this, "dp", llvm::cl::desc("ranks that share the batch"),
                     llvm::cl::init(1)};
  Option<int64_t> tp{*this, "tp", llvm::cl::desc("ranks that share tensors"),
                     llvm::cl::init(1)};
  Option<int64_t> pp{*this, "pp", llvm::cl::desc("pipeline stages"),
                     llvm::cl::init(1)};
  Option<std::string> target{*this, "target", llvm::cl::desc("cpu or cuda"),
                             llvm::cl::init("cpu")};
  Option<bool> train{*this, "train", llvm::cl::desc("add a training step"),
                     llvm::cl::init(false)};
};
} // namespace

void cleave::registerPipeline() {
  mlir::PassPipelineRegistration<Flags>(
      "cleave-pipeline",
      "from a logical module to rank programs with planned memory",
      [](mlir::OpPassManager &pm, const Flags &flags) {
        PipelineOptions options;
        options.plan.dp = flags.dp;
        options.plan.tp = flags.tp;
        options.plan.pp = flags.pp;
        options.train = flags.train;
        options.target = flags.target;
        buildPipeline(pm, options);
      });
}
