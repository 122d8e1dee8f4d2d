// RUN: split-file %s %t
// RUN: not cleave-opt %t/model.mlir --cleave-add-loss=kind=hinge 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not cleave-opt %t/model.mlir --cleave-add-loss="kind=mse logits=z" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cleave-opt %t/model.mlir --cleave-add-loss="kind=cross_entropy logits=y" 2>&1 | FileCheck %s --check-prefix=CLASSES
// RUN: not cleave-opt %t/taken.mlir --cleave-add-loss=kind=mse 2>&1 | FileCheck %s --check-prefix=TAKEN

// Tests that a loss is known, of a result that is there and fits it, and does not take a name that is in use.

// KIND: error: no loss is named 'hinge'; expected cross_entropy, mse or bce
// NAME: error: no result is named 'z'; expected what the loss is of
// CLASSES: error: the loss cross_entropy needs floats with classes, found 'tensor<f32>'
// TAKEN: error: a result is named 'loss' already: it can be the loss itself

//--- model.mlir
func.func @main(%x: tensor<f32>) -> (tensor<f32> {cleave.name = "y"}) {
  return %x : tensor<f32>
}

//--- taken.mlir
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {cleave.name = "loss"}) {
  return %x : tensor<4xf32>
}
