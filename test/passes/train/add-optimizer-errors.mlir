// RUN: not cleave-opt %s --cleave-add-optimizer 2>&1 | FileCheck %s

// Tests that an optimizer without gradients is refused.

// CHECK: error: the loss depends on no parameter: there is nothing to train
func.func @main(%l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}
