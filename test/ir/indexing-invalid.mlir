// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that batch dims of a gather come before its dim.
func.func @gather_after(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5x4xf32>) {
  // expected-error @+2 {{the first 2 dims of 'tensor<2x3x4xf32>' and 'tensor<2x5xi64>' are not common dims before dim 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 1 : i64, batch_dims = 2 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>) -> tensor<2x5x4xf32>
  return
}

// -----

// Tests that batch dims of a gather are dims of the indices.
func.func @gather_rank(%x: tensor<2x3x4xf32>, %i: tensor<i64>) {
  // expected-error @+2 {{are not common dims before dim}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 2 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<2x5x4xf32>
  return
}

// -----

// Tests that batch dims of a gather have one size.
func.func @gather_size(%x: tensor<2x3x4xf32>, %i: tensor<3x5xi64>) {
  // expected-error @+2 {{are not common dims before dim}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<3x5xi64>) -> tensor<2x5x4xf32>
  return
}

// -----

// Tests that there are no fewer than 0 batch dims.
func.func @gather_negative(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5x4xf32>) {
  // expected-error @+2 {{are not common dims before dim}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 1 : i64, batch_dims = -1 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>) -> tensor<2x5x4xf32>
  return
}

// -----

// Tests that the result of a gather has the batch dims once.
func.func @gather_result(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5x4xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<2x5x4xf32>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>) -> tensor<2x2x5x4xf32>
  return
}

// -----

// Tests that the dim of a scatter exists.
func.func @scatter_dim(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5x4xf32>) {
  // expected-error @+2 {{needs a dim of 'tensor<2x3x4xf32>' and i32 or i64 indices, found 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.scatter %x, %i, %u {dim = 3 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// Tests that the indices of a scatter are integers.
func.func @scatter_indices(%x: tensor<2x3x4xf32>, %i: tensor<2x5xf32>, %u: tensor<2x5x4xf32>) {
  // expected-error @+2 {{needs a dim of 'tensor<2x3x4xf32>' and i32 or i64 indices}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.scatter %x, %i, %u {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// Tests that batch dims of a scatter come before its dim.
func.func @scatter_batch(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5x4xf32>) {
  // expected-error @+2 {{are not common dims before dim 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.scatter %x, %i, %u {dim = 0 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// Tests that updates have the shape of what a gather gives.
func.func @scatter_updates(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x4x4xf32>) {
  // expected-error @+2 {{updates must be 'tensor<2x5x4xf32>', found 'tensor<2x4x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.scatter %x, %i, %u {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>, tensor<2x4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// Tests that updates have the element type of the operand.
func.func @scatter_type(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5x4xi64>) {
  // expected-error @+2 {{updates must be 'tensor<2x5x4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.scatter %x, %i, %u {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5xi64>, tensor<2x5x4xi64>) -> tensor<2x3x4xf32>
  return
}

// -----

// Tests that the gradient of a gather takes that of its result.
func.func @gather_grad_dresult(%d: tensor<2x3x5xf32>, %i: tensor<2x3xi64>) {
  // expected-error @+1 {{dresult must be 'tensor<2x3x4xf32>', found 'tensor<2x3x5xf32>'}}
  %y = cleave.gather_grad %d, %i {dim = 0 : i64} : (tensor<2x3x5xf32>, tensor<2x3xi64>) -> tensor<9x4xf32>
  return
}

// -----

// Tests that its dim is one of the operand's.
func.func @gather_grad_dim(%d: tensor<2x3x4xf32>, %i: tensor<2x3xi64>) {
  // expected-error @+1 {{needs a dim of 'tensor<9x4xf32>' and i32 or i64 indices, found 2}}
  %y = cleave.gather_grad %d, %i {dim = 2 : i64} : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<9x4xf32>
  return
}

// -----

// Tests that it adds numbers.
func.func @gather_grad_bools(%d: tensor<2x4xi1>, %i: tensor<2xi64>) {
  // expected-error @+1 {{cannot add bools}}
  %y = cleave.gather_grad %d, %i {dim = 0 : i64} : (tensor<2x4xi1>, tensor<2xi64>) -> tensor<9x4xi1>
  return
}
