// RUN: %cleave-opt %s --cleave-propagate-shardings --cleave-insert-reshards --cleave-cut-stages --split-input-file | FileCheck %s

// Tests that each stage gets its ops, that what is small is repeated, and that inputs and outputs stay where they are used.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
// CHECK: cleave.param @w {{.*}}<@stage0, [{"tp"}]>
// CHECK: cleave.param @"w@stage1" {{.*}}<@stage1, [{"tp"}]> {cleave.name = "w"}
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@stage0, [{"tp"}]>
func.func @main(%x: tensor<4xf32> {cleave.name = "x"}, %z: tensor<4xf32> {cleave.name = "z"}) -> (tensor<4xf32> {cleave.name = "a"}, tensor<4xf32> {cleave.name = "b"}) {
  %w = cleave.load @w : tensor<4xf32>
  %a = cleave.binary add %x, %w {cleave.stage = 0 : i64} : tensor<4xf32>
  %b = cleave.binary mul %a, %w {cleave.stage = 1 : i64} : tensor<4xf32>
  %c = cleave.binary add %b, %z {cleave.stage = 1 : i64} : tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func @program0
// CHECK-SAME: (%arg0: tensor<4xf32> {cleave.name = "x", {{.*}}) -> (tensor<4xf32> {cleave.name = "a", {{.*}}attributes {cleave.stage = 0 : i64}
// CHECK: [[W:%.*]] = cleave.load @w {
// CHECK: [[A:%.*]] = cleave.binary add
// CHECK: cleave.send [[A]] pairs [0, 2, 1, 3] tag 0
// CHECK: [[R:%.*]] = cleave.reshard [[A]] <@stage0, [{}]>
// CHECK: return [[R]]
// CHECK-LABEL: func.func @program1
// CHECK-SAME: (%arg0: tensor<4xf32> {cleave.name = "z", {{.*}}) -> (tensor<4xf32> {cleave.name = "b"
// CHECK: [[A:%.*]] = cleave.recv pairs [0, 2, 1, 3] tag 0 {cleave.shardings = [#cleave.sharding<@stage1, [{"tp"}]>]}
// CHECK: [[W:%.*]] = cleave.load @"w@stage1"
// CHECK: cleave.binary mul [[A]], [[W]]

// -----

// Tests that a value goes straight to each stage that needs it, once, and meshes of another size take turns.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=1], ranks = [2]>
cleave.mesh @stage2 = #cleave.mesh_shape<["dp"=3], ranks = [3, 4, 5]>
func.func @main(%x: tensor<4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"dp"}]>}) -> (tensor<4xf32> {cleave.name = "y"}) {
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<4xf32>
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64} : tensor<4xf32>
  %c = cleave.binary add %b, %a {cleave.stage = 2 : i64} : tensor<4xf32>
  %d = cleave.binary mul %c, %a {cleave.stage = 2 : i64} : tensor<4xf32>
  return %d : tensor<4xf32>
}
// CHECK-LABEL: func.func @program0
// CHECK: cleave.reshard {{.*}} <@stage0, [{}]>
// CHECK: cleave.send {{.*}} pairs [0, 2] tag 0
// CHECK: cleave.send {{.*}} pairs [0, 3, 1, 4, 0, 5] tag 2
// CHECK-NOT: send
// CHECK-LABEL: func.func @program1
// CHECK: cleave.recv pairs [0, 2] tag 0
// CHECK: cleave.send {{.*}} pairs [2, 3, 2, 4, 2, 5] tag 1
// CHECK-LABEL: func.func @program2
// CHECK: cleave.recv pairs [2, 3, 2, 4, 2, 5] tag 1
// CHECK: cleave.recv pairs [0, 3, 1, 4, 0, 5] tag 2
// CHECK-NOT: recv

// -----

// Tests that the smaller of both layouts travels: here what is partial is reduced and cut first.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
func.func @main(%x: tensor<4x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{}, {"tp"}]>}) -> (tensor<4xf32> {cleave.name = "y"}) {
  %a = cleave.reduce sum %x {dims = array<i64: 1>, cleave.stage = 0 : i64} : (tensor<4x4xf32>) -> tensor<4xf32>
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64, cleave.shardings = [#cleave.sharding<@stage1, [{"tp"}]>]} : tensor<4xf32>
  return %b : tensor<4xf32>
}
// CHECK: [[R:%.*]] = cleave.reshard {{.*}} <@stage0, [{"tp"}]>
// CHECK: cleave.send [[R]]
// CHECK: [[V:%.*]] = cleave.recv
// CHECK-NEXT: cleave.unary tanh [[V]]

// -----

// Tests that what crosses once a micro-batch is marked.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=1], ranks = [0], micro_batches = 2>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=1], ranks = [1], micro_batches = 2>
func.func @main(%x: tensor<4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"mb"}]>}) -> (tensor<4xf32> {cleave.name = "y"}) {
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<4xf32>
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64} : tensor<4xf32>
  return %b : tensor<4xf32>
}
// CHECK: cleave.send {{.*}} {cleave.micro_batch}
// CHECK: cleave.recv {{.*}} {cleave.micro_batch,
