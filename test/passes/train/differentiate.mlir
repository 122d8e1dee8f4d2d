// RUN: cleave-opt %s --cleave-differentiate=loss=loss --split-input-file | FileCheck %s

// Tests that a product and a sum give the gradients of the calculus: with
// l = sum(x w + b), dl/dw = x^T 1 and dl/db = column sums of 1.

cleave.param @w : tensor<3x2xf32> = dense<1.0> : tensor<3x2xf32>
cleave.param @b : tensor<2xf32> = dense<0.0> : tensor<2xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>) -> (tensor<f32> {cleave.name = "loss"}, tensor<3x2xf32> {cleave.gradient_of = @w, cleave.origin = {{[0-9]+}} : i64}, tensor<2xf32> {cleave.gradient_of = @b, cleave.origin = {{[0-9]+}} : i64})
func.func @main(%x: tensor<4x3xf32>) -> (tensor<f32> {cleave.name = "loss"}) {
  %w = cleave.load @w : tensor<3x2xf32>
  %b = cleave.load @b : tensor<2xf32>
  // CHECK: cleave.dot {{.*}}cleave.node = [[DOT:.*]] : i64
  %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %bb = cleave.broadcast %b {dims = array<i64: 1>} : (tensor<2xf32>) -> tensor<4x2xf32>
  %z = cleave.binary add %y, %bb : tensor<4x2xf32>
  %l = cleave.reduce sum %z {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  // CHECK: %[[DZ:.*]] = cleave.constant {{.*}}dense<1.000000e+00> : tensor<4x2xf32>
  // CHECK: %[[DB:.*]] = cleave.reduce sum %[[DZ]] {{.*}}dims = array<i64: 0>
  // CHECK: %[[DWT:.*]] = cleave.dot %[[DZ]], %[[X]] {cleave.origin = [[DOT]]
  // CHECK: %[[DW:.*]] = cleave.transpose %[[DWT]]
  // CHECK: return %{{.*}}, %[[DW]], %[[DB]]
  return %l : tensor<f32>
}

// -----

// Tests that a value used twice gets one sum of its two contributions.

cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
// CHECK-LABEL: func.func @main
func.func @main() -> (tensor<f32> {cleave.name = "loss"}) {
  // CHECK: %[[W:.*]] = cleave.load @w
  %w = cleave.load @w : tensor<2xf32>
  %q = cleave.binary mul %w, %w : tensor<2xf32>
  %l = cleave.reduce sum %q {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  // CHECK: %[[D:.*]] = cleave.constant {{.*}}dense<1.000000e+00> : tensor<2xf32>
  // CHECK: %[[A:.*]] = cleave.binary mul %[[D]], %[[W]]
  // CHECK: %[[B:.*]] = cleave.binary mul %[[D]], %[[W]]
  // CHECK: %[[SUM:.*]] = cleave.binary add %[[A]], %[[B]]
  // CHECK: return %{{.*}}, %[[SUM]]
  return %l : tensor<f32>
}

// -----

// Tests that what the loss does not depend on has no gradient.

cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
cleave.param @other : tensor<2xf32> = dense<3.0> : tensor<2xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32>, tensor<2xf32> {cleave.gradient_of = @w, cleave.origin = {{[0-9]+}} : i64})
func.func @main() -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32>) {
  %w = cleave.load @w : tensor<2xf32>
  %o = cleave.load @other : tensor<2xf32>
  %e = cleave.unary exp %o : tensor<2xf32>
  %l = cleave.reduce sum %w {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %l, %e : tensor<f32>, tensor<2xf32>
}

// -----

// Tests that gradients of the parts of a value are joined, not summed: what nobody took
// is zero.

cleave.param @w : tensor<8xf32> = dense<3.0> : tensor<8xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>, %y: tensor<5xf32>) -> (tensor<f32> {cleave.name = "loss"}) {
  %w = cleave.load @w : tensor<8xf32>
  %a = cleave.slice %w {starts = array<i64: 6>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<2xf32>
  %b = cleave.slice %w {starts = array<i64: 0>, sizes = array<i64: 5>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<5xf32>
  %ax = cleave.binary mul %a, %x : tensor<2xf32>
  %by = cleave.binary mul %b, %y : tensor<5xf32>
  %la = cleave.reduce sum %ax {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %lb = cleave.reduce sum %by {dims = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %l = cleave.binary add %la, %lb : tensor<f32>
  // CHECK-DAG: %[[DA:.*]] = cleave.binary mul %{{.*}}, %arg0 {cleave.origin
  // CHECK-DAG: %[[DB:.*]] = cleave.binary mul %{{.*}}, %arg1 {cleave.origin
  // CHECK-DAG: %[[GAP:.*]] = cleave.constant {{.*}}dense<0.000000e+00> : tensor<1xf32>
  // CHECK: %[[DW:.*]] = cleave.concat %[[DB]], %[[GAP]], %[[DA]]
  // CHECK: return %{{.*}}, %[[DW]]
  return %l : tensor<f32>
}

// -----

// Tests that a frozen param has no gradient, nor what only leads to the loss through
// steps or integers.

cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
cleave.param @frozen : tensor<2xf32> = dense<3.0> : tensor<2xf32> {frozen}
cleave.param @stepped : tensor<2xf32> = dense<3.0> : tensor<2xf32>
cleave.param @counted : tensor<2xf32> = dense<3.0> : tensor<2xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32> {cleave.gradient_of = @w, cleave.origin = {{[0-9]+}} : i64})
func.func @main() -> (tensor<f32> {cleave.name = "loss"}) {
  %w = cleave.load @w : tensor<2xf32>
  %f = cleave.load @frozen : tensor<2xf32>
  %s = cleave.load @stepped : tensor<2xf32>
  %c = cleave.load @counted : tensor<2xf32>
  %floor = cleave.unary floor %s : tensor<2xf32>
  %i = cleave.cast %c : (tensor<2xf32>) -> tensor<2xi64>
  %back = cleave.cast %i : (tensor<2xi64>) -> tensor<2xf32>
  %a = cleave.binary mul %w, %f : tensor<2xf32>
  %b = cleave.binary add %a, %floor : tensor<2xf32>
  %d = cleave.binary add %b, %back : tensor<2xf32>
  %l = cleave.reduce sum %d {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
