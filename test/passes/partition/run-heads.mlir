// Execution twins: attention by heads, norms, and reshapes that join heads.
// RUN: %python %S/inputs/run_ranks.py %s

// A block with 6 heads over 4 ranks: norm, q k v, attention, out, residual.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=4], ranks = [0, 1, 2, 3, 4, 5, 6, 7]>
cleave.param @scale : tensor<12xf32>
cleave.param @bias : tensor<12xf32>
cleave.param @wq : tensor<12x6x2xf32> sharding #cleave.sharding<@m, [{}, {"tp"}, {}]>
cleave.param @bq : tensor<6x2xf32>
cleave.param @wk : tensor<12x6x2xf32>
cleave.param @wv : tensor<12x6x2xf32>
cleave.param @bv : tensor<6x2xf32>
cleave.param @wo : tensor<6x2x12xf32>
func.func @main(%x: tensor<3x5x12xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}, {}]>}) -> (tensor<3x5x12xf32> {cleave.name = "y"}) {
  %scale = cleave.load @scale : tensor<12xf32>
  %bias = cleave.load @bias : tensor<12xf32>
  %n = cleave.norm layer %x, %scale, %bias {axis = 2 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<3x5x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<3x5x12xf32>
  %wq = cleave.load @wq : tensor<12x6x2xf32>
  %bq = cleave.load @bq : tensor<6x2xf32>
  %q0 = cleave.dot %n, %wq {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<3x5x12xf32>, tensor<12x6x2xf32>) -> tensor<3x5x6x2xf32>
  %bqb = cleave.broadcast %bq {dims = array<i64: 2, 3>} : (tensor<6x2xf32>) -> tensor<3x5x6x2xf32>
  %q1 = cleave.binary add %q0, %bqb : tensor<3x5x6x2xf32>
  %q = cleave.transpose %q1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<3x5x6x2xf32>) -> tensor<3x6x5x2xf32>
  %wk = cleave.load @wk : tensor<12x6x2xf32>
  %k0 = cleave.dot %n, %wk {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<3x5x12xf32>, tensor<12x6x2xf32>) -> tensor<3x5x6x2xf32>
  %k = cleave.transpose %k0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<3x5x6x2xf32>) -> tensor<3x6x5x2xf32>
  %wv = cleave.load @wv : tensor<12x6x2xf32>
  %bv = cleave.load @bv : tensor<6x2xf32>
  %v0 = cleave.dot %n, %wv {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<3x5x12xf32>, tensor<12x6x2xf32>) -> tensor<3x5x6x2xf32>
  %bvb = cleave.broadcast %bv {dims = array<i64: 2, 3>} : (tensor<6x2xf32>) -> tensor<3x5x6x2xf32>
  %v1 = cleave.binary add %v0, %bvb : tensor<3x5x6x2xf32>
  %v = cleave.transpose %v1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<3x5x6x2xf32>) -> tensor<3x6x5x2xf32>
  %a = cleave.attention %q, %k, %v {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<3x6x5x2xf32>, tensor<3x6x5x2xf32>, tensor<3x6x5x2xf32>) -> tensor<3x6x5x2xf32>
  %t = cleave.transpose %a {perm = array<i64: 0, 2, 1, 3>} : (tensor<3x6x5x2xf32>) -> tensor<3x5x6x2xf32>
  %wo = cleave.load @wo : tensor<6x2x12xf32>
  %o = cleave.dot %t, %wo {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2, 3>, rhs_contract = array<i64: 0, 1>} : (tensor<3x5x6x2xf32>, tensor<6x2x12xf32>) -> tensor<3x5x12xf32>
  %y = cleave.binary add %x, %o : tensor<3x5x12xf32>
  return %y : tensor<3x5x12xf32>
}

// -----

// Heads joined to one dim: 5 heads of 4 over 3 ranks fall on whole heads.
cleave.mesh @m = #cleave.mesh_shape<["tp"=3], ranks = [0, 1, 2]>
cleave.param @w : tensor<20x7xf32>
func.func @main(%x: tensor<2x5x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}, {}]>}) -> (tensor<2x7xf32> {cleave.name = "y"}, tensor<2x5x4xf32> {cleave.name = "z"}) {
  %w = cleave.load @w : tensor<20x7xf32>
  %e = cleave.unary exp %x : tensor<2x5x4xf32>
  %f = cleave.reshape %e : (tensor<2x5x4xf32>) -> tensor<2x20xf32>
  %y = cleave.dot %f, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x20xf32>, tensor<20x7xf32>) -> tensor<2x7xf32>
  %g = cleave.reshape %f : (tensor<2x20xf32>) -> tensor<2x5x4xf32>
  return %y, %g : tensor<2x7xf32>, tensor<2x5x4xf32>
}

// -----

// A split that cuts heads (20 over 3 in blocks of 1) is laid out anew before the reshape.
cleave.mesh @m = #cleave.mesh_shape<["tp"=3], ranks = [0, 1, 2]>
func.func @main(%x: tensor<2x20xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) -> (tensor<2x5x4xf32> {cleave.name = "z"}) {
  %e = cleave.unary exp %x : tensor<2x20xf32>
  %g = cleave.reshape %e : (tensor<2x20xf32>) -> tensor<2x5x4xf32>
  %n = cleave.unary neg %g : tensor<2x5x4xf32>
  return %n : tensor<2x5x4xf32>
}

// -----

// Sequence split between products: scatter, norm on rows, gather; 5 rows over 2 ranks.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @scale : tensor<4xf32>
cleave.param @w1 : tensor<6x4xf32> sharding #cleave.sharding<@m, [{"tp"}, {}]>
cleave.param @w2 : tensor<4x6xf32> sharding #cleave.sharding<@m, [{}, {"tp"}]>
func.func @main(%x: tensor<5x6xf32> {cleave.name = "x"}) -> (tensor<5x6xf32> {cleave.name = "y"}) {
  %w1 = cleave.load @w1 : tensor<6x4xf32>
  %w2 = cleave.load @w2 : tensor<4x6xf32>
  %scale = cleave.load @scale : tensor<4xf32>
  %h = cleave.dot %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  %n = cleave.norm rms %h, %scale {axis = 1 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 1, 0>, cleave.shardings = [#cleave.sharding<@m, [{"tp"}, {}]>]} : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  %y = cleave.dot %n, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"}]>]} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  return %y : tensor<5x6xf32>
}

// -----

// A softmax along a dim that is wanted split: made whole, then cut.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<3x5xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}]>}) -> (tensor<3x5xf32> {cleave.name = "y"}, tensor<3xf32> {cleave.name = "z"}) {
  %y = cleave.softmax %x {dim = 1 : i64, cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"}]>]} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %z = cleave.reduce max %y {dims = array<i64: 1>} : (tensor<3x5xf32>) -> tensor<3xf32>
  return %y, %z : tensor<3x5xf32>, tensor<3xf32>
}
