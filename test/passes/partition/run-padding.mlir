// Execution twins: padding that a reduction, an index or a division would meet.
// RUN: %python %S/inputs/run_ranks.py %s

// Each kind of reduction over an uneven dim, of values that are not neutral on padding.
cleave.mesh @m = #cleave.mesh_shape<["tp"=4], ranks = [0, 1, 2, 3]>
func.func @main(%x: tensor<5x3xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"tp"}, {}]>}, %i: tensor<5x3xi64> {cleave.name = "i", cleave.sharding = #cleave.sharding<@m, [{"tp"}, {}]>})
    -> (tensor<3xf32> {cleave.name = "sum"}, tensor<3xf32> {cleave.name = "max"}, tensor<3xf32> {cleave.name = "min"}, tensor<3xf32> {cleave.name = "prod"}, tensor<3xi64> {cleave.name = "imax"}, tensor<f32> {cleave.name = "all"}) {
  %e = cleave.unary exp %x : tensor<5x3xf32>
  %n = cleave.unary neg %e : tensor<5x3xf32>
  %sum = cleave.reduce sum %e {dims = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %max = cleave.reduce max %n {dims = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %min = cleave.reduce min %e {dims = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %prod = cleave.reduce prod %e {dims = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %ni = cleave.unary neg %i : tensor<5x3xi64>
  %imax = cleave.reduce max %ni {dims = array<i64: 0>} : (tensor<5x3xi64>) -> tensor<3xi64>
  %all = cleave.reduce sum %e {dims = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %sum, %max, %min, %prod, %imax, %all : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xi64>, tensor<f32>
}

// -----

// Positions along a split dim count from the chunk; beyond the end they are no index.
cleave.mesh @m = #cleave.mesh_shape<["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
cleave.param @table : tensor<5x3xf32>
func.func @main(%x: tensor<5x3xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"a", "b"}, {}]>}) -> (tensor<5x3xf32> {cleave.name = "y"}, tensor<5x2xf32> {cleave.name = "z"}) {
  %table = cleave.load @table : tensor<5x3xf32>
  %i = cleave.iota {dim = 0 : i64, cleave.shardings = [#cleave.sharding<@m, [{"a", "b"}]>]} : tensor<5xi64>
  %p = cleave.gather %table, %i {dim = 0 : i64} : (tensor<5x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  %y = cleave.binary add %x, %p : tensor<5x3xf32>
  %z = cleave.iota {dim = 0 : i64, cleave.shardings = [#cleave.sharding<@m, [{"b"}, {"a"}]>]} : tensor<5x2xf32>
  return %y, %z : tensor<5x3xf32>, tensor<5x2xf32>
}

// -----

// Integer division would trap on zero padding.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<3xi64> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> (tensor<3xi64> {cleave.name = "y"}) {
  %c = cleave.constant dense<[1, 2, 3]> : tensor<3xi64>
  %d = cleave.binary add %c, %c {cleave.shardings = [#cleave.sharding<@m, [{"tp"}]>]} : tensor<3xi64>
  %y = cleave.binary div %x, %d : tensor<3xi64>
  return %y : tensor<3xi64>
}

// -----

// Mean of the losses of an uneven batch, its gradient, and that of the weights.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4x3xf32>
func.func @main(%x: tensor<5x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>}, %t: tensor<5xi64> {cleave.name = "t", cleave.sharding = #cleave.sharding<@m, [{"dp"}]>})
    -> (tensor<f32> {cleave.name = "loss"}, tensor<4xf32> {cleave.name = "g"}) {
  %w = cleave.load @w : tensor<4x3xf32>
  %three = cleave.constant dense<3> : tensor<5xi64>
  %l = cleave.binary mod %t, %three : tensor<5xi64>
  %z = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %rows = cleave.cross_entropy %z, %l : (tensor<5x3xf32>, tensor<5xi64>) -> tensor<5xf32>
  %loss = cleave.reduce sum %rows {dims = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %c = cleave.unary cos %rows : tensor<5xf32>
  %g = cleave.dot %x, %c {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<5x4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %loss, %g : tensor<f32>, tensor<4xf32>
}

// -----

// Slices, pads and concatenations beside a split dim.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1]>
cleave.param @token : tensor<1x4xf32>
func.func @main(%x: tensor<3x5x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}, {}]>}) -> (tensor<3x4xf32> {cleave.name = "y"}, tensor<7x4xf32> {cleave.name = "s"}) {
  %token = cleave.load @token : tensor<1x4xf32>
  %b = cleave.broadcast %token {dims = array<i64: 1, 2>} : (tensor<1x4xf32>) -> tensor<3x1x4xf32>
  %c = cleave.concat %b, %x {dim = 1 : i64} : (tensor<3x1x4xf32>, tensor<3x5x4xf32>) -> tensor<3x6x4xf32>
  %p = cleave.pad %c {low = array<i64: 0, 1, 0>, high = array<i64: 0, 0, 0>, value = 2.0 : f64} : (tensor<3x6x4xf32>) -> tensor<3x7x4xf32>
  %f = cleave.slice %p {starts = array<i64: 0, 1, 0>, sizes = array<i64: 3, 1, 4>, strides = array<i64: 1, 1, 1>} : (tensor<3x7x4xf32>) -> tensor<3x1x4xf32>
  %y = cleave.reshape %f : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
  %s = cleave.reduce sum %p {dims = array<i64: 0>} : (tensor<3x7x4xf32>) -> tensor<7x4xf32>
  return %y, %s : tensor<3x4xf32>, tensor<7x4xf32>
}
