// RUN: %cleave-opt %s --cleave-optimize-collectives | FileCheck %s

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>

// Tests that an all_reduce of which a chunk is taken becomes a reduce_scatter.
// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<4x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: [[S:%.*]] = cleave.reduce_scatter sum %arg0 @m ["tp"] {dim = 0 : i64}
  // CHECK-NEXT: return [[S]]
  %i = cleave.axis_index @m ["tp"] : tensor<i64>
  %r = cleave.all_reduce sum %x @m ["tp"] : tensor<4x2xf32>
  %t = cleave.take_shard %r, %i {dim = 0 : i64} : (tensor<4x2xf32>, tensor<i64>) -> tensor<2x2xf32>
  return %t : tensor<2x2xf32>
}

// Tests that it stays where something else reads it, or where the cut is uneven.
// CHECK-LABEL: @keep
func.func @keep(%x: tensor<4xf32>, %y: tensor<3xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: cleave.all_reduce
  // CHECK: cleave.take_shard
  // CHECK: cleave.all_reduce
  // CHECK: cleave.take_shard
  %i = cleave.axis_index @m ["tp"] : tensor<i64>
  %r = cleave.all_reduce sum %x @m ["tp"] : tensor<4xf32>
  %t = cleave.take_shard %r, %i {dim = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
  %s = cleave.all_reduce sum %y @m ["tp"] : tensor<3xf32>
  %u = cleave.take_shard %s, %i {dim = 0 : i64} : (tensor<3xf32>, tensor<i64>) -> tensor<2xf32>
  return %r, %t, %u : tensor<4xf32>, tensor<2xf32>, tensor<2xf32>
}

// Tests that a reduce_scatter beside an all_reduce takes its chunk of that.
// CHECK-LABEL: @beside
func.func @beside(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  // CHECK: [[R:%.*]] = cleave.all_reduce sum %arg0
  // CHECK: [[T:%.*]] = cleave.take_shard [[R]]
  // CHECK: return [[T]], [[R]]
  %s = cleave.reduce_scatter sum %x @m ["tp"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<2xf32>
  %r = cleave.all_reduce sum %x @m ["tp"] : tensor<4xf32>
  return %s, %r : tensor<2xf32>, tensor<4xf32>
}

// Tests that repeated collectives and those that nothing reads go; that another kind stays.
// CHECK-LABEL: @once
func.func @once(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: [[A:%.*]] = cleave.all_reduce sum %arg0
  // CHECK-NEXT: [[C:%.*]] = cleave.all_reduce max %arg0
  // CHECK-NEXT: return [[A]], [[A]], [[C]]
  %a = cleave.all_reduce sum %x @m ["tp"] : tensor<4xf32>
  %b = cleave.all_reduce sum %x @m ["tp"] : tensor<4xf32>
  %c = cleave.all_reduce max %x @m ["tp"] : tensor<4xf32>
  %d = cleave.all_gather %x @m ["tp"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
