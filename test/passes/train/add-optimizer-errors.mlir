// RUN: split-file %s %t
// RUN: not cleave-opt %t/without.mlir --cleave-add-optimizer 2>&1 | FileCheck %s
// RUN: not cleave-opt %t/with.mlir --cleave-add-optimizer=optimizer=lion 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cleave-opt %t/with.mlir --cleave-add-optimizer=decay=b=0.5 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not cleave-opt %t/with.mlir --cleave-add-optimizer=decay=w=much 2>&1 | FileCheck %s --check-prefix=NUMBER

// Tests that an optimizer without gradients is refused, that it has a known name, and that patterns match and give
// numbers.

// CHECK: error: the loss depends on no parameter: there is nothing to train
// NAME: error: no optimizer is named 'lion'; expected sgd, adagrad, adam, adamw, lamb or none
// PATTERN: error: no parameter is named like 'b'
// NUMBER: error: expected PATTERN=NUMBER, found 'w=much'

//--- without.mlir
func.func @main(%l: tensor<f32>) -> tensor<f32> {
  return %l : tensor<f32>
}

//--- with.mlir
cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
func.func @main(%l: tensor<f32>, %g: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32> {cleave.gradient_of = @w}) {
  return %l, %g : tensor<f32>, tensor<2xf32>
}
