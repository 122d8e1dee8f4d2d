// RUN: cleave-opt --cleave-simplify --split-input-file %s | FileCheck %s

// Tests that identities vanish, also those whose constant stands on the left.
// CHECK-LABEL: func.func @identities
func.func @identities(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK-NEXT: return %arg0, %arg1
  %zero = cleave.constant dense<0.0> : tensor<4xf32>
  %one = cleave.constant dense<1.0> : tensor<f32>
  %ones = cleave.broadcast %one {dims = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  %true = cleave.constant dense<true> : tensor<4xi1>
  %0 = cleave.binary add %zero, %x : tensor<4xf32>
  %1 = cleave.binary mul %0, %ones : tensor<4xf32>
  %2 = cleave.binary div %1, %ones : tensor<4xf32>
  %3 = cleave.binary pow %2, %ones : tensor<4xf32>
  %4 = cleave.binary and %true, %b : tensor<4xi1>
  return %3, %4 : tensor<4xf32>, tensor<4xi1>
}

// -----

// Tests that 0 - x and 1 * x of different values stay: x - 0 is none of them.
// CHECK-LABEL: func.func @no_identities
func.func @no_identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: binary sub
  // CHECK: binary mul
  %zero = cleave.constant dense<0.0> : tensor<4xf32>
  %near = cleave.constant dense<1.0001> : tensor<4xf32>
  %0 = cleave.binary sub %zero, %x : tensor<4xf32>
  %1 = cleave.binary mul %0, %near : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Tests that x ^ 2 becomes a product and x ^ 2.5 stays.
// CHECK-LABEL: func.func @powers
func.func @powers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: binary {{ ?}}mul %arg0, %arg0
  // CHECK: binary {{ ?}}pow %arg0
  %two = cleave.constant dense<2.0> : tensor<4xf32>
  %other = cleave.constant dense<2.5> : tensor<4xf32>
  %0 = cleave.binary pow %x, %two : tensor<4xf32>
  %1 = cleave.binary pow %x, %other : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that scales of one value join: x / 4 * 2 = x * 0.5.
// CHECK-LABEL: func.func @scales
func.func @scales(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = cleave.constant dense<5.000000e-01> : tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = cleave.binary {{ ?}}mul %arg0, %[[C]]
  // CHECK-NEXT: return %[[Y]]
  %four = cleave.constant dense<4.0> : tensor<4xf32>
  %two = cleave.constant dense<2.0> : tensor<4xf32>
  %0 = cleave.binary div %x, %four : tensor<4xf32>
  %1 = cleave.binary mul %two, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Tests that integers are not divided by multiplication, nor anything by 0.
// CHECK-LABEL: func.func @quotients_stay
func.func @quotients_stay(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  // CHECK: binary {{ ?}}div {{.*}} tensor<4xf32>
  // CHECK: binary {{ ?}}div {{.*}} tensor<4xi64>
  %zero = cleave.constant dense<0.0> : tensor<4xf32>
  %four = cleave.constant dense<4> : tensor<4xi64>
  %0 = cleave.binary div %x, %zero : tensor<4xf32>
  %1 = cleave.binary div %i, %four : tensor<4xi64>
  return %0, %1 : tensor<4xf32>, tensor<4xi64>
}

// -----

// Tests that a quotient by a root that is kept as a dim and repeated becomes a
// product with rsqrt.
// CHECK-LABEL: func.func @root
func.func @root(%x: tensor<4x8xf32>, %v: tensor<4xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = cleave.unary {{ ?}}rsqrt %arg1 : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = cleave.broadcast %[[R]] {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[Y:.*]] = cleave.binary {{ ?}}mul %arg0, %[[B]]
  // CHECK-NEXT: return %[[Y]]
  %k = cleave.reshape %v : (tensor<4xf32>) -> tensor<4x1xf32>
  %s = cleave.unary sqrt %k : tensor<4x1xf32>
  %b = cleave.broadcast %s {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %y = cleave.binary div %x, %b : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests that broadcasts of broadcasts join and that one that repeats nothing is a
// reshape.
// CHECK-LABEL: func.func @broadcasts
func.func @broadcasts(%x: tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<1x3xf32>) {
  // CHECK-DAG: cleave.broadcast %arg0 {dims = array<i64: 2>} : (tensor<3xf32>) -> tensor<2x4x3xf32>
  // CHECK-DAG: cleave.reshape %arg0 : (tensor<3xf32>) -> tensor<1x3xf32>
  %0 = cleave.broadcast %x {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<4x3xf32>
  %1 = cleave.broadcast %0 {dims = array<i64: 1, 2>} : (tensor<4x3xf32>) -> tensor<2x4x3xf32>
  %2 = cleave.broadcast %x {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<1x3xf32>
  return %1, %2 : tensor<2x4x3xf32>, tensor<1x3xf32>
}

// -----

// Tests that a gather of one constant index, from the end, is a slice; and that
// an irregular gather stays.
// CHECK-LABEL: func.func @gathers
func.func @gathers(%x: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x3xf32>) {
  // CHECK: %[[S:.*]] = cleave.slice %arg0 {sizes = array<i64: 1, 4>, starts = array<i64: 2, 0>, strides = array<i64: 1, 1>}
  // CHECK: cleave.reshape %[[S]] : (tensor<1x4xf32>) -> tensor<4xf32>
  // CHECK: cleave.gather
  %last = cleave.constant dense<-1> : tensor<i64>
  %mixed = cleave.constant dense<[0, 1, 3]> : tensor<3xi64>
  %0 = cleave.gather %x, %last {dim = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  %1 = cleave.gather %x, %mixed {dim = 1 : i64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3x3xf32>
}

// -----

// Tests that a slice of a slice starts where both say: 1 + 2 * 2 = 5.
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<12xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: cleave.slice %arg0 {sizes = array<i64: 2>, starts = array<i64: 5>, strides = array<i64: 4>} : (tensor<12xf32>) -> tensor<2xf32>
  %0 = cleave.slice %x {starts = array<i64: 1>, sizes = array<i64: 5>, strides = array<i64: 2>} : (tensor<12xf32>) -> tensor<5xf32>
  %1 = cleave.slice %0 {starts = array<i64: 2>, sizes = array<i64: 2>, strides = array<i64: 2>} : (tensor<5xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// Tests that the transpose of a weight becomes another contracting dim, and that
// a transposed activation stays.
cleave.param @w : tensor<5x8xf32>
// CHECK-LABEL: func.func @weight_transpose
func.func @weight_transpose(%x: tensor<4x8xf32>, %a: tensor<5x8xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  // CHECK: %[[W:.*]] = cleave.load @w
  // CHECK: cleave.dot %arg0, %[[W]] {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>}
  // CHECK: cleave.transpose %arg1
  %w = cleave.load @w : tensor<5x8xf32>
  %t = cleave.transpose %w {perm = array<i64: 1, 0>} : (tensor<5x8xf32>) -> tensor<8x5xf32>
  %y = cleave.dot %x, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  %ta = cleave.transpose %a {perm = array<i64: 1, 0>} : (tensor<5x8xf32>) -> tensor<8x5xf32>
  %z = cleave.dot %x, %ta {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %y, %z : tensor<4x5xf32>, tensor<4x5xf32>
}
