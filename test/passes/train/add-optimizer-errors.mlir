// RUN: not cleave-opt %s --cleave-add-optimizer 2>&1 | FileCheck %s

// Tests that an optimizer without gradients is refused.

// CHECK: error: no result of @main is a gradient; run cleave-differentiate first
func.func @main(%l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}
