// RUN: %cleave-opt %s --cleave-propagate-shardings --cleave-insert-reshards --cleave-verify-shardings=resharded=true --split-input-file | FileCheck %s

// Tests that an op that is not linear gets its partial operand reduced, once for all users.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: [[S:%.*]] = cleave.reduce sum
  %s = cleave.reduce sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK-NEXT: [[R:%.*]] = cleave.reshard [[S]] <@m, [{}]>
  // CHECK-NEXT: [[A:%.*]] = cleave.unary exp [[R]]
  %a = cleave.unary exp %s : tensor<4xf32>
  // CHECK-NEXT: [[B:%.*]] = cleave.unary abs [[R]]
  %b = cleave.unary abs %s : tensor<4xf32>
  // CHECK-NEXT: return [[A]], [[B]]
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that operands are split as a wanted partial result needs: by the factor that an operand has split already.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x6x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {}, {}]>}, %w: tensor<6x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) -> tensor<4xf32> {
  // CHECK: [[X:%.*]] = cleave.reshard %arg0 <@m, [{}, {}, {"tp"}]>
  // CHECK-NEXT: [[Y:%.*]] = cleave.dot [[X]], %arg1
  %y = cleave.dot %x, %w {cleave.shardings = [#cleave.sharding<@m, [{}], partial<sum, {"tp"}>>], lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<4x6x8xf32>, tensor<6x8xf32>) -> tensor<4xf32>
  // CHECK-NEXT: [[R:%.*]] = cleave.reshard [[Y]] <@m, [{}]>
  // CHECK-NEXT: return [[R]]
  return %y : tensor<4xf32>
}

// -----

// Tests that a split that the op cannot make is made behind it.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) -> (tensor<4x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) {
  // CHECK: [[X:%.*]] = cleave.reshard %arg0 <@m, [{}, {}]>
  // CHECK-NEXT: [[S:%.*]] = cleave.softmax [[X]] {cleave.shardings = [#cleave.sharding<@m, [{}, {}]>]
  // CHECK-NEXT: [[Y:%.*]] = cleave.reshard [[S]] <@m, [{}, {"tp"}]>
  // CHECK-NEXT: return [[Y]]
  %y = cleave.softmax %x {dim = 1 : i64, cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"}]>]} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests that blocks of one layout need no reshard: 4 heads of 8 over 2 ranks are 16 either way; over 3 heads they differ.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<32xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}, %z: tensor<24xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> (tensor<4x8xf32>, tensor<3x8xf32>) {
  // CHECK: cleave.reshape %arg0
  %y = cleave.reshape %x {cleave.shardings = [#cleave.sharding<@m, [{"tp"}, {}]>]} : (tensor<32xf32>) -> tensor<4x8xf32>
  // CHECK: [[Z:%.*]] = cleave.reshard %arg1 <@m, [{"tp"}:8]>
  // CHECK-NEXT: cleave.reshape [[Z]]
  %u = cleave.reshape %z {cleave.shardings = [#cleave.sharding<@m, [{"tp"}, {}]>]} : (tensor<24xf32>) -> tensor<3x8xf32>
  return %y, %u : tensor<4x8xf32>, tensor<3x8xf32>
}

// -----

// Tests that a value used in another stage is laid out there once.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{"tp"}]>}) -> (tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage1, [{"tp"}]>}) {
  // CHECK: [[A:%.*]] = cleave.unary exp
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<4xf32>
  // CHECK-NEXT: [[R:%.*]] = cleave.reshard [[A]] <@stage1, [{"tp"}]> {{.*}}cleave.stage = 1
  // CHECK-NEXT: [[B:%.*]] = cleave.unary tanh [[R]]
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: [[C:%.*]] = cleave.binary add [[B]], [[R]]
  %c = cleave.binary add %b, %a {cleave.stage = 1 : i64} : tensor<4xf32>
  // CHECK-NEXT: return [[C]]
  return %c : tensor<4xf32>
}

// -----

// Tests that a store gets its value as the param lies.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@m, [{"tp"}]>
func.func @main(%x: tensor<4xf32>) {
  // CHECK: [[W:%.*]] = cleave.reshard %arg0 <@m, [{"tp"}]>
  // CHECK-NEXT: cleave.store [[W]], @w
  cleave.store %x, @w : tensor<4xf32>
  return
}
