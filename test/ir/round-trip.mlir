// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// Tests that every op and attribute prints what it parses.

// CHECK: cleave.mesh @stage0 = <["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
cleave.mesh @stage0 = <["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
// CHECK: cleave.mesh @one = <[], ranks = [0]>
cleave.mesh @one = <[], ranks = [0]>
// CHECK: cleave.param @w : tensor<4x8xf32> = #cleave.weights<"m.onnx", 64, 128> sharding <@stage0, [{}, {"tp"}:4]>
cleave.param @w : tensor<4x8xf32> = #cleave.weights<"m.onnx", 64, 128> sharding <@stage0, [{}, {"tp"}:4]> {true_shape = array<i64: 32>}

// CHECK-LABEL: func.func @main
// CHECK-SAME: cleave.sharding = #cleave.sharding<@stage0, [{"dp", "tp"}, {}], partial<max, {"tp"}>>
func.func @main(%x: tensor<2x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"dp", "tp"}, {}], partial<max, {"tp"}>>}) -> tensor<2x8xf32> {
  // CHECK: cleave.load @w : tensor<4x8xf32>
  %w = cleave.load @w : tensor<4x8xf32>
  // CHECK: cleave.dot %{{.*}}, %{{.*}} {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.unary gelu_erf %{{.*}} : tensor<2x8xf32>
  %g = cleave.unary gelu_erf %y : tensor<2x8xf32>
  // CHECK: cleave.binary add %{{.*}}, %{{.*}} : tensor<2x8xf32>
  %b = cleave.binary add %g, %y : tensor<2x8xf32>
  // CHECK: cleave.compare lt %{{.*}}, %{{.*}} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  %c = cleave.compare lt %g, %y : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  // CHECK: cleave.select
  %s = cleave.select %c, %g, %y : (tensor<2x8xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.constant dense<1.000000e+00> : tensor<8xf32>
  %one = cleave.constant dense<1.0> : tensor<8xf32>
  // CHECK: cleave.norm layer
  %n = cleave.norm layer %s, %one {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.reduce sum %{{.*}} {dims = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %r = cleave.reduce sum %n {dims = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  // CHECK: cleave.broadcast %{{.*}} {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %br = cleave.broadcast %r {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.reshard %{{.*}} <@stage0, [{"dp"}, {}]> : tensor<2x8xf32>
  %h = cleave.reshard %br <@stage0, [{"dp"}, {}]> : tensor<2x8xf32>
  // CHECK: cleave.all_reduce sum %{{.*}} @stage0 ["tp"] : tensor<2x8xf32>
  %ar = cleave.all_reduce sum %h @stage0 ["tp"] : tensor<2x8xf32>
  // CHECK: cleave.all_gather %{{.*}} @stage0 ["tp"] {dim = 0 : i64} : (tensor<2x8xf32>) -> tensor<4x8xf32>
  %ag = cleave.all_gather %ar @stage0 ["tp"] {dim = 0 : i64} : (tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: cleave.reduce_scatter sum %{{.*}} @stage0 ["tp"] {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %rs = cleave.reduce_scatter sum %ag @stage0 ["tp"] {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.send %{{.*}} pairs [0, 2, 1, 3] tag 7 : tensor<2x8xf32>
  cleave.send %rs pairs [0, 2, 1, 3] tag 7 : tensor<2x8xf32>
  // CHECK: cleave.recv pairs [2, 0, 3, 1] tag 8 : tensor<2x8xf32>
  %rc = cleave.recv pairs [2, 0, 3, 1] tag 8 : tensor<2x8xf32>
  // CHECK: cleave.axis_index @stage0 ["dp", "tp"] : tensor<i64>
  %i = cleave.axis_index @stage0 ["dp", "tp"] : tensor<i64>
  // CHECK: cleave.take_shard
  %t = cleave.take_shard %rc, %i {dim = 1 : i64} : (tensor<2x8xf32>, tensor<i64>) -> tensor<2x4xf32>
  // CHECK: cleave.mask
  %m = cleave.mask %t, %i {dim = 1 : i64, size = 7 : i64, fill = 0.0 : f64} : (tensor<2x4xf32>, tensor<i64>) -> tensor<2x4xf32>
  // CHECK: %{{.*}} = cleave.kernel loop(%{{.*}}, %{{.*}}) {cleave.buffers = [#cleave.buffer<arena 0, 64, [8, 1]>], workspace = 128 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  %k = cleave.kernel loop(%rc, %b) {workspace = 128 : i64, cleave.buffers = [#cleave.buffer<arena 0, 64, [8, 1]>]} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%p: tensor<2x8xf32>, %q: tensor<2x8xf32>):
    %sum = cleave.binary add %p, %q : tensor<2x8xf32>
    // CHECK: cleave.yield %{{.*}} : tensor<2x8xf32>
    cleave.yield %sum : tensor<2x8xf32>
  }
  return %k : tensor<2x8xf32>
}
