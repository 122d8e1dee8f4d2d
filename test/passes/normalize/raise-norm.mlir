// RUN: cleave-opt --cleave-simplify --cleave-raise-norm --split-input-file %s | FileCheck %s

// Tests an exporter's layer norm: kept dims, a power, a root, scale and bias. The
// mean of 8 is the sum times 0.125.
// CHECK-LABEL: func.func @layer
func.func @layer(%x: tensor<2x4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = cleave.norm {{ ?}}layer %arg0, %arg1, %arg2 {axis = 2 : i64, epsilon = 5.000000e-01 : f64
  // CHECK-NEXT: return %[[Y]]
  %n = cleave.constant dense<0.125> : tensor<2x4xf32>
  %two = cleave.constant dense<2.0> : tensor<2x4x8xf32>
  %eps = cleave.constant dense<0.5> : tensor<2x4x1xf32>
  %0 = cleave.reduce sum %x {dims = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %1 = cleave.binary mul %0, %n : tensor<2x4xf32>
  %2 = cleave.reshape %1 : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %3 = cleave.broadcast %2 {dims = array<i64: 0, 1, 2>} : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %4 = cleave.binary sub %x, %3 : tensor<2x4x8xf32>
  %5 = cleave.binary pow %4, %two : tensor<2x4x8xf32>
  %6 = cleave.reduce sum %5 {dims = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %7 = cleave.binary mul %6, %n : tensor<2x4xf32>
  %8 = cleave.reshape %7 : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
  %9 = cleave.binary add %8, %eps : tensor<2x4x1xf32>
  %10 = cleave.unary sqrt %9 : tensor<2x4x1xf32>
  %11 = cleave.broadcast %10 {dims = array<i64: 0, 1, 2>} : (tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %12 = cleave.binary div %4, %11 : tensor<2x4x8xf32>
  %13 = cleave.broadcast %g {dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x4x8xf32>
  %14 = cleave.binary mul %12, %13 : tensor<2x4x8xf32>
  %15 = cleave.broadcast %b {dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x4x8xf32>
  %16 = cleave.binary add %14, %15 : tensor<2x4x8xf32>
  return %16 : tensor<2x4x8xf32>
}

// -----

// Tests a root-mean-square norm: a product as the square, a reciprocal root, the
// scale on the left, no bias; the sum with another full tensor stays.
// CHECK-LABEL: func.func @rms
func.func @rms(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = cleave.norm {{ ?}}rms %arg0, %arg1 {axis = 1 : i64, epsilon = 5.000000e-01 : f64
  // CHECK-NEXT: %[[Z:.*]] = cleave.binary {{ ?}}add %[[Y]], %arg2
  // CHECK-NEXT: return %[[Z]]
  %n = cleave.constant dense<8.0> : tensor<4xf32>
  %eps = cleave.constant dense<0.5> : tensor<4xf32>
  %0 = cleave.binary mul %x, %x : tensor<4x8xf32>
  %1 = cleave.reduce sum %0 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = cleave.binary div %1, %n : tensor<4xf32>
  %3 = cleave.binary add %eps, %2 : tensor<4xf32>
  %4 = cleave.unary sqrt %3 : tensor<4xf32>
  %5 = cleave.unary reciprocal %4 : tensor<4xf32>
  %6 = cleave.broadcast %5 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %7 = cleave.binary mul %6, %x : tensor<4x8xf32>
  %8 = cleave.broadcast %g {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %9 = cleave.binary mul %8, %7 : tensor<4x8xf32>
  %10 = cleave.binary add %9, %r : tensor<4x8xf32>
  return %10 : tensor<4x8xf32>
}

// -----

// Tests a norm over two dims, and that a scale for each row is not taken in.
// CHECK-LABEL: func.func @two_dims
func.func @two_dims(%x: tensor<3x2x4xf32>, %g: tensor<3xf32>) -> tensor<3x2x4xf32> {
  // CHECK: %[[Y:.*]] = cleave.norm {{ ?}}rms %arg0 {axis = 1 : i64
  // CHECK: cleave.binary {{ ?}}mul %[[Y]]
  %n = cleave.constant dense<0.125> : tensor<3xf32>
  %eps = cleave.constant dense<0.5> : tensor<3xf32>
  %0 = cleave.binary mul %x, %x : tensor<3x2x4xf32>
  %1 = cleave.reduce sum %0 {dims = array<i64: 1, 2>} : (tensor<3x2x4xf32>) -> tensor<3xf32>
  %2 = cleave.binary mul %1, %n : tensor<3xf32>
  %3 = cleave.binary add %2, %eps : tensor<3xf32>
  %4 = cleave.unary rsqrt %3 : tensor<3xf32>
  %5 = cleave.broadcast %4 {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<3x2x4xf32>
  %6 = cleave.binary mul %x, %5 : tensor<3x2x4xf32>
  %7 = cleave.broadcast %g {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<3x2x4xf32>
  %8 = cleave.binary mul %6, %7 : tensor<3x2x4xf32>
  return %8 : tensor<3x2x4xf32>
}

// -----

// Tests that an unbiased variance (a seventh of 8 elements) is no norm.
// CHECK-LABEL: func.func @unbiased
func.func @unbiased(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: cleave.norm
  %n = cleave.constant dense<0.142857> : tensor<4xf32>
  %eps = cleave.constant dense<0.5> : tensor<4xf32>
  %0 = cleave.binary mul %x, %x : tensor<4x8xf32>
  %1 = cleave.reduce sum %0 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = cleave.binary mul %1, %n : tensor<4xf32>
  %3 = cleave.binary add %2, %eps : tensor<4xf32>
  %4 = cleave.unary rsqrt %3 : tensor<4xf32>
  %5 = cleave.broadcast %4 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %6 = cleave.binary mul %x, %5 : tensor<4x8xf32>
  return %6 : tensor<4x8xf32>
}

// -----

// Tests that a norm over leading dims (channels first) and one of another value's
// variance stay.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<8x4xf32>, %z: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK-NOT: cleave.norm
  %n = cleave.constant dense<0.125> : tensor<4xf32>
  %q = cleave.constant dense<0.25> : tensor<8xf32>
  %eps = cleave.constant dense<0.5> : tensor<4xf32>
  %eps8 = cleave.constant dense<0.5> : tensor<8xf32>
  %0 = cleave.binary mul %x, %x : tensor<8x4xf32>
  %1 = cleave.reduce sum %0 {dims = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
  %2 = cleave.binary mul %1, %n : tensor<4xf32>
  %3 = cleave.binary add %2, %eps : tensor<4xf32>
  %4 = cleave.unary rsqrt %3 : tensor<4xf32>
  %5 = cleave.broadcast %4 {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  %6 = cleave.binary mul %x, %5 : tensor<8x4xf32>
  %7 = cleave.reduce sum %0 {dims = array<i64: 1>} : (tensor<8x4xf32>) -> tensor<8xf32>
  %8 = cleave.binary mul %7, %q : tensor<8xf32>
  %9 = cleave.binary add %8, %eps8 : tensor<8xf32>
  %10 = cleave.unary rsqrt %9 : tensor<8xf32>
  %11 = cleave.broadcast %10 {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x4xf32>
  %12 = cleave.binary mul %z, %11 : tensor<8x4xf32>
  return %6, %12 : tensor<8x4xf32>, tensor<8x4xf32>
}
