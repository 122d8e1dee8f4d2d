// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that a unary kind of floats does not exist for integers.
func.func @unary_int(%x: tensor<4xi32>) {
  // expected-error @+1 {{kind exp does not exist for 'i32'}}
  %y = cleave.unary exp %x : tensor<4xi32>
  return
}

// -----

// Tests that not exists for bools only.
func.func @unary_not(%x: tensor<4xi32>) {
  // expected-error @+1 {{kind not does not exist for 'i32'}}
  %y = cleave.unary not %x : tensor<4xi32>
  return
}

// -----

// Tests that bools have no sign.
func.func @unary_bool(%x: tensor<4xi1>) {
  // expected-error @+1 {{kind neg does not exist for 'i1'}}
  %y = cleave.unary neg %x : tensor<4xi1>
  return
}

// -----

// Tests that arithmetic does not exist for bools.
func.func @binary_bool(%x: tensor<4xi1>) {
  // expected-error @+1 {{kind add does not exist for 'i1'}}
  %y = cleave.binary add %x, %x : tensor<4xi1>
  return
}

// -----

// Tests that logic does not exist for floats.
func.func @binary_float(%x: tensor<4xf32>) {
  // expected-error @+1 {{kind and does not exist for 'f32'}}
  %y = cleave.binary and %x, %x : tensor<4xf32>
  return
}

// -----

// Tests that shapes are static.
func.func @static(%x: tensor<?xf32>) {
  // expected-error @+1 {{must be ranked tensor with static shape}}
  %y = cleave.unary exp %x : tensor<?xf32>
  return
}

// -----

// Tests that the operands of a binary op have the type of its result.
func.func @binary_types(%x: tensor<4xf32>, %z: tensor<4xf64>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %y = "cleave.binary"(%x, %z) {kind = #cleave<binary_kind add>} : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// Tests that both operands of a comparison have one type.
func.func @compare_types(%x: tensor<4xf32>, %z: tensor<4xf64>) {
  // expected-error @+1 {{requires all operands to have the same type}}
  %y = cleave.compare lt %x, %z : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xi1>
  return
}

// -----

// Tests that a comparison gives bools of its operands' shape.
func.func @compare_result(%x: tensor<4xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<4xi1>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.compare lt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that the condition of a select is a bool.
func.func @select_condition(%c: tensor<4xf32>) {
  // expected-error @+2 {{condition must be i1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.select %c, %c, %c : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that the condition of a select has the shape of its values.
func.func @select_shape(%c: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{must have the same shape}}
  %y = cleave.select %c, %x, %x : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that both values of a select have one type.
func.func @select_types(%c: tensor<4xi1>, %x: tensor<4xf32>, %z: tensor<4xf64>) {
  // expected-error @+2 {{shapes and types must agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.select %c, %x, %z : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// Tests that a cast keeps the shape.
func.func @cast_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{must have the same shape}}
  %y = cleave.cast %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

// Tests that shifts do not exist for floats.
func.func @binary_shift(%x: tensor<4xf32>) {
  // expected-error @+1 {{kind shift_left does not exist for 'f32'}}
  %y = cleave.binary shift_left %x, %x : tensor<4xf32>
  return
}
