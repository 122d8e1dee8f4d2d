// RUN: cleave-opt %s --cleave-differentiate=loss=loss --split-input-file --verify-diagnostics

// Tests that every op without a gradient is named at once.

cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
func.func @main() -> (tensor<f32> {cleave.name = "loss"}) {
  %w = cleave.load @w : tensor<2xf32>
  // expected-error @+1 {{'cleave.norm' op has no gradient}}
  %n = cleave.norm layer %w {axis = 0 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{'cleave.norm' op has no gradient}}
  %m = cleave.norm rms %n {axis = 0 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<2xf32>) -> tensor<2xf32>
  %l = cleave.reduce sum %m {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
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
