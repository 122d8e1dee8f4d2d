// RUN: cleave-opt %s --canonicalize | FileCheck %s

// Tests the shape arithmetic of exported models: (2, 3, 4)[1:] joined with 7 x 2.
// CHECK-LABEL: func.func @shapes
func.func @shapes() -> tensor<3xi64> {
  %shape = cleave.constant dense<[2, 3, 4]> : tensor<3xi64>
  %tail = cleave.slice %shape {starts = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xi64>) -> tensor<2xi64>
  %seven = cleave.constant dense<7> : tensor<1xi64>
  %two = cleave.constant dense<2> : tensor<1xi64>
  %p = cleave.binary mul %seven, %two : tensor<1xi64>
  // CHECK: %[[C:.*]] = cleave.constant dense<[3, 4, 14]> : tensor<3xi64>
  %all = cleave.concat %tail, %p {dim = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  // CHECK: return %[[C]]
  return %all : tensor<3xi64>
}

// Tests that a transposed table, then gathered from the end, folds: column -1 of
// [[1, 2], [3, 4], [5, 6]] is [2, 4, 6].
// CHECK-LABEL: func.func @gather
func.func @gather() -> tensor<3xi64> {
  %t = cleave.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %u = cleave.transpose %t {perm = array<i64: 1, 0>} : (tensor<3x2xi64>) -> tensor<2x3xi64>
  %last = cleave.constant dense<-1> : tensor<i64>
  // CHECK: cleave.constant dense<[2, 4, 6]> : tensor<3xi64>
  %g = cleave.gather %u, %last {dim = 0 : i64} : (tensor<2x3xi64>, tensor<i64>) -> tensor<3xi64>
  return %g : tensor<3xi64>
}

// Tests that an index out of range and a division by zero are left to run time.
// CHECK-LABEL: func.func @left
func.func @left() -> (tensor<i64>, tensor<i64>) {
  %t = cleave.constant dense<[1, 2]> : tensor<2xi64>
  %two = cleave.constant dense<2> : tensor<i64>
  %zero = cleave.constant dense<0> : tensor<i64>
  // CHECK: cleave.gather
  %g = cleave.gather %t, %two {dim = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  // CHECK: cleave.binary div
  %d = cleave.binary div %two, %zero : tensor<i64>
  return %g, %d : tensor<i64>, tensor<i64>
}

// Tests that splats of any size fold, and that a select on a constant is one side.
// CHECK-LABEL: func.func @splats
func.func @splats(%x: tensor<1000x1000xf32>) -> (tensor<1000x1000xf32>, tensor<1000x1000xf32>) {
  %a = cleave.constant dense<2.0> : tensor<1000x1000xf32>
  %b = cleave.constant dense<3.0> : tensor<1000x1000xf32>
  // CHECK: %[[SIX:.*]] = cleave.constant dense<6.000000e+00> : tensor<1000x1000xf32>
  %p = cleave.binary mul %a, %b : tensor<1000x1000xf32>
  %c = cleave.compare lt %a, %b : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xi1>
  %s = cleave.select %c, %x, %p : (tensor<1000x1000xi1>, tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  // CHECK: return %[[SIX]], %arg0
  return %p, %s : tensor<1000x1000xf32>, tensor<1000x1000xf32>
}

// Tests that bools are reduced by or and and, as at run time.
// CHECK-LABEL: func.func @bools
func.func @bools() -> (tensor<i1>, tensor<i1>) {
  %t = cleave.constant dense<[true, true]> : tensor<2xi1>
  %f = cleave.constant dense<[true, false]> : tensor<2xi1>
  // CHECK-DAG: %[[TRUE:.*]] = cleave.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[FALSE:.*]] = cleave.constant dense<false> : tensor<i1>
  %any = cleave.reduce max %t {dims = array<i64: 0>} : (tensor<2xi1>) -> tensor<i1>
  %all = cleave.reduce min %f {dims = array<i64: 0>} : (tensor<2xi1>) -> tensor<i1>
  // CHECK: return %[[TRUE]], %[[FALSE]]
  return %any, %all : tensor<i1>, tensor<i1>
}

// Tests that integers fold exactly and wrap as at run time: 2^53 + 1 has no double,
// and the least i64 has no positive twin.
// CHECK-LABEL: func.func @exact
func.func @exact() -> (tensor<2xi64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>) {
  %odd = cleave.constant dense<[9007199254740993, -9007199254740993]> : tensor<2xi64>
  // CHECK-DAG: %[[NEG:.*]] = cleave.constant dense<[-9007199254740993, 9007199254740993]>
  %neg = cleave.unary neg %odd : tensor<2xi64>
  %least = cleave.constant dense<-9223372036854775808> : tensor<i64>
  %minus = cleave.constant dense<-1> : tensor<i64>
  // CHECK-DAG: %[[LEAST:.*]] = cleave.constant dense<-9223372036854775808>
  %abs = cleave.unary abs %least : tensor<i64>
  %div = cleave.binary div %least, %minus : tensor<i64>
  // CHECK-DAG: %[[MOST:.*]] = cleave.constant dense<9223372036854775807>
  %sum = cleave.binary add %least, %minus : tensor<i64>
  // 2^54 + 2^30 + 1 is nearest to 2^54 + 2^31 as a float; the double between them is
  // halfway and would round to 2^54.
  %near = cleave.constant dense<18014399583223809> : tensor<i64>
  // CHECK-DAG: %[[FLOAT:.*]] = cleave.constant dense<1.801440e+16> : tensor<f32>
  %float = cleave.cast %near : (tensor<i64>) -> tensor<f32>
  // CHECK: return %[[NEG]], %[[LEAST]], %[[LEAST]], %[[MOST]], %[[FLOAT]]
  return %neg, %abs, %div, %sum, %float : tensor<2xi64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>
}

// Tests that a NaN stays one, on either side, as at run time.
// CHECK-LABEL: func.func @nan
func.func @nan() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = cleave.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %b = cleave.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  // CHECK-DAG: %[[BOTH:.*]] = cleave.constant dense<0x7FC00000> : tensor<2xf32>
  %max = cleave.binary max %a, %b : tensor<2xf32>
  %min = cleave.binary min %a, %b : tensor<2xf32>
  // CHECK-DAG: %[[RELU:.*]] = cleave.constant dense<[0x7FC00000, 1.000000e+00]> : tensor<2xf32>
  %relu = cleave.unary relu %a : tensor<2xf32>
  // CHECK: return %[[BOTH]], %[[BOTH]], %[[RELU]]
  return %max, %min, %relu : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Tests that a float beyond an integer's range folds to the nearest one.
// CHECK-LABEL: func.func @saturate
func.func @saturate() -> tensor<2xi32> {
  %x = cleave.constant dense<[1.0e20, -1.0e20]> : tensor<2xf32>
  // CHECK: cleave.constant dense<[2147483647, -2147483648]> : tensor<2xi32>
  %y = cleave.cast %x : (tensor<2xf32>) -> tensor<2xi32>
  return %y : tensor<2xi32>
}
