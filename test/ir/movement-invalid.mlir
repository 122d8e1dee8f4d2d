// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that a reshape keeps the number of elements.
func.func @reshape_count(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{keeps element type and count}}
  %y = cleave.reshape %x : (tensor<4x3xf32>) -> tensor<13xf32>
  return
}

// -----

// Tests that a reshape keeps the element type.
func.func @reshape_type(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{keeps element type and count}}
  %y = cleave.reshape %x : (tensor<4x3xf32>) -> tensor<12xi32>
  return
}

// -----

// Tests that perm names every dim once.
func.func @transpose_unique(%x: tensor<4x3xf32>) {
  // expected-error @+2 {{perm must be a permutation}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.transpose %x {perm = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that perm has an entry for each dim.
func.func @transpose_count(%x: tensor<4x3xf32>) {
  // expected-error @+2 {{perm must be a permutation}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.transpose %x {perm = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that only dims of size 1 are repeated.
func.func @broadcast_size(%x: tensor<3xf32>) {
  // expected-error @+1 {{cannot repeat dim 0}}
  %y = cleave.broadcast %x {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that a broadcast places every dim.
func.func @broadcast_count(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{needs one entry of dims per operand dim}}
  %y = cleave.broadcast %x {dims = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// Tests that a broadcast keeps the element type.
func.func @broadcast_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{needs one entry of dims per operand dim and one element type}}
  %y = cleave.broadcast %x {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<3x4xf64>
  return
}

// -----

// Tests that a broadcast keeps the order of dims.
func.func @broadcast_order(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{dims must increase and be in range}}
  %y = cleave.broadcast %x {dims = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that dims of a broadcast are in range.
func.func @broadcast_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{dims must increase and be in range}}
  %y = cleave.broadcast %x {dims = array<i64: 2>} : (tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// Tests that a slice takes what exists.
func.func @slice_end(%x: tensor<4xf32>) {
  // expected-error @+2 {{takes 3 elements from 2 by 1 of a dim of size 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.slice %x {starts = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that a slice does not start before its dim.
func.func @slice_start(%x: tensor<4xf32>) {
  // expected-error @+2 {{takes 3 elements from -1 by 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.slice %x {starts = array<i64: -1>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that strides of a slice are positive.
func.func @slice_stride(%x: tensor<4xf32>) {
  // expected-error @+2 {{takes 2 elements from 0 by 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.slice %x {starts = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 0>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that a slice has an entry for each dim.
func.func @slice_count(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{needs one start, size and stride per dim}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.slice %x {starts = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that a pad has an entry for each dim.
func.func @pad_count(%x: tensor<4x4xf32>) {
  // expected-error @+2 {{needs one low and high per dim}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pad %x {low = array<i64: 0>, high = array<i64: 1>, value = 0.0 : f64} : (tensor<4x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

// Tests that a pad takes nothing away.
func.func @pad_negative(%x: tensor<4xf32>) {
  // expected-error @+2 {{not negative}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.pad %x {low = array<i64: 0>, high = array<i64: -1>, value = 0.0 : f64} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that a concat has an operand.
func.func @concat_none() {
  // expected-error @+2 {{needs at least one operand}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.concat {dim = 0 : i64} : () -> tensor<0xf32>
  return
}

// -----

// Tests that the dim of a concat is in range.
func.func @concat_range(%x: tensor<4xf32>) {
  // expected-error @+2 {{dim 1 is out of range of 'tensor<4xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.concat %x, %x {dim = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// Tests that parts of a concat agree in the other dims.
func.func @concat_shape(%x: tensor<4x3xf32>, %z: tensor<4x2xf32>) {
  // expected-error @+2 {{cannot join}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.concat %x, %z {dim = 0 : i64} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<8x3xf32>
  return
}

// -----

// Tests that parts of a concat have one element type.
func.func @concat_type(%x: tensor<4xf32>, %z: tensor<4xf64>) {
  // expected-error @+2 {{cannot join}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.concat %x, %z {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf64>) -> tensor<8xf32>
  return
}

// -----

// Tests that indices of a gather are integers.
func.func @gather_indices(%x: tensor<4x3xf32>, %i: tensor<2xf32>) {
  // expected-error @+2 {{i32 or i64 indices}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 0 : i64} : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that the dim of a gather is in range.
func.func @gather_range(%x: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @+2 {{needs a dim of 'tensor<4x3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = cleave.gather %x, %i {dim = 2 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<4x3x2xf32>
  return
}

// -----

// Tests that the dim of an iota is in range.
func.func @iota_range() {
  // expected-error @+1 {{dim 1 is out of range of 'tensor<4xi64>'}}
  %y = cleave.iota {dim = 1 : i64} : tensor<4xi64>
  return
}

// -----

// Tests that an iota does not count in bools.
func.func @iota_bool() {
  // expected-error @+1 {{cannot count in bools}}
  %y = cleave.iota {dim = 0 : i64} : tensor<4xi1>
  return
}

// -----

// Tests that a resize has a scale for each dim.
func.func @resize_scales(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+1 {{needs one scale per dim}}
  %y = cleave.resize linear %x {scales = array<f64: 2.0, 2.0>, coordinates = "half_pixel"} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  return
}

// -----

// Tests that scales of a resize are positive.
func.func @resize_positive(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+1 {{scales must be positive, found 0}}
  %y = cleave.resize linear %x {scales = array<f64: 1.0, 1.0, 0.0, 2.0>, coordinates = "half_pixel"} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  return
}

// -----

// Tests that a resize knows its coordinates.
func.func @resize_coordinates(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+1 {{has no coordinates "middle"}}
  %y = cleave.resize linear %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = "middle"} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  return
}

// -----

// Tests that a resize knows its nearest mode.
func.func @resize_nearest(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+1 {{has no nearest_mode "up"}}
  %y = cleave.resize linear %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = "half_pixel", nearest_mode = "up"} : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  return
}

// -----

// Tests that a resize does not interpolate integers.
func.func @resize_int(%x: tensor<1x1x4x4xi32>) {
  // expected-error @+1 {{kind linear interpolates floats}}
  %y = cleave.resize linear %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = "half_pixel"} : (tensor<1x1x4x4xi32>) -> tensor<1x1x8x8xi32>
  return
}
