// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that a pool has spatial dims.
func.func @no_spatial(%x: tensor<2x5xf32>) {
  // expected-error @+2 {{needs 1 to 3 spatial dims, found 'tensor<2x5xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

// Tests that a pool has at most 3 spatial dims.
func.func @spatial(%x: tensor<1x2x5x5x5x5xf32>) {
  // expected-error @+2 {{needs 1 to 3 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5x5x5xf32>) -> tensor<1x2x3x3x3x3xf32>
  return
}

// -----

// Tests that there is one kernel size a spatial dim.
func.func @kernel_count(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{needs one kernel size, stride and dilation and two pads for each of 2 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that there is one stride a spatial dim.
func.func @stride_count(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{needs one kernel size, stride and dilation and two pads for each of 2 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that there is one dilation a spatial dim.
func.func @dilation_count(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{needs one kernel size, stride and dilation and two pads for each of 2 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that there are two pads a spatial dim.
func.func @pad_count(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{needs one kernel size, stride and dilation and two pads for each of 2 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that kernel sizes are positive.
func.func @kernel(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{kernel, strides and dilations must be positive, pads not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 0, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that strides are positive.
func.func @stride(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{kernel, strides and dilations must be positive, pads not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 0>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that dilations are positive.
func.func @dilation(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{kernel, strides and dilations must be positive, pads not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: -1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that pads are not negative.
func.func @pad(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{kernel, strides and dilations must be positive, pads not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, -1>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that a window fits into the padded input.
func.func @large(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{kernel is larger than the padded input 'tensor<1x2x5x5xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 4>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 2>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that bools are not pooled.
func.func @bools(%x: tensor<1x2x5x5xi1>) {
  // expected-error @+2 {{kind max does not exist for 'i1'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xi1>) -> tensor<1x2x3x3xi1>
  return
}

// -----

// Tests that an average is of floats.
func.func @average(%x: tensor<1x2x5x5xi32>) {
  // expected-error @+2 {{kind average does not exist for 'i32'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool average %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xi32>) -> tensor<1x2x3x3xi32>
  return
}

// -----

// Tests that the result has one element a window.
func.func @result(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<1x2x3x3xf32>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>) -> tensor<1x2x4x3xf32>
  return
}

// -----

// Tests that a last window that would start in the high padding does not count.
func.func @ceil(%x: tensor<1x2x5x5xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<1x2x2x2xf32>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pool max %x {kernel = array<i64: 1, 1>, strides = array<i64: 4, 4>, pads = array<i64: 0, 0, 2, 2>, dilations = array<i64: 1, 1>, ceil} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

// Tests that the gradient of a maximum needs the operand.
func.func @grad_without_x(%d: tensor<1x2x3x3xf32>) {
  // expected-error @+1 {{needs x for kind max, and only there}}
  %y = cleave.pool_grad max %d {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>) -> tensor<1x2x5x5xf32>
  return
}

// -----

// Tests that the gradient of an average takes no operand.
func.func @grad_with_x(%d: tensor<1x2x3x3xf32>, %x: tensor<1x2x5x5xf32>) {
  // expected-error @+1 {{needs x for kind max, and only there}}
  %y = cleave.pool_grad average %d, %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return
}

// -----

// Tests that the operand has the type of its gradient.
func.func @grad_x_type(%d: tensor<1x2x3x3xf32>, %x: tensor<1x2x5x6xf32>) {
  // expected-error @+1 {{x has type 'tensor<1x2x5x6xf32>', the result 'tensor<1x2x5x5xf32>'}}
  %y = cleave.pool_grad max %d, %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x5x5xf32>
  return
}

// -----

// Tests that gradients are floats.
func.func @grad_integers(%d: tensor<1x2x3xi32>, %x: tensor<1x2x5xi32>) {
  // expected-error @+1 {{needs floats, found 'tensor<1x2x5xi32>'}}
  %y = cleave.pool_grad max %d, %x {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x2x3xi32>, tensor<1x2x5xi32>) -> tensor<1x2x5xi32>
  return
}

// -----

// Tests that there is a gradient for each window.
func.func @grad_windows(%d: tensor<1x2x4x3xf32>) {
  // expected-error @+1 {{dresult has type 'tensor<1x2x4x3xf32>', expected 'tensor<1x2x3x3xf32>'}}
  %y = cleave.pool_grad average %d {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x3xf32>) -> tensor<1x2x5x5xf32>
  return
}
