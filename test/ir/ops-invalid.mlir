// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that an elementwise kind must exist for the element type.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{kind exp does not exist for 'i32'}}
  %y = cleave.unary exp %x : tensor<4xi32>
  return
}

// -----

// Tests that arithmetic does not exist for bools.
func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{kind add does not exist for 'i1'}}
  %y = cleave.binary add %x, %x : tensor<4xi1>
  return
}

// -----

// Tests that the condition of a select is a bool.
func.func @f(%c: tensor<4xf32>) {
  // expected-error @+2 {{condition must be i1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.select %c, %c, %c : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that contracted dims have one size.
func.func @f(%x: tensor<4x3xf32>, %w: tensor<5x2xf32>) {
  // expected-error @+2 {{must have the same size}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<5x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that a dim of a dot is named once.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @+2 {{batch and contracting dims must come in pairs, in range and unique}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.dot %x, %x {lhs_batch = array<i64: 1>, rhs_batch = array<i64: 1>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<3x4x4xf32>
  return
}

// -----

// Tests that channels of a convolution fit its groups.
func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+2 {{do not fit 1 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// Tests that reduced dims are sorted.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @+2 {{dims must be sorted, unique and in range}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.reduce sum %x {dims = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<f32>
  return
}

// -----

// Tests that a reshape keeps the number of elements.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{keeps element type and count}}
  %y = cleave.reshape %x : (tensor<4x3xf32>) -> tensor<13xf32>
  return
}

// -----

// Tests that perm is a permutation.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @+2 {{perm must be a permutation}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.transpose %x {perm = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that only dims of size 1 are repeated.
func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{cannot repeat dim 0}}
  %y = cleave.broadcast %x {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that a slice takes what exists.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+2 {{takes 3 elements from 2 by 1 of a dim of size 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.slice %x {starts = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that parts of a concat agree in the other dims.
func.func @f(%x: tensor<4x3xf32>, %z: tensor<4x2xf32>) {
  // expected-error @+2 {{cannot join}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.concat %x, %z {dim = 0 : i64} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<8x3xf32>
  return
}

// -----

// Tests that indices of a gather are integers.
func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xf32>) {
  // expected-error @+2 {{i32 or i64 indices}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 0 : i64} : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that keys and values of attention have one length.
func.func @f(%q: tensor<1x2x4x8xf32>, %v: tensor<1x2x5x8xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %q, %v {scale = 1.0 : f64} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// Tests that the scale of a norm has the shape of the normalised dims.
func.func @f(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+2 {{scale and bias must be}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm layer %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that there is a label for each row of logits.
func.func @f(%x: tensor<4x8xf32>, %l: tensor<3xi64>) {
  // expected-error @+2 {{labels must be i32 or i64 of the leading dims of logits}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cross_entropy %x, %l {} : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4xf32>
  return
}
