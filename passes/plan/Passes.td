//===- Passes.td - the planner ----------------------------------------------===//
#ifndef CLEAVE_PASSES_PLAN_PASSES
#define CLEAVE_PASSES_PLAN_PASSES

include "mlir/Pass/PassBase.td"

def PlanPass : Pass<"cleave-plan", "::mlir::ModuleOp"> {
  let summary = "decides stages and shardings and writes them as attributes";
  let description = [{
    Rewrites nothing. What options leave open is found by cost: with `ranks` or
    a cluster, the sizes dp, tp and pp that are not given and the micro-batches
    (see Candidates.h); then what each axis splits, dp before tp (see
    AxisSearch.h). The module's `cleave.annotations` for as many ranks are kept to
    (see AnnotationPins.h), unless there is a plan. With `cleave.base_plan`, the
    plan of another bucket, sizes, stages and layouts of parameters are as there. All that was considered is left as `cleave.candidates`.

    With `tp=2`:

    ```mlir
    cleave.param @w : tensor<64x256xf32> = #cleave.weights<"m.onnx", 0, 65536>
    func.func @main(%x: tensor<8x64xf32> {cleave.name = "x"}) -> (tensor<8x256xf32> {cleave.name = "y"}) {
      %w = cleave.load @w : tensor<64x256xf32>
      %y = cleave.dot %x, %w {...} : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
      return %y : tensor<8x256xf32>
    }
    ```
    becomes
    ```mlir
    cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
    cleave.param @w : tensor<64x256xf32> = ... sharding #cleave.sharding<@stage0, [{}, {"tp"} ]>
    func.func @main(%x: tensor<8x64xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}, {} ]>, ...})
        -> (tensor<8x256xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}, {} ]>, ...}) {
      %w = cleave.load @w {cleave.shardings = [#cleave.sharding<@stage0, [{}, {"tp"} ]>]} : tensor<64x256xf32>
      %y = cleave.dot %x, %w {cleave.shardings = [#cleave.sharding<@stage0, [{}, {"tp"} ]>], ...} : ...
    ```
  }];
  let options = [
    Option<"dp", "dp", "int64_t", "0", "ranks that share the batch; 0: open">,
    Option<"tp", "tp", "int64_t", "0", "ranks that share tensors; 0: open">,
    Option<"pp", "pp", "int64_t", "0", "pipeline stages; 0: open">,
    Option<"microBatches", "microbatches", "int64_t", "0", "parts of the batch that are processed one after the other; 0: open">,
    Option<"schedule", "schedule", "std::string", "", "gpipe or 1f1b, the order of micro-batches in training; empty: open">,
    Option<"leastBatch", "least-batch", "int64_t", "0", "of all buckets of the model, which dp has to divide; 0: that of the module">,
    Option<"ranks", "ranks", "int64_t", "0", "ranks that will run; 0: those of the cluster, or as many as needed">,
    Option<"shards", "shards", "std::string", "", "patterns GLOB=DIMS, separated by ;">,
    Option<"stages", "stages", "std::string", "", "patterns NODE-GLOB=STAGE, separated by ;">,
    Option<"planFile", "plan", "std::string", "", "plan.json to replay">,
    Option<"configuration", "configuration", "std::string", "", "of the module's annotations, the one to keep to">,
    Option<"cluster", "cluster", "std::string", "", "description of the machines; default: this host">,
    Option<"objective", "objective", "std::string", "\"automatic\"", "automatic, balanced, time or memory">,
    Option<"output", "output", "std::string", "", "where to write plan.json">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

#endif
