// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that the cumulated dim exists.
func.func @cumulate_dim(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{dim 2 is out of range of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cumulate sum %x {dim = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that bools are not cumulated.
func.func @cumulate_bools(%x: tensor<2x3xi1>) {
  // expected-error @+2 {{cannot cumulate bools, found 'tensor<2x3xi1>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cumulate sum %x {dim = 1 : i64} : (tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

// -----

// Tests that the dim of top_k exists.
func.func @top_dim(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{dim -1 is out of range of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.top_k %x {dim = -1 : i64, k = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x2xi64>
  return
}

// -----

// Tests that there are k elements.
func.func @top_many(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{k is 4, expected at most the 3 elements of dim 1 of 'tensor<2x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.top_k %x {dim = 1 : i64, k = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x4xi64>
  return
}

// -----

// Tests that k is not negative.
func.func @top_negative(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{k is -1, expected}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.top_k %x {dim = 1 : i64, k = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  return
}
