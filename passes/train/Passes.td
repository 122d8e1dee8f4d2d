//===- Passes.td - training phase -----------------------------------------===//
#ifndef CLEAVE_PASSES_TRAIN
#define CLEAVE_PASSES_TRAIN

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"cleave-differentiate", "::mlir::ModuleOp"> {
  let summary = "adds the gradient of a scalar result with respect to every float param";
  let description = [{
    Reverse mode on logical ops, by DifferentiableOpInterface. Only ops between a
    param and the loss are differentiated; contributions to a value are summed
    once. Every gradient becomes a result of the function that names its param.
    Forward ops get a number (`cleave.node`), backward ops name it (`cleave.origin`).

    Before:
    ```mlir
    %w = cleave.load @w : tensor<4xf32>
    %y = cleave.binary mul %x, %w : tensor<4xf32>
    %l = cleave.reduce sum %y {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    return %l : tensor<f32>
    ```
    After:
    ```mlir
    %one = cleave.constant dense<1.0> : tensor<f32>
    %dy = cleave.broadcast %one {dims = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %dw = cleave.binary mul %dy, %x : tensor<4xf32>
    return %l, %dw : tensor<f32>, tensor<4xf32>   // {cleave.gradient_of = @w}
    ```
    Refuses, all at once: ops without a gradient on the way.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"\"",
           "name of the result to differentiate; may be empty when there is one result">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def AddOptimizerPass : Pass<"cleave-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "turns gradients into stores of updated params";
  let description = [{
    Plain SGD, w := w - lr g. The rate is the state symbol `cleave.lr`.
    A result with `cleave.gradient_of = @w` becomes
    ```mlir
    %w1 = cleave.binary sub %w, %scaled : tensor<4xf32>
    cleave.store %w1, @w : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"rate", "lr", "double", "0.01", "learning rate">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

#endif
