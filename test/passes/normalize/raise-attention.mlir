// RUN: cleave-opt --cleave-simplify --cleave-raise-attention --canonicalize --split-input-file %s | FileCheck %s

// Tests keys that are transposed for the product, and the root of the scale on
// queries and keys: 0.5 * 0.5 = 0.25.
// CHECK-LABEL: func.func @split_scale
func.func @split_scale(%q: tensor<1x4x2x8xf32>, %k: tensor<1x4x2x8xf32>, %v: tensor<1x4x2x8xf32>) -> tensor<1x4x2x8xf32> {
  // CHECK-DAG: %[[Q:.*]] = cleave.transpose %arg0 {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-DAG: %[[K:.*]] = cleave.transpose %arg1 {perm = array<i64: 0, 2, 1, 3>}
  // CHECK-DAG: %[[V:.*]] = cleave.transpose %arg2 {perm = array<i64: 0, 2, 1, 3>}
  // CHECK: %[[Y:.*]] = cleave.attention %[[Q]], %[[K]], %[[V]] {scale = 2.500000e-01 : f64} : {{.*}} -> tensor<1x2x4x8xf32>
  // CHECK-NEXT: %[[T:.*]] = cleave.transpose %[[Y]]
  // CHECK-NEXT: return %[[T]]
  %root = cleave.constant dense<0.5> : tensor<1x2x4x8xf32>
  %root_k = cleave.constant dense<0.5> : tensor<1x2x8x4xf32>
  %0 = cleave.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x2x8xf32>) -> tensor<1x2x4x8xf32>
  %1 = cleave.binary mul %0, %root : tensor<1x2x4x8xf32>
  %2 = cleave.transpose %k {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x4x2x8xf32>) -> tensor<1x2x8x4xf32>
  %3 = cleave.binary mul %2, %root_k : tensor<1x2x8x4xf32>
  %4 = cleave.dot %1, %3 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = cleave.softmax %4 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %6 = cleave.transpose %v {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x2x8xf32>) -> tensor<1x2x4x8xf32>
  %7 = cleave.dot %5, %6 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %8 = cleave.transpose %7 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x4x8xf32>) -> tensor<1x4x2x8xf32>
  return %8 : tensor<1x4x2x8xf32>
}

// -----

// Tests a scale on the scores and an added mask that is the same for all heads.
// CHECK-LABEL: func.func @mask
func.func @mask(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>, %m: tensor<1x4x4xf32>) -> tensor<1x2x4x8xf32> {
  // CHECK-NEXT: %[[M:.*]] = cleave.reshape %arg3 : (tensor<1x4x4xf32>) -> tensor<1x1x4x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = cleave.attention %arg0, %arg1, %arg2, %[[M]] {scale = 5.000000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  %half = cleave.constant dense<0.5> : tensor<1x2x4x4xf32>
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = cleave.binary mul %0, %half : tensor<1x2x4x4xf32>
  %2 = cleave.broadcast %m {dims = array<i64: 0, 2, 3>} : (tensor<1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = cleave.binary add %2, %1 : tensor<1x2x4x4xf32>
  %4 = cleave.softmax %3 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = cleave.dot %4, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %5 : tensor<1x2x4x8xf32>
}

// -----

// Tests that a mask made of comparisons is recognised as causal.
// CHECK-LABEL: func.func @causal
func.func @causal(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = cleave.attention %arg0, %arg1, %arg2 {causal, scale = 1.000000e+00 : f64}
  // CHECK-NEXT: return %[[Y]]
  %zero = cleave.constant dense<0.0> : tensor<4x4xf32>
  %low = cleave.constant dense<-3.40282347E+38> : tensor<4x4xf32>
  %s = cleave.iota {dim = 0 : i64} : tensor<4x4xi64>
  %t = cleave.iota {dim = 1 : i64} : tensor<4x4xi64>
  %c = cleave.compare le %t, %s : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
  %m = cleave.select %c, %zero, %low : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = cleave.broadcast %m {dims = array<i64: 2, 3>} : (tensor<4x4xf32>) -> tensor<1x2x4x4xf32>
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = cleave.binary add %0, %b : tensor<1x2x4x4xf32>
  %2 = cleave.softmax %1 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = cleave.dot %2, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %3 : tensor<1x2x4x8xf32>
}

// -----

// Tests scores that are replaced where a constant or an input says so; the first is
// causal, the second a mask.
// CHECK-LABEL: func.func @selected
func.func @selected(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>, %keep: tensor<1x1x1x4xi1>) -> tensor<1x2x4x8xf32> {
  // CHECK-DAG: %[[M:.*]] = cleave.select %arg3, {{.*}} -> tensor<1x1x1x4xf32>
  // CHECK-DAG: cleave.attention %arg0, %arg1, %arg2, %[[M]] {causal, scale = 1.000000e+00 : f64}
  %tri = cleave.constant dense<[[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]]> : tensor<1x1x4x4xi1>
  %low = cleave.constant dense<-1.0e10> : tensor<1x2x4x4xf32>
  %c = cleave.broadcast %tri {dims = array<i64: 0, 1, 2, 3>} : (tensor<1x1x4x4xi1>) -> tensor<1x2x4x4xi1>
  %b = cleave.broadcast %keep {dims = array<i64: 0, 1, 2, 3>} : (tensor<1x1x1x4xi1>) -> tensor<1x2x4x4xi1>
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = cleave.select %c, %0, %low : (tensor<1x2x4x4xi1>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = cleave.select %b, %1, %low : (tensor<1x2x4x4xi1>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = cleave.softmax %2 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %4 = cleave.dot %3, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %4 : tensor<1x2x4x8xf32>
}

// -----

// Tests grouped queries: keys and values of 2 heads, each repeated for 2, are
// read without the repetition.
// CHECK-LABEL: func.func @grouped
func.func @grouped(%q: tensor<1x4x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x4x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = cleave.attention %arg0, %arg1, %arg2 {scale = 1.000000e+00 : f64} : (tensor<1x4x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x4x4x8xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = cleave.broadcast %k {dims = array<i64: 0, 1, 3, 4>} : (tensor<1x2x4x8xf32>) -> tensor<1x2x2x4x8xf32>
  %1 = cleave.reshape %0 : (tensor<1x2x2x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = cleave.transpose %1 {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x4x8x4xf32>
  %3 = cleave.broadcast %v {dims = array<i64: 0, 1, 3, 4>} : (tensor<1x2x4x8xf32>) -> tensor<1x2x2x4x8xf32>
  %4 = cleave.reshape %3 : (tensor<1x2x2x4x8xf32>) -> tensor<1x4x4x8xf32>
  %5 = cleave.dot %q, %2 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x4x4x8xf32>, tensor<1x4x8x4xf32>) -> tensor<1x4x4x4xf32>
  %6 = cleave.softmax %5 {dim = 3 : i64} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %7 = cleave.dot %6, %4 {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x4x4x4xf32>, tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %7 : tensor<1x4x4x8xf32>
}

// -----

// Tests that a single batch dim becomes the heads of one batch.
// CHECK-LABEL: func.func @one_batch_dim
func.func @one_batch_dim(%q: tensor<6x4x8xf32>, %k: tensor<6x5x8xf32>, %v: tensor<6x5x3xf32>) -> tensor<6x4x3xf32> {
  // CHECK: %[[Y:.*]] = cleave.attention {{.*}} : (tensor<1x6x4x8xf32>, tensor<1x6x5x8xf32>, tensor<1x6x5x3xf32>) -> tensor<1x6x4x3xf32>
  // CHECK: cleave.reshape %[[Y]] : (tensor<1x6x4x3xf32>) -> tensor<6x4x3xf32>
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<6x4x8xf32>, tensor<6x5x8xf32>) -> tensor<6x4x5xf32>
  %1 = cleave.softmax %0 {dim = 2 : i64} : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %2 = cleave.dot %1, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<6x4x5xf32>, tensor<6x5x3xf32>) -> tensor<6x4x3xf32>
  return %2 : tensor<6x4x3xf32>
}

// -----

// Tests that attention whose weights are an output, too, stays.
// CHECK-LABEL: func.func @weights_read
func.func @weights_read(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x4xf32>) {
  // CHECK-NOT: cleave.attention
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = cleave.softmax %0 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = cleave.dot %1, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %2, %1 : tensor<1x2x4x8xf32>, tensor<1x2x4x4xf32>
}

// -----

// Tests that a softmax over the queries and one of scaled, masked scores stay.
// CHECK-LABEL: func.func @others
func.func @others(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>, %m: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) {
  // CHECK-NOT: cleave.attention
  %half = cleave.constant dense<0.5> : tensor<1x2x4x4xf32>
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = cleave.softmax %0 {dim = 2 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = cleave.dot %1, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %3 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %4 = cleave.binary add %3, %m : tensor<1x2x4x4xf32>
  %5 = cleave.binary mul %4, %half : tensor<1x2x4x4xf32>
  %6 = cleave.softmax %5 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %7 = cleave.dot %6, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %2, %7 : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
}

// -----

// Tests that a constant mask stays an operand when it is not strictly triangular: one
// low but readable entry.
// CHECK-LABEL: func.func @not_causal
func.func @not_causal(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  // CHECK: cleave.attention %arg0, %arg1, %arg2, %{{.*}} {scale = 1.000000e+00 : f64}
  %m = cleave.constant dense<[[[[0.0, -1.0e4, -1.0e10, -1.0e10], [0.0, 0.0, -1.0e10, -1.0e10], [0.0, 0.0, 0.0, -1.0e10], [0.0, 0.0, 0.0, 0.0]]]]> : tensor<1x1x4x4xf32>
  %b = cleave.broadcast %m {dims = array<i64: 0, 1, 2, 3>} : (tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  %0 = cleave.dot %q, %k {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
  %1 = cleave.binary add %0, %b : tensor<1x2x4x4xf32>
  %2 = cleave.softmax %1 {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = cleave.dot %2, %v {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 2>} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %3 : tensor<1x2x4x8xf32>
}
