// RUN: %cleave-opt %s --cleave-propagate-shardings --cleave-insert-reshards --cleave-cut-stages --cleave-localize --cleave-verify-local --split-input-file | FileCheck %s

// Tests that a product over a split dim is local and then summed over the ranks.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<8x6xf32> sharding #cleave.sharding<@m, [{"tp"}, {}]>
// CHECK: func.func @program0(%arg0: tensor<4x4xf32> {{.*}} attributes {cleave.mesh = @m, cleave.stage = 0 : i64}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: [[W:%.*]] = cleave.load @w : tensor<4x6xf32>
  %w = cleave.load @w : tensor<8x6xf32>
  // CHECK-NEXT: [[Y:%.*]] = cleave.dot %arg0, [[W]] {{.*}} -> tensor<4x6xf32>
  %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: [[R:%.*]] = cleave.all_reduce sum [[Y]] @m ["tp"]
  // CHECK-NEXT: return [[R]]
  return %y : tensor<4x6xf32>
}

// -----

// Tests that an uneven dim is padded to the chunk, and cut to its true size when it is gathered.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1]>
// CHECK: func.func @program0(%arg0: tensor<2x4xf32>
func.func @main(%x: tensor<3x4xf32> {cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>}) -> tensor<3x4xf32> {
  // CHECK: [[A:%.*]] = cleave.unary exp %arg0 : tensor<2x4xf32>
  %a = cleave.unary exp %x : tensor<3x4xf32>
  // CHECK-NEXT: [[G:%.*]] = cleave.all_gather [[A]] @m ["dp"] {dim = 0 : i64} : (tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: [[S:%.*]] = cleave.slice [[G]] {sizes = array<i64: 3, 4>
  // CHECK-NEXT: return [[S]]
  return %a : tensor<3x4xf32>
}

// -----

// Tests that a block keeps heads whole: 3 heads of 64 over 2 ranks are 128 and 64.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4x3x64xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}, {}]>}) -> (tensor<4x192xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}:64]>}) {
  // CHECK: cleave.reshape %arg0 : (tensor<4x2x64xf32>) -> tensor<4x128xf32>
  %r = cleave.reshape %x : (tensor<4x3x64xf32>) -> tensor<4x192xf32>
  return %r : tensor<4x192xf32>
}

// -----

// Tests that padding is masked with the neutral element before a reduction: exp made it 1.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<3xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> (tensor<f32>, tensor<f32>) {
  // CHECK: [[I:%.*]] = cleave.axis_index @m ["tp"]
  // CHECK: [[E:%.*]] = cleave.unary exp
  %e = cleave.unary exp %x : tensor<3xf32>
  // CHECK: [[M:%.*]] = cleave.mask [[E]], [[I]] {dim = 0 : i64, fill = 0.000000e+00 : f64, size = 3 : i64}
  // CHECK: cleave.reduce sum [[M]]
  %s = cleave.reduce sum %e {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  // CHECK: [[N:%.*]] = cleave.mask [[E]], [[I]] {dim = 0 : i64, fill = 0xFFF0000000000000 : f64, size = 3 : i64}
  // CHECK: cleave.reduce max [[N]]
  %m = cleave.reduce max %e {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %s, %m : tensor<f32>, tensor<f32>
}

// -----

// Tests that no mask is made where padding is known to be zero: a sum after gelu of a product of zero-padded weights;
// nor where the dim is even.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w1 : tensor<4x3xf32> sharding #cleave.sharding<@m, [{}, {"tp"}]>
// CHECK: cleave.param @w2
cleave.param @w2 : tensor<3x4xf32>
func.func @main(%x: tensor<4x4xf32>, %z: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> (tensor<4x4xf32>, tensor<f32>) {
  // CHECK-NOT: mask
  %w1 = cleave.load @w1 : tensor<4x3xf32>
  %w2 = cleave.load @w2 : tensor<3x4xf32>
  %h = cleave.dot %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %g = cleave.unary gelu_erf %h : tensor<4x3xf32>
  %y = cleave.dot %g, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %e = cleave.unary exp %z : tensor<4xf32>
  %s = cleave.reduce sum %e {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %y, %s : tensor<4x4xf32>, tensor<f32>
}

// -----

// Tests that one side of a product is masked when the other is zero there but this may be infinite: log of 0.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<3x4xf32> sharding #cleave.sharding<@m, [{"tp"}, {}]>
func.func @main(%x: tensor<4x3xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) -> tensor<4x4xf32> {
  // CHECK: [[L:%.*]] = cleave.unary log
  %l = cleave.unary log %x : tensor<4x3xf32>
  // CHECK: [[W:%.*]] = cleave.load @w
  %w = cleave.load @w : tensor<3x4xf32>
  // CHECK: [[M:%.*]] = cleave.mask [[L]], {{.*}} {dim = 1 : i64
  // CHECK: cleave.dot [[M]], [[W]]
  %y = cleave.dot %l, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Tests that indices and integer divisors are masked too: position 3 does not exist, 0 does not divide.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @t : tensor<3x4xf32>
func.func @main(%x: tensor<3xi64> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> (tensor<3x4xf32>, tensor<3xi64>) {
  %t = cleave.load @t : tensor<3x4xf32>
  // CHECK: [[O:%.*]] = cleave.iota {dim = 0 : i64} : tensor<2xi64>
  // CHECK: [[C:%.*]] = cleave.constant dense<2> : tensor<i64>
  // CHECK: [[S:%.*]] = cleave.binary mul {{.*}}, [[C]]
  // CHECK: [[B:%.*]] = cleave.broadcast [[S]]
  // CHECK: [[P:%.*]] = cleave.binary add [[O]], [[B]]
  %i = cleave.iota {dim = 0 : i64, cleave.shardings = [#cleave.sharding<@m, [{"tp"}]>]} : tensor<3xi64>
  // CHECK: [[M:%.*]] = cleave.mask [[P]]
  // CHECK: cleave.gather {{.*}}, [[M]]
  %g = cleave.gather %t, %i {dim = 0 : i64} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  // CHECK: [[D:%.*]] = cleave.mask %arg0, {{.*}} fill = 1.000000e+00
  // CHECK: cleave.binary div {{.*}}, [[D]]
  %q = cleave.binary div %i, %x : tensor<3xi64>
  return %g, %q : tensor<3x4xf32>, tensor<3xi64>
}

// -----

// Tests each way to lay a value out anew: scatter, slice, exchange of dims, gather of a minor axis.
cleave.mesh @m = #cleave.mesh_shape<["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @main(%x: tensor<8x8xf32> {cleave.sharding = #cleave.sharding<@m, [{}, {"a"}]>}, %y: tensor<8x8xf32> {cleave.sharding = #cleave.sharding<@m, [{"a", "b"}, {}]>}) -> (tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: [[S:%.*]] = cleave.reduce sum %arg0
  %s = cleave.reduce sum %x {dims = array<i64: 1>} : (tensor<8x8xf32>) -> tensor<8xf32>
  // CHECK: cleave.reduce_scatter sum [[S]] @m ["a"] {dim = 0 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  %t = cleave.unary exp %s {cleave.shardings = [#cleave.sharding<@m, [{"a"}]>]} : tensor<8xf32>
  // CHECK: [[P:%.*]] = cleave.reshape %arg0 : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  // CHECK: [[A:%.*]] = cleave.all_to_all {{.*}} @m ["a"] : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // CHECK: [[Q:%.*]] = cleave.transpose [[A]] {perm = array<i64: 1, 0, 2>}
  // CHECK: cleave.reshape [[Q]] : (tensor<4x2x4xf32>) -> tensor<4x8xf32>
  %u = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{"a"}, {}]>]} : tensor<8x8xf32>
  // CHECK: cleave.all_gather %arg1 @m ["b"] {dim = 0 : i64} : (tensor<2x8xf32>) -> tensor<4x8xf32>
  %v = cleave.unary exp %y {cleave.shardings = [#cleave.sharding<@m, [{"a"}, {}]>]} : tensor<8x8xf32>
  return %t, %u, %v : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests that an input is whole for all micro-batches, a loop takes its part, and sums over micro-batches come first.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1], micro_batches = 2>
// CHECK: func.func @program0(%arg0: tensor<8xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}
func.func @main(%x: tensor<8xf32> {cleave.sharding = #cleave.sharding<@m, [{"mb", "dp"}]>}) -> tensor<f32> {
  // CHECK: [[I:%.*]] = cleave.axis_index @m ["mb", "dp"]
  // CHECK: [[X:%.*]] = cleave.take_shard %arg0, [[I]] {dim = 0 : i64} : (tensor<8xf32>, tensor<i64>) -> tensor<2xf32>
  // CHECK: [[S:%.*]] = cleave.reduce sum [[X]]
  // CHECK: [[T:%.*]] = cleave.all_reduce sum [[S]] @m ["mb"]
  // CHECK: cleave.all_reduce sum [[T]] @m ["dp"]
  %s = cleave.reduce sum %x {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
