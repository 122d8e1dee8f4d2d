// Tests that ops over windows, prefixes and indices survive a round trip.
// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<1x4x8x8xf32>, %i: tensor<1x4x3xi64>, %u: tensor<1x4x3x8xf32>) {
  // CHECK: cleave.pool max %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %max = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  // Tests that with ceil the last window sticks out.
  // CHECK: cleave.pool average %{{.*}} {ceil, dilations = array<i64: 1, 1>, include_pad, kernel = array<i64: 3, 2>, pads = array<i64: 0, 0, 0, 1>, strides = array<i64: 2, 3>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x3xf32>
  %average = cleave.pool average %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 1>, dilations = array<i64: 1, 1>, ceil, include_pad} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x3xf32>
  // CHECK: cleave.cumulate sum %{{.*}} {dim = 3 : i64, exclusive, reverse} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %prefix = cleave.cumulate sum %x {dim = 3 : i64, exclusive, reverse} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: cleave.top_k %{{.*}} {dim = 2 : i64, k = 3 : i64, least} : (tensor<1x4x8x8xf32>) -> tensor<1x4x3x8xi64>
  %top = cleave.top_k %x {dim = 2 : i64, k = 3 : i64, least} : (tensor<1x4x8x8xf32>) -> tensor<1x4x3x8xi64>
  // CHECK: cleave.gather %{{.*}}, %{{.*}} {batch_dims = 2 : i64, dim = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x3xi64>) -> tensor<1x4x3x8xf32>
  %gather = cleave.gather %x, %i {dim = 2 : i64, batch_dims = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x3xi64>) -> tensor<1x4x3x8xf32>
  // CHECK: cleave.scatter %{{.*}}, %{{.*}}, %{{.*}} {batch_dims = 2 : i64, combine = #cleave<reduce_kind sum>, dim = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x3xi64>, tensor<1x4x3x8xf32>) -> tensor<1x4x8x8xf32>
  %scatter = cleave.scatter %x, %i, %u {dim = 2 : i64, batch_dims = 2 : i64, combine = #cleave<reduce_kind sum>} : (tensor<1x4x8x8xf32>, tensor<1x4x3xi64>, tensor<1x4x3x8xf32>) -> tensor<1x4x8x8xf32>
  return
}
