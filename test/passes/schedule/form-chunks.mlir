// RUN: cleave-opt %s --cleave-form-chunks --split-input-file | FileCheck %s

// Tests that what depends on the micro-batch goes into the forward chunk, that a
// sum over micro-batches is carried, and that a gather over them is stacked.

cleave.mesh @stage0 = <[], ranks = [0], micro_batches = 2>
// CHECK-LABEL: func.func @program0
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>)
func.func @program0(%x: tensor<4x3xf32>) -> (tensor<f32>, tensor<4x3xf32>) attributes {cleave.mesh = @stage0} {
  %i = cleave.axis_index @stage0 ["mb"] : tensor<i64>
  // CHECK: %[[ZERO:.*]] = cleave.kernel loop() : () -> tensor<f32>
  // CHECK: cleave.constant dense<0.000000e+00>
  // CHECK: %[[CHUNK:.*]]:2 = cleave.chunk "forward"(%[[ZERO]]) {stacked = 1 : i64} : (tensor<f32>) -> (tensor<f32>, tensor<2x2x3xf32>) {
  // CHECK: ^bb0(%[[ACC:.*]]: tensor<f32>):
  // CHECK: %[[I:.*]] = cleave.axis_index @stage0 ["mb"]
  // CHECK: %[[P:.*]] = cleave.take_shard %[[X]], %[[I]]
  %p = cleave.take_shard %x, %i {dim = 0 : i64} : (tensor<4x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  // CHECK: %[[E:.*]] = cleave.unary exp %[[P]]
  %e = cleave.unary exp %p : tensor<2x3xf32>
  // CHECK: %[[S:.*]] = cleave.reduce sum %[[E]]
  %s = cleave.reduce sum %e {dims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK: %[[NEW:.*]] = cleave.binary add %[[ACC]], %[[S]]
  // CHECK: cleave.yield %[[NEW]], %[[E]]
  %t = cleave.all_reduce sum %s @stage0 ["mb"] : tensor<f32>
  %g = cleave.all_gather %e @stage0 ["mb"] {dim = 0 : i64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[WHOLE:.*]] = cleave.reshape %[[CHUNK]]#1
  // CHECK: %[[HALF:.*]] = cleave.unary exp %[[CHUNK]]#0
  %h = cleave.unary exp %t : tensor<f32>
  // CHECK: return %[[HALF]], %[[WHOLE]]
  return %h, %g : tensor<f32>, tensor<4x3xf32>
}

// -----

// Tests that ops from a gradient form a chunk of their own, that gets what it needs
// of the forward chunk for the same micro-batch, and that micro-batches are
// summed before ranks.

cleave.mesh @stage0 = <["dp"=2], ranks = [0, 1], micro_batches = 2>
// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<4xf32>) -> tensor<2xf32> attributes {cleave.mesh = @stage0} {
  %i = cleave.axis_index @stage0 ["mb"] : tensor<i64>
  %p = cleave.take_shard %x, %i {dim = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
  // CHECK: %[[RING:.*]] = cleave.chunk "forward"()
  // CHECK: cleave.unary exp
  %e = cleave.unary exp %p : tensor<2xf32>
  // CHECK: %[[SUM:.*]] = cleave.chunk "backward"(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: cleave.binary mul %[[RING]], %[[RING]] {cleave.origin = 0 : i64}
  %d = cleave.binary mul %e, %e {cleave.origin = 0 : i64} : tensor<2xf32>
  // CHECK: %[[TOTAL:.*]] = cleave.all_reduce sum %[[SUM]] @stage0 ["dp"]
  %t = cleave.all_reduce sum %d @stage0 ["mb", "dp"] : tensor<2xf32>
  // CHECK: return %[[TOTAL]]
  return %t : tensor<2xf32>
}

// -----

// Tests that a mesh with one micro-batch is left alone.

cleave.mesh @stage0 = <[], ranks = [0]>
// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.mesh = @stage0} {
  // CHECK-NOT: chunk
  %e = cleave.unary exp %x : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// Tests that micro-batches joined along an inner dim are transposed behind the
// schedule.

cleave.mesh @stage0 = <[], ranks = [0], micro_batches = 2>
// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<4x3xf32>) -> tensor<3x4xf32> attributes {cleave.mesh = @stage0} {
  %i = cleave.axis_index @stage0 ["mb"] : tensor<i64>
  %p = cleave.take_shard %x, %i {dim = 0 : i64} : (tensor<4x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  %t = cleave.transpose %p {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: %[[STACK:.*]] = cleave.chunk "forward"() {stacked = 1 : i64} : () -> tensor<2x3x2xf32>
  %g = cleave.all_gather %t @stage0 ["mb"] {dim = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x4xf32>
  // CHECK: %[[MOVED:.*]] = cleave.transpose %[[STACK]] {perm = array<i64: 1, 0, 2>}
  // CHECK: %[[WHOLE:.*]] = cleave.reshape %[[MOVED]] : (tensor<3x2x2xf32>) -> tensor<3x4xf32>
  // CHECK: return %[[WHOLE]]
  return %g : tensor<3x4xf32>
}

// -----

// Tests that what comes from another stage, and that no micro-batch needs, is received after the loop: its sender may
// have to end its own loop first.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0], micro_batches = 2>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1], micro_batches = 2>
cleave.param @w : tensor<f32> sharding #cleave.sharding<@stage1, []>
// CHECK-LABEL: func.func @late
func.func @late() attributes {cleave.mesh = @stage1, cleave.stage = 1 : i64} {
  // CHECK-NOT: cleave.recv pairs [0, 1] tag 0 :
  // CHECK: cleave.chunk "forward"
  // CHECK: cleave.recv {{.*}}tag 1
  %x = cleave.recv pairs [0, 1] tag 1 {cleave.micro_batch} : tensor<f32>
  %w = cleave.recv pairs [0, 1] tag 0 : tensor<f32>
  %sum = cleave.all_reduce sum %x @stage1 ["mb"] : tensor<f32>
  // CHECK: cleave.yield
  // CHECK: cleave.recv pairs [0, 1] tag 0 : tensor<f32>
  %y = cleave.binary add %sum, %w : tensor<f32>
  cleave.store %y, @w : tensor<f32>
  return
}
