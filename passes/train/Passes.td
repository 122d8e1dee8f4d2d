//===- Passes.td - training phase -----------------------------------------===//
#ifndef CLEAVE_PASSES_TRAIN
#define CLEAVE_PASSES_TRAIN

include "mlir/Pass/PassBase.td"

def DifferentiatePass : Pass<"cleave-differentiate", "::mlir::ModuleOp"> {
  let summary = "adds the gradient of a scalar result with respect to every float param that is not frozen";
  let description = [{
    Reverse mode on logical ops, by DifferentiableOpInterface. Only ops between a
    param that is not frozen and the loss are differentiated; contributions to a value
    are summed once, those of its parts side by side. Every gradient becomes a result of the function that names its param.
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
    %dy = cleave.constant dense<1.0> : tensor<4xf32>
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

def AddLossPass : Pass<"cleave-add-loss", "::mlir::ModuleOp"> {
  let summary = "ends a model in a loss: cross_entropy, mse or bce";
  let description = [{
    The labels become an input, the loss a result "loss". cross_entropy: classes are the
    last dim; the mean is over labels that are not ignored. mse: mean((x - y)^2). bce: of
    probabilities, -mean(y log(x) + (1 - y) log(1 - x)). A run may say how many samples of
    a batch count, the first ones (the setting "samples"); the mean is over those.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32> {cleave.name = "y"})
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4x8xf32>, %labels: tensor<4xi64> {cleave.name = "labels"})
      -> (tensor<4x8xf32> {cleave.name = "y"}, tensor<f32> {cleave.name = "loss"})
    ```
  }];
  let options = [
    Option<"kind", "kind", "std::string", "\"\"", "cross_entropy, mse or bce">,
    Option<"logits", "logits", "std::string", "\"\"",
           "name of the result; may be empty when there is one">,
    Option<"labels", "labels", "std::string", "\"labels\"", "name of the new input">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "label that counts nothing">,
    Option<"smoothing", "smoothing", "double", "0.0", "what labels give to all classes">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def MaskSamplesPass : Pass<"cleave-mask-samples", "::mlir::ModuleOp"> {
  let summary = "lets a model's own loss leave samples of a batch out";
  let description = [{
    A loss that is a mean of cross-entropies over the labels that are not ignored leaves
    those samples out that a run does not count (the setting "samples"): their labels are
    ignored. With samples of a label each,
    ```mlir
    %l = cleave.cross_entropy %y, %labels {ignore_index = -100}
    ```
    becomes
    ```mlir
    %counts = cleave.compare lt %places, %samples
    %some = cleave.select %counts, %labels, %ignored
    %l = cleave.cross_entropy %y, %some {ignore_index = -100}
    ```
    Another loss stays as it is.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"\"",
           "name of the result that is the loss; may be empty when there is one result">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def FreezePass : Pass<"cleave-freeze", "::mlir::ModuleOp"> {
  let summary = "chooses the params that are trained, by patterns of their names";
  let description = [{
    A pattern is a glob, several are joined by semicolons. `freeze=*.bias`:
    ```mlir
    cleave.param @fc.bias : tensor<4xf32>
    ```
    becomes
    ```mlir
    cleave.param @fc.bias : tensor<4xf32> {frozen}
    ```
  }];
  let options = [
    Option<"freeze", "freeze", "std::string", "\"\"", "params that are not trained">,
    Option<"only", "only", "std::string", "\"\"", "the only params that are">,
  ];
}

def AddOptimizerPass : Pass<"cleave-add-optimizer", "::mlir::ModuleOp"> {
  let summary = "turns gradients into stores of updated params";
  let description = [{
    UpdateRules.h has the optimizers. What a run sets, as the rate `cleave.rate`, is a
    scalar state with `cleave.setting`; states of the optimizer are params beside the
    one that they belong to, `w.exp_avg`. By sgd, a result with
    `cleave.gradient_of = @w` becomes
    ```mlir
    %w1 = cleave.binary sub %w, %scaled : tensor<4xf32>
    cleave.store %w1, @w : tensor<4xf32>
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"sgd\"",
           "sgd, adagrad, adam, adamw, lamb, or none: gradients are results">,
    Option<"rate", "lr", "double", "-1.0", "learning rate (below 0: the optimizer's own)">,
    Option<"momentum", "momentum", "double", "0.0", "of sgd">,
    Option<"nesterov", "nesterov", "bool", "false", "momentum as Nesterov has it">,
    Option<"beta1", "beta1", "double", "0.9", "of adam, adamw and lamb">,
    Option<"beta2", "beta2", "double", "0.999", "of adam, adamw and lamb">,
    Option<"epsilon", "epsilon", "double", "-1.0", "below 0: the optimizer's own">,
    Option<"decay", "weight-decay", "double", "-1.0", "below 0: the optimizer's own">,
    Option<"decays", "decay", "std::string", "\"\"",
           "PATTERN=NUMBER;...: weight decay of params by name">,
    Option<"clip", "clip", "double", "0.0",
           "largest norm of all gradients together; 0: any">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

#endif
