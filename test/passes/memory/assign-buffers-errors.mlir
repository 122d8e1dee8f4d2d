// RUN: cleave-opt %s --cleave-assign-buffers --verify-diagnostics

// Tests that a view without strides is refused, with the pass that mends it.

func.func @program0(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %t = cleave.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // expected-error @+1 {{is a view that strides cannot express; run cleave-resolve-views first}}
  %a = cleave.reshape %t : (tensor<6x4xf32>) -> tensor<24xf32>
  return %a : tensor<24xf32>
}
