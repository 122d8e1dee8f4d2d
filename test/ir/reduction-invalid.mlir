// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that dims of reduce are in range.
func.func @range(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{dims must be sorted, unique and in range of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.reduce sum %x {dims = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that dims of reduce do not count from the end.
func.func @negative(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{dims must be sorted, unique and in range of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.reduce sum %x {dims = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that dims of reduce are sorted.
func.func @sorted(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{dims must be sorted, unique and in range of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.reduce max %x {dims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

// Tests that dims of reduce are unique.
func.func @unique(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{dims must be sorted, unique and in range of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.reduce min %x {dims = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that reduce removes its dims.
func.func @result(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<2xf32>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.reduce prod %x {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}
