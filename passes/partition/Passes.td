//===- Passes.td - from a logical program to rank programs ----------------===//
#ifndef CLEAVE_PASSES_PARTITION_PASSES
#define CLEAVE_PASSES_PARTITION_PASSES

include "mlir/Pass/PassBase.td"

def PropagateShardingsPass : Pass<"cleave-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "gives every value of the logical program a sharding";
  let description = [{
    Forward from operands to results by the factors of each op, backward to what is
    open, replicated for the rest. What has a sharding keeps it.

    ```mlir
    cleave.param @w : tensor<8x6xf32> sharding #cleave.sharding<@m, [{}, {"tp"} ]>
    %w = cleave.load @w : tensor<8x6xf32>
    %y = cleave.dot %x, %w {...} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    ```
    becomes
    ```mlir
    %w = cleave.load @w {cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"} ]>]} : tensor<8x6xf32>
    %y = cleave.dot %x, %w {..., cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"} ]>]} : ...
    ```
  }];
}

def LiftCountsPass : Pass<"cleave-lift-counts", "::mlir::ModuleOp"> {
  let summary = "computes what micro-batches need of all of them before their loop";
  let description = [{
    A count over the whole batch that ops of one micro-batch read is computed once more
    for them, from whole inputs and on each rank. With `%labels` and `%losses` split over
    micro-batches, `%n` partial over them:

    ```mlir
    %n = cleave.reduce sum %labels {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %b = cleave.broadcast %n {dims = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %y = cleave.binary div %losses, %b : tensor<4xf32>
    ```
    `%b` reads a `%n1` that is like `%n`, but replicated.
  }];
}

def InsertReshardsPass : Pass<"cleave-insert-reshards", "::mlir::ModuleOp"> {
  let summary = "makes every change of sharding an op";
  let description = [{
    After it, the operands of each op have the layout that its rule needs for the
    shardings of its results.

    ```mlir
    // %h: partial<sum, {"tp"}>; gelu is not linear, its result is replicated
    %g = cleave.unary gelu_erf %h {cleave.shardings = [#cleave.sharding<@m, [{} ]>]} : tensor<4xf32>
    ```
    becomes
    ```mlir
    %r = cleave.reshard %h <@m, [{} ]> {...} : tensor<4xf32>
    %g = cleave.unary gelu_erf %r {cleave.shardings = [#cleave.sharding<@m, [{} ]>]} : tensor<4xf32>
    ```
  }];
}

def CutStagesPass : Pass<"cleave-cut-stages", "::mlir::ModuleOp"> {
  let summary = "makes one function a pipeline stage, with sends and receives";
  let description = [{
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %a = cleave.unary exp %x {cleave.stage = 0 : i64, ...} : tensor<4xf32>
      %r = cleave.reshard %a <@stage1, [{} ]> {cleave.stage = 1 : i64, ...} : tensor<4xf32>
      %b = cleave.unary tanh %r {cleave.stage = 1 : i64, ...} : tensor<4xf32>
      return %b : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @program0(%x: tensor<4xf32>) attributes {cleave.stage = 0 : i64} {
      %a = cleave.unary exp %x {...} : tensor<4xf32>
      cleave.send %a pairs [0, 1] tag 0 : tensor<4xf32>
      return
    }
    func.func @program1() -> tensor<4xf32> attributes {cleave.stage = 1 : i64} {
      %r = cleave.recv pairs [0, 1] tag 0 {...} : tensor<4xf32>
      %b = cleave.unary tanh %r {...} : tensor<4xf32>
      return %b : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def LocalizePass : Pass<"cleave-localize", "::mlir::ModuleOp"> {
  let summary = "rebuilds each stage on local tensors and collectives";
  let description = [{
    ```mlir
    // @w is [{"tp"}, {} ] over 2 ranks
    %y = cleave.dot %x, %w {..., cleave.shardings = [#cleave.sharding<@m, [{}, {} ], partial<sum, {"tp"}>>]}
       : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %r = cleave.reshard %y <@m, [{}, {} ]> {...} : tensor<4x6xf32>
    ```
    becomes
    ```mlir
    %y = cleave.dot %x, %w {...} : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %r = cleave.all_reduce sum %y @m ["tp"] : tensor<4x6xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def OptimizeCollectivesPass : Pass<"cleave-optimize-collectives", "::mlir::ModuleOp"> {
  let summary = "removes and shrinks collectives of the rank programs";
  let description = [{
    ```mlir
    %r = cleave.all_reduce sum %x @m ["tp"] : tensor<4xf32>
    %t = cleave.take_shard %r, %i {dim = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
    ```
    becomes
    ```mlir
    %t = cleave.reduce_scatter sum %x @m ["tp"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
    ```
  }];
}

#endif
