//===- Passes.td - schedule phase -----------------------------------------===//
#ifndef CLEAVE_PASSES_SCHEDULE
#define CLEAVE_PASSES_SCHEDULE

include "mlir/Pass/PassBase.td"

def FormChunksPass : Pass<"cleave-form-chunks", "::mlir::ModuleOp"> {
  let summary = "moves what depends on the micro-batch into chunks";
  let description = [{
    In a stage function on a mesh with micro-batches, everything that depends on the
    index along "mb" runs once a micro-batch: forward ops in chunk "forward", ops
    that come from a gradient (`cleave.origin`) in chunk "backward". A reduction over
    "mb" becomes a carried sum, a gather over "mb" a stacked result. What depends on
    those runs once, after the schedule.

    Before:
    ```mlir
    %i = cleave.axis_index @stage0 ["mb"] : tensor<i64>
    %x = cleave.take_shard %in, %i {dim = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
    %s = cleave.reduce sum %x {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
    %t = cleave.all_reduce sum %s @stage0 ["mb"] : tensor<f32>
    ```
    After:
    ```mlir
    %t = cleave.chunk "forward"(%zero) : (tensor<f32>) -> tensor<f32> {
    ^bb0(%acc: tensor<f32>):
      %i = cleave.axis_index ...  %x = cleave.take_shard ...  %s = cleave.reduce ...
      %new = cleave.binary add %acc, %s : tensor<f32>
      cleave.yield %new : tensor<f32>
    }
    ```
    Refuses: a value reduced over "mb" that the same loop needs.
  }];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def OrderChunksPass : Pass<"cleave-order-chunks", "::mlir::ModuleOp"> {
  let summary = "writes the order in which a stage runs its chunks";
  let description = [{
    Stage s of p with m micro-batches. Forward only: one loop. gpipe: all forward,
    then all backward. 1f1b: w = min(p - 1 - s, m) forward calls to warm up, then
    m - w times forward and backward in turn, then w backward calls to drain
    (PipeDream-Flush, arXiv 2006.09503). The slots of values that backward reads
    are the micro-batches in flight: m, or w + 1. Which of the two is the module's
    `cleave.schedule_kind`; without it 1f1b.

    After:
    ```mlir
    cleave.schedule [#cleave.loop<1 x ["forward" 0]>, #cleave.loop<3 x ["forward" 1, "backward" 0]>, #cleave.loop<1 x ["backward" 3]>]
    ```
  }];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def OverlapCollectivesPass : Pass<"cleave-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "starts collectives early and waits for them late, behind kernels that need no result of them";
  let description = [{
    Needs kernels. A collective moves up to where its operand is made, and kernels that
    stand behind its first user but need nothing of it move in front of that, as many as
    about hide it. Where a kernel stands between now, the collective is started, and
    `cleave.done` waits in front of the first user.

    Before:
    ```mlir
    %s = cleave.all_reduce sum %p @stage0 ["tp"] : tensor<4x8xf32>
    %r = cleave.kernel loop(%s) : ...
    %k = cleave.kernel matmul(%x, %w) : ...
    ```
    After:
    ```mlir
    %0 = cleave.all_reduce sum %p @stage0 ["tp"] {asynchronous} : tensor<4x8xf32>
    %k = cleave.kernel matmul(%x, %w) : ...
    %s = cleave.done %0, %p : tensor<4x8xf32>, tensor<4x8xf32>
    %r = cleave.kernel loop(%s) : ...
    ```
  }];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

#endif
