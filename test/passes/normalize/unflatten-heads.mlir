// RUN: cleave-opt --cleave-unflatten-heads --split-input-file %s | FileCheck %s

// Tests that the split of a product's result becomes free dims of the product,
// through the sum with a bias; weight and bias keep the user's shape.
// CHECK: cleave.param @w : tensor<8x2x3xf32> {true_shape = array<i64: 8, 6>}
// CHECK: cleave.param @b : tensor<2x3xf32> {true_shape = array<i64: 6>}
cleave.param @w : tensor<8x6xf32>
cleave.param @b : tensor<6xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x2x3xf32> {
  // CHECK-DAG: %[[W:.*]] = cleave.load @w : tensor<8x2x3xf32>
  // CHECK-DAG: %[[B:.*]] = cleave.load @b : tensor<2x3xf32>
  // CHECK-DAG: %[[Y:.*]] = cleave.dot %arg0, %[[W]] {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>}
  // CHECK-DAG: %[[R:.*]] = cleave.broadcast %[[B]] {dims = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK: %[[S:.*]] = cleave.binary {{ ?}}add %[[Y]], %[[R]]
  // CHECK-NEXT: return %[[S]]
  %w = cleave.load @w : tensor<8x6xf32>
  %b = cleave.load @b : tensor<6xf32>
  %0 = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = cleave.broadcast %b {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
  %2 = cleave.binary add %0, %1 : tensor<4x6xf32>
  %3 = cleave.reshape %2 : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  return %3 : tensor<4x2x3xf32>
}

// -----

// Tests that joined heads become contracting dims.
// CHECK: cleave.param @w : tensor<2x3x8xf32> {true_shape = array<i64: 6, 8>}
cleave.param @w : tensor<6x8xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x2x3xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[W:.*]] = cleave.load @w : tensor<2x3x8xf32>
  // CHECK-NEXT: %[[Y:.*]] = cleave.dot %arg0, %[[W]] {lhs_batch = array<i64>, lhs_contract = array<i64: 1, 2>, rhs_batch = array<i64>, rhs_contract = array<i64: 0, 1>} : (tensor<4x2x3xf32>, tensor<2x3x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %w = cleave.load @w : tensor<6x8xf32>
  %0 = cleave.reshape %x : (tensor<4x2x3xf32>) -> tensor<4x6xf32>
  %1 = cleave.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Tests that rows that are joined for a product and split after an activation
// are never joined.
cleave.param @w : tensor<8x6xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x4x8xf32>) -> tensor<2x4x6xf32> {
  // CHECK-NEXT: %[[W:.*]] = cleave.load @w : tensor<8x6xf32>
  // CHECK-NEXT: %[[Y:.*]] = cleave.dot %arg0, %[[W]] {{.*}} -> tensor<2x4x6xf32>
  // CHECK-NEXT: %[[R:.*]] = cleave.unary {{ ?}}relu %[[Y]]
  // CHECK-NEXT: return %[[R]]
  %w = cleave.load @w : tensor<8x6xf32>
  %0 = cleave.reshape %x : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %1 = cleave.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = cleave.unary relu %1 : tensor<8x6xf32>
  %3 = cleave.reshape %2 : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
  return %3 : tensor<2x4x6xf32>
}

// -----

// Tests that the parts of a fused projection are slices of a dim that counts
// them, and share one product.
// CHECK: cleave.param @w : tensor<8x3x2x5xf32> {true_shape = array<i64: 8, 30>}
cleave.param @w : tensor<8x30xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x2x5xf32>, tensor<4x2x5xf32>) {
  // CHECK: %[[Y:.*]] = cleave.dot {{.*}} -> tensor<4x3x2x5xf32>
  // CHECK-NOT: cleave.dot
  // CHECK-DAG: cleave.slice %[[Y]] {sizes = array<i64: 4, 1, 2, 5>, starts = array<i64: 0, 0, 0, 0>
  // CHECK-DAG: cleave.slice %[[Y]] {sizes = array<i64: 4, 1, 2, 5>, starts = array<i64: 0, 2, 0, 0>
  %w = cleave.load @w : tensor<8x30xf32>
  %0 = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x30xf32>) -> tensor<4x30xf32>
  %1 = cleave.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 4, 10>, strides = array<i64: 1, 1>} : (tensor<4x30xf32>) -> tensor<4x10xf32>
  %2 = cleave.slice %0 {starts = array<i64: 0, 20>, sizes = array<i64: 4, 10>, strides = array<i64: 1, 1>} : (tensor<4x30xf32>) -> tensor<4x10xf32>
  %3 = cleave.reshape %1 : (tensor<4x10xf32>) -> tensor<4x2x5xf32>
  %4 = cleave.reshape %2 : (tensor<4x10xf32>) -> tensor<4x2x5xf32>
  return %3, %4 : tensor<4x2x5xf32>, tensor<4x2x5xf32>
}

// -----

// Tests that a weight with another reader keeps its type and is reshaped.
// CHECK: cleave.param @w : tensor<8x6xf32>{{$}}
cleave.param @w : tensor<8x6xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x2x3xf32>, tensor<8x6xf32>) {
  // CHECK: %[[W:.*]] = cleave.load @w : tensor<8x6xf32>
  // CHECK: %[[V:.*]] = cleave.reshape %[[W]] : (tensor<8x6xf32>) -> tensor<8x2x3xf32>
  // CHECK: cleave.dot %arg0, %[[V]]
  // CHECK: return {{.*}}, %[[W]]
  %w = cleave.load @w : tensor<8x6xf32>
  %0 = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = cleave.reshape %0 : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  return %1, %w : tensor<4x2x3xf32>, tensor<8x6xf32>
}

// -----

// Tests that a product that is also read unsplit stays, as does a dim of size 1
// before a product.
cleave.param @w : tensor<8x6xf32>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %z: tensor<4x1x8xf32>, %v: tensor<8x6xf32>) -> (tensor<4x2x3xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK: cleave.load @w : tensor<8x6xf32>
  // CHECK: %[[Y:.*]] = cleave.dot {{.*}} -> tensor<4x6xf32>
  // CHECK: cleave.reshape %[[Y]]
  // CHECK: %[[Z:.*]] = cleave.reshape %arg1
  // CHECK: cleave.dot %[[Z]], %arg2
  %w = cleave.load @w : tensor<8x6xf32>
  %0 = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = cleave.reshape %0 : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  %2 = cleave.reshape %z : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %3 = cleave.dot %2, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %1, %0, %3 : tensor<4x2x3xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
