// RUN: %cleave-opt %s --cleave-propagate-shardings --split-input-file | FileCheck %s

// Tests that a split of the weights' columns goes forward, and back to bias and rows.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
cleave.param @w1 : tensor<8x6xf32> sharding #cleave.sharding<@m, [{}, {"tp"}]>
// CHECK: cleave.param @b1 {{.*}} sharding <@m, [{"tp"}]>
cleave.param @b1 : tensor<6xf32>
// CHECK: cleave.param @w2 {{.*}} sharding <@m, [{"tp"}, {}]>
cleave.param @w2 : tensor<6x8xf32>
func.func @main(%x: tensor<4x8xf32> {cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>}) -> tensor<4x8xf32> {
  %w1 = cleave.load @w1 : tensor<8x6xf32>
  %b1 = cleave.load @b1 : tensor<6xf32>
  %w2 = cleave.load @w2 : tensor<6x8xf32>
  // CHECK: cleave.dot {{.*}}cleave.shardings = [#cleave.sharding<@m, [{"dp"}, {"tp"}]>]
  %h = cleave.dot %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  // CHECK: cleave.broadcast {{.*}}cleave.shardings = [#cleave.sharding<@m, [{"dp"}, {"tp"}]>]
  %b = cleave.broadcast %b1 {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: cleave.binary add {{.*}}cleave.shardings = [#cleave.sharding<@m, [{"dp"}, {"tp"}]>]
  %a = cleave.binary add %h, %b : tensor<4x6xf32>
  // A sum over a split dim is partial.
  // CHECK: cleave.dot {{.*}}cleave.shardings = [#cleave.sharding<@m, [{"dp"}, {}], partial<sum, {"tp"}>>]
  %y = cleave.dot %a, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests that a sharding that is there stays, though the operand says otherwise, and that an op that is not linear
// ends what is partial.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x8xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}, {}]>}) -> tensor<8xf32> {
  // CHECK: cleave.unary exp {{.*}}#cleave.sharding<@m, [{}, {"tp"}]>
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"}]>]} : tensor<4x8xf32>
  // CHECK: cleave.reduce max {{.*}}#cleave.sharding<@m, [{}], partial<max, {"tp"}>>
  %m = cleave.reduce max %x {dims = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8xf32>
  // CHECK: cleave.unary neg {{.*}}#cleave.sharding<@m, [{}]>
  %n = cleave.unary neg %m : tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// Tests that partial sums pass a linear op only where all its operands are partial.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: [[S:%.*]] = cleave.reduce sum
  %s = cleave.reduce sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: cleave.binary add [[S]], [[S]] {{.*}}partial<sum, {"tp"}>
  %a = cleave.binary add %s, %s : tensor<4xf32>
  // CHECK: cleave.binary add [[S]], %arg1 {cleave.shardings = [#cleave.sharding<@m, [{}]>]}
  %b = cleave.binary add %s, %y : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that a split of heads becomes blocks where they are one dim: 3 heads of 64.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x3x64xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}, {}]>}) -> tensor<4x192xf32> {
  // CHECK: cleave.reshape {{.*}}#cleave.sharding<@m, [{}, {"tp"}:64]>
  %r = cleave.reshape %x : (tensor<4x3x64xf32>) -> tensor<4x192xf32>
  return %r : tensor<4x192xf32>
}

// -----

// Tests that ops without a stage go where their operands are, and that meshes follow the stage.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{"tp"}]>}) -> tensor<4xf32> {
  // CHECK: cleave.constant {cleave.shardings = [#cleave.sharding<@stage1, [{"tp"}]>], cleave.stage = 1 : i64}
  %c = cleave.constant dense<2.0> : tensor<4xf32>
  // CHECK: cleave.unary exp {{.*}}@stage0, [{"tp"}]>], cleave.stage = 0
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<4xf32>
  // CHECK: cleave.unary tanh {{.*}}@stage1, [{"tp"}]>], cleave.stage = 1
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64} : tensor<4xf32>
  // CHECK: cleave.binary mul {{.*}}@stage1, [{"tp"}]>], cleave.stage = 1
  %d = cleave.binary mul %b, %c : tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// Tests that what nothing speaks about is replicated.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// CHECK: func.func @main(%arg0: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>})
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: #cleave.sharding<@m, [{}]>
  %a = cleave.unary exp %x : tensor<4xf32>
  return %a : tensor<4xf32>
}
