// RUN: cleave-opt %s --cleave-widen-products | FileCheck %s

// Tests that products, convolutions and attention of narrow floats are in f32.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: tensor<1x2x4x8xf16>, %w: tensor<8x6xf16>, %k: tensor<3x2x1x1xbf16>, %i: tensor<1x2x4x8xbf16>)
    -> (tensor<1x2x4x6xf16>, tensor<1x3x4x8xbf16>, tensor<1x2x4x8xf16>) {
  // CHECK: %[[X:.*]] = cleave.cast %arg0 : (tensor<1x2x4x8xf16>) -> tensor<1x2x4x8xf32>
  // CHECK: %[[W:.*]] = cleave.cast %arg1 : (tensor<8x6xf16>) -> tensor<8x6xf32>
  // CHECK: %[[P:.*]] = cleave.dot %[[X]], %[[W]] {{.*}} -> tensor<1x2x4x6xf32>
  // CHECK: %[[A:.*]] = cleave.cast %[[P]] : (tensor<1x2x4x6xf32>) -> tensor<1x2x4x6xf16>
  %p = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 0>} : (tensor<1x2x4x8xf16>, tensor<8x6xf16>) -> tensor<1x2x4x6xf16>
  // CHECK: %[[C:.*]] = cleave.conv {{.*}} -> tensor<1x3x4x8xf32>
  // CHECK: %[[B:.*]] = cleave.cast %[[C]] : (tensor<1x3x4x8xf32>) -> tensor<1x3x4x8xbf16>
  %c = cleave.conv %i, %k {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x8xbf16>, tensor<3x2x1x1xbf16>) -> tensor<1x3x4x8xbf16>
  // CHECK: %[[S:.*]] = cleave.attention {{.*}}scale = 5.000000e-01{{.*}} -> tensor<1x2x4x8xf32>
  // CHECK: %[[D:.*]] = cleave.cast %[[S]]
  %s = cleave.attention %x, %x, %x {scale = 0.5 : f64} : (tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>, tensor<1x2x4x8xf16>) -> tensor<1x2x4x8xf16>
  // CHECK: return %[[A]], %[[B]], %[[D]]
  return %p, %c, %s : tensor<1x2x4x6xf16>, tensor<1x3x4x8xbf16>, tensor<1x2x4x8xf16>
}

// Tests that a product of integers is a reduction, whose last dim is the one along
// which the right operand lies in memory.
// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<3x4x5xi32>, %w: tensor<3x5x7xi32>, %v: tensor<7x5xi32>) -> (tensor<3x4x7xi32>, tensor<3x4x7xi32>) {
  // CHECK: %[[L:.*]] = cleave.broadcast %arg0 {dims = array<i64: 0, 1, 2>} : (tensor<3x4x5xi32>) -> tensor<3x4x5x7xi32>
  // CHECK: %[[R:.*]] = cleave.broadcast %arg1 {dims = array<i64: 0, 2, 3>} : (tensor<3x5x7xi32>) -> tensor<3x4x5x7xi32>
  // CHECK: %[[M:.*]] = cleave.binary mul %[[L]], %[[R]]
  // CHECK: %[[A:.*]] = cleave.reduce sum %[[M]] {dims = array<i64: 2>} : (tensor<3x4x5x7xi32>) -> tensor<3x4x7xi32>
  %a = cleave.dot %x, %w {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<3x4x5xi32>, tensor<3x5x7xi32>) -> tensor<3x4x7xi32>
  // CHECK: cleave.broadcast %arg0 {dims = array<i64: 0, 1, 3>} : (tensor<3x4x5xi32>) -> tensor<3x4x7x5xi32>
  // CHECK: cleave.broadcast %arg2 {dims = array<i64: 2, 3>} : (tensor<7x5xi32>) -> tensor<3x4x7x5xi32>
  // CHECK: %[[B:.*]] = cleave.reduce sum %{{.*}} {dims = array<i64: 3>} : (tensor<3x4x7x5xi32>) -> tensor<3x4x7xi32>
  %b = cleave.dot %x, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<3x4x5xi32>, tensor<7x5xi32>) -> tensor<3x4x7xi32>
  // CHECK: return %[[A]], %[[B]]
  return %a, %b : tensor<3x4x7xi32>, tensor<3x4x7xi32>
}

// Tests that a product of f32 is left alone.
// CHECK-LABEL: func.func @single
func.func @single(%x: tensor<4x5xf32>, %w: tensor<5x7xf32>) -> tensor<4x7xf32> {
  // CHECK-NEXT: cleave.dot %arg0, %arg1
  // CHECK-NEXT: return
  %a = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  return %a : tensor<4x7xf32>
}
