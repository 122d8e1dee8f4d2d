// RUN: cleave-opt %s --cleave-add-optimizer=lr=0.5 | FileCheck %s

// Tests that a gradient becomes w - lr g, stored, and is no result any more.

// CHECK: cleave.param @cleave.lr : tensor<f32> = dense<5.000000e-01> : tensor<f32>
cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
// CHECK: func.func @main(%[[L:.*]]: tensor<f32>, %[[G:.*]]: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"})
func.func @main(%l: tensor<f32>, %g: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32> {cleave.gradient_of = @w}) {
  // CHECK: %[[LR:.*]] = cleave.load @cleave.lr : tensor<f32>
  // CHECK: %[[W:.*]] = cleave.load @w
  // CHECK: %[[FACTOR:.*]] = cleave.broadcast %[[LR]]
  // CHECK: %[[STEP:.*]] = cleave.binary mul %[[FACTOR]], %[[G]]
  // CHECK: %[[NEW:.*]] = cleave.binary sub %[[W]], %[[STEP]]
  // CHECK: cleave.store %[[NEW]], @w
  // CHECK: return %[[L]] : tensor<f32>
  return %l, %g : tensor<f32>, tensor<2xf32>
}
