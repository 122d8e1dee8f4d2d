// RUN: cleave-opt %s --cleave-differentiate=loss=loss --split-input-file --verify-diagnostics

// Tests that every node without a gradient is named, in one error, before anything else.

cleave.param @w : tensor<4xf32> = dense<3.0> : tensor<4xf32>
// expected-error @+1 {{nodes between the parameters and the loss have no gradient: 'largest' (cumulate of kind max), 'cumulate' (cumulate of kind min), 'put' (scatter that combines by prod)}}
func.func @main(%i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"}) {
  %w = cleave.load @w : tensor<4xf32>
  %n = cleave.cumulate max %w {dim = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32> loc("largest")
  %m = cleave.cumulate min %n {dim = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %p = cleave.scatter %m, %i, %u {dim = 0 : i64, combine = #cleave<reduce_kind prod>} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32> loc("put")
  %l = cleave.reduce sum %p {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Tests that the loss must be there.

// expected-error @+1 {{no result is named 'loss'; expected the name of the loss}}
func.func @main(%x: tensor<f32>) -> (tensor<f32> {cleave.name = "other"}) {
  return %x : tensor<f32>
}

// -----

// Tests that the loss must be a float scalar.

// expected-error @+1 {{loss 'loss' has type 'tensor<2xf32>'; expected a float scalar: does the model end in its loss?}}
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {cleave.name = "loss"}) {
  return %x : tensor<2xf32>
}
