// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that the element types of dot agree.
func.func @dot_types(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf64>) {
  // expected-error @+2 {{element types must agree, found 'tensor<2x3x4xf32>' and 'tensor<2x4x5xf64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x5xf64>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that batch dims of dot come in pairs.
func.func @dot_batch_pairs(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+2 {{batch and contracting dims must come in pairs, in range and unique}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that contracting dims of dot come in pairs.
func.func @dot_contract_pairs(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+2 {{batch and contracting dims must come in pairs, in range and unique}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that dims of dot are in range.
func.func @dot_range(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+2 {{batch and contracting dims must come in pairs, in range and unique}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that dims of dot do not count from the end.
func.func @dot_negative(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+2 {{batch and contracting dims must come in pairs, in range and unique}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: -1>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that a dim of dot is listed once.
func.func @dot_unique(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+2 {{batch and contracting dims must come in pairs, in range and unique}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that batch dims of dot have equal sizes.
func.func @dot_batch_size(%a: tensor<2x3x4xf32>, %b: tensor<7x4x5xf32>) {
  // expected-error @+2 {{dim 0 of 'tensor<2x3x4xf32>' and dim 0 of 'tensor<7x4x5xf32>' must have the same size}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<7x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that contracting dims of dot have equal sizes.
func.func @dot_contract_size(%a: tensor<2x3x4xf32>, %b: tensor<2x6x5xf32>) {
  // expected-error @+2 {{dim 2 of 'tensor<2x3x4xf32>' and dim 1 of 'tensor<2x6x5xf32>' must have the same size}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x6x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// Tests that the result of dot has batch, lhs free and rhs free dims.
func.func @dot_result(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<2x3x5xf32>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
  return
}

// -----

// Tests that conv has a spatial dim.
func.func @conv_no_spatial(%x: tensor<1x4xf32>, %w: tensor<6x4xf32>) {
  // expected-error @+2 {{needs 1 to 3 spatial dims and one element type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, output_padding = array<i64>} : (tensor<1x4xf32>, tensor<6x4xf32>) -> tensor<1x6xf32>
  return
}

// -----

// Tests that conv has at most 3 spatial dims.
func.func @conv_4_spatial(%x: tensor<1x4x1x1x1x1xf32>, %w: tensor<6x4x1x1x1x1xf32>) {
  // expected-error @+2 {{needs 1 to 3 spatial dims and one element type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1, 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 0, 0, 0, 0>} : (tensor<1x4x1x1x1x1xf32>, tensor<6x4x1x1x1x1xf32>) -> tensor<1x6x1x1x1x1xf32>
  return
}

// -----

// Tests that input and weight of conv have one element type.
func.func @conv_types(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf64>) {
  // expected-error @+2 {{needs 1 to 3 spatial dims and one element type}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf64>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that conv has one stride a spatial dim.
func.func @conv_strides(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{needs one stride, dilation and output padding and two pads for each of 1 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that conv has two pads a spatial dim.
func.func @conv_pads(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{needs one stride, dilation and output padding and two pads for each of 1 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that conv has one dilation a spatial dim.
func.func @conv_dilations(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{needs one stride, dilation and output padding and two pads for each of 1 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that conv has one output padding a spatial dim.
func.func @conv_output_padding(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{needs one stride, dilation and output padding and two pads for each of 1 spatial dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that channels of input and weight of conv agree.
func.func @conv_channels(%x: tensor<1x5x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{channels of 'tensor<1x5x8xf32>' and 'tensor<6x4x3xf32>' do not fit 1 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x5x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that output channels of conv divide into groups.
func.func @conv_groups(%x: tensor<1x16x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{channels of 'tensor<1x16x8xf32>' and 'tensor<6x4x3xf32>' do not fit 4 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>, groups = 4 : i64} : (tensor<1x16x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that conv has a group.
func.func @conv_no_groups(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{do not fit 0 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>, groups = 0 : i64} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that a transposed conv has its input channels in dim 0 of the weight.
func.func @conv_transposed_channels(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{channels of 'tensor<1x4x8xf32>' and 'tensor<6x4x3xf32>' do not fit 1 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>, transposed} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x4x10xf32>
  return
}

// -----

// Tests that the kernel of conv fits the padded input.
func.func @conv_kernel(%x: tensor<1x4x1xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{kernel is larger than the padded input 'tensor<1x4x1xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 2>, output_padding = array<i64: 0>} : (tensor<1x4x1xf32>, tensor<6x4x3xf32>) -> tensor<1x6x0xf32>
  return
}

// -----

// Tests that the result of conv has the size that the kernel leaves.
func.func @conv_result(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<1x6x6xf32>' are incompatible}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x8xf32>
  return
}

// -----

// Tests that strides of conv are positive.
func.func @conv_stride(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{strides, dilations and the kernel's dims must be positive, pads and output padding not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 0>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that dilations of conv are positive.
func.func @conv_dilation(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{strides, dilations and the kernel's dims must be positive, pads and output padding not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 0>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that pads of conv are not negative.
func.func @conv_pads(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{strides, dilations and the kernel's dims must be positive, pads and output padding not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, -1>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that output padding of conv is not negative.
func.func @conv_output_padding(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{strides, dilations and the kernel's dims must be positive, pads and output padding not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: -1>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// -----

// Tests that a kernel of conv is not empty.
func.func @conv_empty(%x: tensor<1x4x8xf32>, %w: tensor<6x4x0xf32>) {
  // expected-error @+2 {{strides, dilations and the kernel's dims must be positive, pads and output padding not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x8xf32>, tensor<6x4x0xf32>) -> tensor<1x6x9xf32>
  return
}

// -----

// Tests that a kernel larger than the input by less than the stride is refused.
func.func @conv_kernel_stride(%x: tensor<1x4x2xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+2 {{kernel is larger than the padded input 'tensor<1x4x2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv %x, %w {strides = array<i64: 4>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x4x2xf32>, tensor<6x4x3xf32>) -> tensor<1x6x1xf32>
  return
}

// -----

// Tests that the gradient of a weight has a kernel size a spatial dim.
func.func @weight_grad_kernel(%x: tensor<2x4x9xf32>, %d: tensor<2x5x7xf32>) {
  // expected-error @+2 {{needs 1 to 3 spatial dims with a kernel size, stride, dilation and two pads each}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv_weight_grad %x, %d {kernel = array<i64: 3, 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x4x9xf32>, tensor<2x5x7xf32>) -> tensor<5x4x3x3xf32>
  return
}

// -----

// Tests that channels of the gradient of a weight divide into groups.
func.func @weight_grad_groups(%x: tensor<2x4x9xf32>, %d: tensor<2x6x7xf32>) {
  // expected-error @+2 {{channels of 'tensor<2x4x9xf32>' do not fit 3 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv_weight_grad %x, %d {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 3 : i64} : (tensor<2x4x9xf32>, tensor<2x6x7xf32>) -> tensor<6x1x3xf32>
  return
}

// -----

// Tests that the gradient of a weight takes that of the convolution's result.
func.func @weight_grad_dresult(%x: tensor<2x4x9xf32>, %d: tensor<2x6x8xf32>) {
  // expected-error @+2 {{dresult has type 'tensor<2x6x8xf32>', the convolution gives 'tensor<2x6x7xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = cleave.conv_weight_grad %x, %d {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x4x9xf32>, tensor<2x6x8xf32>) -> tensor<6x4x3xf32>
  return
}
