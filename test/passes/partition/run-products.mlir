// Execution twins: products split by rows, columns and both, evenly and not.
// RUN: %python %S/inputs/run_ranks.py %s

// Columns, then rows; uneven batch; the bias and the activation in between.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
cleave.param @w1 : tensor<8x7xf32> sharding #cleave.sharding<@m, [{}, {"tp"}]>
cleave.param @b1 : tensor<7xf32>
cleave.param @w2 : tensor<7x8xf32>
func.func @main(%x: tensor<3x8xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>}) -> (tensor<3x8xf32> {cleave.name = "y"}) {
  %w1 = cleave.load @w1 : tensor<8x7xf32>
  %b1 = cleave.load @b1 : tensor<7xf32>
  %w2 = cleave.load @w2 : tensor<7x8xf32>
  %h = cleave.dot %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x8xf32>, tensor<8x7xf32>) -> tensor<3x7xf32>
  %bb = cleave.broadcast %b1 {dims = array<i64: 1>} : (tensor<7xf32>) -> tensor<3x7xf32>
  %a = cleave.binary add %h, %bb : tensor<3x7xf32>
  %g = cleave.unary gelu_erf %a : tensor<3x7xf32>
  %y = cleave.dot %g, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x7xf32>, tensor<7x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

// An activation that gives 1 and more on padding: exp. 5 over 4 ranks leaves a rank with nothing but padding.
cleave.mesh @m = #cleave.mesh_shape<["tp"=4], ranks = [0, 1, 2, 3]>
cleave.param @w1 : tensor<3x5xf32> sharding #cleave.sharding<@m, [{}, {"tp"}]>
cleave.param @w2 : tensor<5x3xf32>
func.func @main(%x: tensor<3x3xf32> {cleave.name = "x"}) -> (tensor<3x3xf32> {cleave.name = "y"}) {
  %w1 = cleave.load @w1 : tensor<3x5xf32>
  %w2 = cleave.load @w2 : tensor<5x3xf32>
  %h = cleave.dot %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %e = cleave.unary exp %h : tensor<3x5xf32>
  %r = cleave.unary reciprocal %h : tensor<3x5xf32>
  %one = cleave.constant dense<1.0> : tensor<3x5xf32>
  %zero = cleave.constant dense<0.0> : tensor<3x5xf32>
  %c = cleave.compare eq %h, %zero : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
  %s = cleave.select %c, %one, %r : (tensor<3x5xi1>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %t = cleave.binary add %e, %s : tensor<3x5xf32>
  %y = cleave.dot %t, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// -----

// A product of two activations with padding on the summed dim: dp over 5 rows.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<5x3xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>},
                %z: tensor<5x2xf32> {cleave.name = "z", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>}) -> (tensor<3x2xf32> {cleave.name = "y"}) {
  %a = cleave.unary exp %x : tensor<5x3xf32>
  %b = cleave.unary exp %z : tensor<5x2xf32>
  %y = cleave.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<5x3xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// A partial sum is wanted split: reduce_scatter, uneven; then gathered.
cleave.mesh @m = #cleave.mesh_shape<["tp"=4], ranks = [0, 1, 2, 3]>
cleave.param @w : tensor<6x3xf32> sharding #cleave.sharding<@m, [{"tp"}, {}]>
func.func @main(%x: tensor<5x6xf32> {cleave.name = "x"}) -> (tensor<5x3xf32> {cleave.name = "y"}, tensor<3xf32> {cleave.name = "s"}) {
  %w = cleave.load @w : tensor<6x3xf32>
  %h = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, cleave.shardings = [#cleave.sharding<@m, [{}, {}], partial<sum, {"tp"}>>]} : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  %y = cleave.unary exp %h {cleave.shardings = [#cleave.sharding<@m, [{"tp"}, {}]>]} : tensor<5x3xf32>
  %s = cleave.reduce sum %y {dims = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  return %y, %s : tensor<5x3xf32>, tensor<3xf32>
}

// -----

// Two axes on one dim; the minor one is dropped, evenly (8) and not (5).
cleave.mesh @m = #cleave.mesh_shape<["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @main(%x: tensor<8x5xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"a", "b"}, {}]>},
                %z: tensor<8x5xf32> {cleave.name = "z", cleave.sharding = #cleave.sharding<@m, [{}, {"b", "a"}]>})
    -> (tensor<8x5xf32> {cleave.name = "p"}, tensor<8x5xf32> {cleave.name = "q"}, tensor<8x5xf32> {cleave.name = "r"}) {
  %p = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{"a"}, {}]>]} : tensor<8x5xf32>
  %q = cleave.unary exp %z {cleave.shardings = [#cleave.sharding<@m, [{}, {"b"}]>]} : tensor<8x5xf32>
  %r = cleave.unary exp %q {cleave.shardings = [#cleave.sharding<@m, [{"a"}, {"b"}]>]} : tensor<8x5xf32>
  %t = cleave.unary exp %p {cleave.shardings = [#cleave.sharding<@m, [{"a", "b"}, {}]>]} : tensor<8x5xf32>
  return %t, %q, %r : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
}

// -----

// A split moves from one dim to another: all_to_all, uneven on both.
cleave.mesh @m = #cleave.mesh_shape<["tp"=3], ranks = [0, 1, 2]>
func.func @main(%x: tensor<2x5x7xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{}, {"tp"}, {}]>}) -> (tensor<2x5x7xf32> {cleave.name = "y"}, tensor<2x5xf32> {cleave.name = "z"}) {
  %e = cleave.unary exp %x : tensor<2x5x7xf32>
  %y = cleave.unary abs %e {cleave.shardings = [#cleave.sharding<@m, [{}, {}, {"tp"}]>]} : tensor<2x5x7xf32>
  %z = cleave.reduce sum %y {dims = array<i64: 2>} : (tensor<2x5x7xf32>) -> tensor<2x5xf32>
  %b = cleave.unary neg %y {cleave.shardings = [#cleave.sharding<@m, [{}, {"tp"}, {}]>]} : tensor<2x5x7xf32>
  return %b, %z : tensor<2x5x7xf32>, tensor<2x5xf32>
}

// -----

// An axis of size 1 costs nothing.
cleave.mesh @m = #cleave.mesh_shape<["dp"=1, "tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4x6xf32> sharding #cleave.sharding<@m, [{"tp"}, {}]>
func.func @main(%x: tensor<2x6xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}]>}) -> (tensor<2x4xf32> {cleave.name = "y"}) {
  %w = cleave.load @w : tensor<4x6xf32>
  %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A convolution over split input channels, then one over split output channels; 5 channels over 2 ranks.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
cleave.param @w : tensor<5x3x2x2xf32> sharding #cleave.sharding<@m, [{"tp"}, {}, {}, {}]>
cleave.param @v : tensor<4x5x2x2xf32>
func.func @main(%x: tensor<3x3x6x6xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {}, {}, {}]>}) -> (tensor<3x4x3x3xf32> {cleave.name = "y"}) {
  %w = cleave.load @w : tensor<5x3x2x2xf32>
  %v = cleave.load @v : tensor<4x5x2x2xf32>
  %h = cleave.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<3x3x6x6xf32>, tensor<5x3x2x2xf32>) -> tensor<3x5x4x4xf32>
  %e = cleave.unary cos %h : tensor<3x5x4x4xf32>
  %y = cleave.conv %e, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<3x5x4x4xf32>, tensor<4x5x2x2xf32>) -> tensor<3x4x3x3xf32>
  return %y : tensor<3x4x3x3xf32>
}
