// RUN: cleave-opt --cleave-simplify --cleave-raise-gelu --split-input-file %s | FileCheck %s

// Tests the erf form with x / sqrt 2 and the half at the end, and at the gate.
// CHECK-LABEL: func.func @erf
func.func @erf(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = cleave.unary {{ ?}}gelu_erf %arg0 : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = cleave.unary {{ ?}}gelu_erf %arg0 : tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %root = cleave.constant dense<1.41421354> : tensor<4xf32>
  %inverse = cleave.constant dense<0.707106769> : tensor<4xf32>
  %one = cleave.constant dense<1.0> : tensor<4xf32>
  %half = cleave.constant dense<0.5> : tensor<4xf32>
  %0 = cleave.binary div %x, %root : tensor<4xf32>
  %1 = cleave.unary erf %0 : tensor<4xf32>
  %2 = cleave.binary add %1, %one : tensor<4xf32>
  %3 = cleave.binary mul %x, %2 : tensor<4xf32>
  %4 = cleave.binary mul %3, %half : tensor<4xf32>
  %5 = cleave.binary mul %x, %inverse : tensor<4xf32>
  %6 = cleave.unary erf %5 : tensor<4xf32>
  %7 = cleave.binary add %one, %6 : tensor<4xf32>
  %8 = cleave.binary mul %half, %7 : tensor<4xf32>
  %9 = cleave.binary mul %x, %8 : tensor<4xf32>
  return %4, %9 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests the tanh form with a cube.
// CHECK-LABEL: func.func @tanh_cube
func.func @tanh_cube(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = cleave.unary {{ ?}}gelu_tanh %arg0 : tensor<4xf32>
  // CHECK-NEXT: return %[[A]]
  %half = cleave.constant dense<0.5> : tensor<4xf32>
  %three = cleave.constant dense<3.0> : tensor<4xf32>
  %a = cleave.constant dense<0.044714998> : tensor<4xf32>
  %k = cleave.constant dense<0.797884583> : tensor<4xf32>
  %one = cleave.constant dense<1.0> : tensor<4xf32>
  %0 = cleave.binary mul %x, %half : tensor<4xf32>
  %1 = cleave.binary pow %x, %three : tensor<4xf32>
  %2 = cleave.binary mul %1, %a : tensor<4xf32>
  %3 = cleave.binary add %x, %2 : tensor<4xf32>
  %4 = cleave.binary mul %3, %k : tensor<4xf32>
  %5 = cleave.unary tanh %4 : tensor<4xf32>
  %6 = cleave.binary add %5, %one : tensor<4xf32>
  %7 = cleave.binary mul %0, %6 : tensor<4xf32>
  return %7 : tensor<4xf32>
}

// -----

// Tests the tanh form x k (1 + 0.044715 x x), followed by another product.
// CHECK-LABEL: func.func @tanh_factored
func.func @tanh_factored(%x: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = cleave.unary {{ ?}}gelu_tanh %arg0 : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = cleave.binary {{ ?}}mul %[[A]], %arg1
  // CHECK-NEXT: return %[[B]]
  %half = cleave.constant dense<0.5> : tensor<4xf32>
  %a = cleave.constant dense<0.044715> : tensor<4xf32>
  %k = cleave.constant dense<0.7978845608> : tensor<4xf32>
  %one = cleave.constant dense<1.0> : tensor<4xf32>
  %0 = cleave.binary mul %a, %x : tensor<4xf32>
  %1 = cleave.binary mul %0, %x : tensor<4xf32>
  %2 = cleave.binary add %one, %1 : tensor<4xf32>
  %3 = cleave.binary mul %x, %k : tensor<4xf32>
  %4 = cleave.binary mul %3, %2 : tensor<4xf32>
  %5 = cleave.unary tanh %4 : tensor<4xf32>
  %6 = cleave.binary add %one, %5 : tensor<4xf32>
  %7 = cleave.binary mul %x, %6 : tensor<4xf32>
  %8 = cleave.binary mul %7, %half : tensor<4xf32>
  %9 = cleave.binary mul %8, %g : tensor<4xf32>
  return %9 : tensor<4xf32>
}

// -----

// Tests silu, and the constants of half precision.
// CHECK-LABEL: func.func @silu_and_half
func.func @silu_and_half(%x: tensor<4xf32>, %h: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf16>) {
  // CHECK-DAG: cleave.unary {{ ?}}silu %arg0
  // CHECK-DAG: cleave.unary {{ ?}}gelu_erf %arg1
  %0 = cleave.unary sigmoid %x : tensor<4xf32>
  %1 = cleave.binary mul %0, %x : tensor<4xf32>
  %inverse = cleave.constant dense<0.70703125> : tensor<4xf16>
  %one = cleave.constant dense<1.0> : tensor<4xf16>
  %half = cleave.constant dense<0.5> : tensor<4xf16>
  %2 = cleave.binary mul %h, %inverse : tensor<4xf16>
  %3 = cleave.unary erf %2 : tensor<4xf16>
  %4 = cleave.binary add %3, %one : tensor<4xf16>
  %5 = cleave.binary mul %4, %half : tensor<4xf16>
  %6 = cleave.binary mul %5, %h : tensor<4xf16>
  return %1, %6 : tensor<4xf32>, tensor<4xf16>
}

// -----

// Tests what is no gelu: another constant, another value at the gate, a gate that
// somebody else reads, a scaled sigmoid.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: gelu
  // CHECK-NOT: silu
  %near = cleave.constant dense<0.7072> : tensor<4xf32>
  %inverse = cleave.constant dense<0.707106769> : tensor<4xf32>
  %quick = cleave.constant dense<1.702> : tensor<4xf32>
  %one = cleave.constant dense<1.0> : tensor<4xf32>
  %half = cleave.constant dense<0.5> : tensor<4xf32>
  %0 = cleave.binary mul %x, %near : tensor<4xf32>
  %1 = cleave.unary erf %0 : tensor<4xf32>
  %2 = cleave.binary add %1, %one : tensor<4xf32>
  %3 = cleave.binary mul %2, %half : tensor<4xf32>
  %4 = cleave.binary mul %x, %3 : tensor<4xf32>
  %5 = cleave.binary mul %z, %inverse : tensor<4xf32>
  %6 = cleave.unary erf %5 : tensor<4xf32>
  %7 = cleave.binary add %6, %one : tensor<4xf32>
  %8 = cleave.binary mul %7, %half : tensor<4xf32>
  %9 = cleave.binary mul %x, %8 : tensor<4xf32>
  %10 = cleave.binary mul %z, %8 : tensor<4xf32>
  %11 = cleave.binary mul %x, %quick : tensor<4xf32>
  %12 = cleave.unary sigmoid %11 : tensor<4xf32>
  %13 = cleave.binary mul %x, %12 : tensor<4xf32>
  return %4, %8, %9, %10, %13 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
