// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that q, k and v have rank 4.
func.func @attention_rank(%q: tensor<4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>) {
  // expected-error @+2 {{must have rank 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<4x6x8xf32>
  return
}

// -----

// Tests that q, k and v have one batch.
func.func @attention_batch(%q: tensor<1x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that k and v have the same heads.
func.func @attention_heads(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x4x6x8xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x2x6x8xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that heads of k and v divide those of q.
func.func @attention_groups(%q: tensor<1x4x6x8xf32>, %k: tensor<1x3x6x8xf32>, %v: tensor<1x3x6x8xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x3x6x8xf32>, tensor<1x3x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that keys and values have one length.
func.func @attention_length(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x5x8xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that queries and keys have one size.
func.func @attention_size(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x7xf32>, %v: tensor<1x4x6x8xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that q, k and v have one element type.
func.func @attention_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf64>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf64>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that a mask has a value for each key.
func.func @attention_mask_keys(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>, %m: tensor<1x1x1x5xf32>) {
  // expected-error @+2 {{does not fit q}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x1x1x5xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that other dims of a mask are whole or 1.
func.func @attention_mask_heads(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>, %m: tensor<1x2x6x6xf32>) {
  // expected-error @+2 {{does not fit q}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x2x6x6xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that a mask has rank 4.
func.func @attention_mask_rank(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>, %m: tensor<6x6xf32>) {
  // expected-error @+2 {{does not fit q}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<6x6xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that a mask is added, so has the type of q.
func.func @attention_mask_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x6x8xf32>, %v: tensor<1x4x6x8xf32>, %m: tensor<1x1x1x6xi1>) {
  // expected-error @+2 {{does not fit q}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.attention %q, %k, %v, %m {scale = 1.0 : f64} : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x1x1x6xi1>) -> tensor<1x4x6x8xf32>
  return
}

// -----

// Tests that the dim of a softmax is in range.
func.func @softmax_range(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{dim 2 is out of range of 'tensor<4x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.softmax %x {dim = 2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that the axis of a norm is in range.
func.func @norm_axis(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{axis}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm layer %x {axis = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that the scale of a norm has the shape of the normalised dims.
func.func @norm_scale(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+2 {{scale and bias must be}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm layer %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that the bias of a norm has its element type.
func.func @norm_bias(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error @+2 {{scale and bias must be}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm layer %x, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf64>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that there is a label for each row of logits.
func.func @labels_shape(%x: tensor<4x8xf32>, %l: tensor<3xi64>) {
  // expected-error @+2 {{labels must be i32 or i64 of the leading dims of logits}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cross_entropy %x, %l {} : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4xf32>
  return
}

// -----

// Tests that labels are integers.
func.func @labels_type(%x: tensor<4x8xf32>, %l: tensor<4xf32>) {
  // expected-error @+2 {{labels must be i32 or i64}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cross_entropy %x, %l : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that logits have a dim of classes.
func.func @labels_rank(%x: tensor<f32>, %l: tensor<i64>) {
  // expected-error @+2 {{labels must be i32 or i64}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cross_entropy %x, %l : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return
}

// -----

// Tests that the gradient of cross entropy takes one for each loss.
func.func @dloss(%x: tensor<4x8xf32>, %l: tensor<4xi64>, %d: tensor<3xf32>) {
  // expected-error @+2 {{dloss must have the shape of the labels, found 'tensor<3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cross_entropy_grad %x, %l, %d : (tensor<4x8xf32>, tensor<4xi64>, tensor<3xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that labels share at most all of their weight.
func.func @smoothing(%x: tensor<4x8xf32>, %l: tensor<4xi64>) {
  // expected-error @+2 {{smoothing must be in 0 to 1, found 1.5}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.cross_entropy %x, %l {smoothing = 1.5 : f64} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

// Tests that the gradient of attention takes that of its result.
func.func @attention_grad(%q: tensor<1x2x4x8xf32>, %v: tensor<1x2x4x5xf32>, %d: tensor<1x2x4x8xf32>) {
  // expected-error @+2 {{dresult has type 'tensor<1x2x4x8xf32>', the attention gives 'tensor<1x2x4x5xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %dq, %dk, %dv = cleave.attention_grad %q, %q, %v, %d {scale = 1.0 : f64} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x5xf32>, tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x5xf32>)
  return
}

// -----

// Tests that sizes of the gradient's operands agree as for attention.
func.func @attention_grad_sizes(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x4x7xf32>) {
  // expected-error @+2 {{sizes or types of q, k and v do not agree}}
  // expected-error @+1 {{failed to infer returned types}}
  %dq, %dk, %dv = cleave.attention_grad %q, %k, %q, %q {scale = 1.0 : f64} : (tensor<1x2x4x8xf32>, tensor<1x2x4x7xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x7xf32>, tensor<1x2x4x8xf32>)
  return
}

// -----

// Tests that the axis of a norm's gradient is one of the operand's.
func.func @norm_grad_axis(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{axis 2 is out of range of 'tensor<4x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm_grad layer %x, %x {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that a norm's gradient takes that of its result.
func.func @norm_grad_dresult(%x: tensor<4x8xf32>, %d: tensor<4x7xf32>) {
  // expected-error @+2 {{dresult must be 'tensor<4x8xf32>', found 'tensor<4x7xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm_grad layer %x, %d {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that the scale has the shape of the normalised dims.
func.func @norm_grad_scale(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+2 {{scale must be 'tensor<8xf32>', found 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.norm_grad rms %x, %x, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}
