// Execution twins: micro-batches, an axis in time.
// RUN: %python %S/inputs/run_ranks.py %s

// A forward pass of 6 rows: 3 micro-batches over 2 data ranks and 2 stages; the rows come whole and leave whole.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2], ranks = [0, 1], micro_batches = 3>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=2], ranks = [2, 3], micro_batches = 3>
cleave.param @w : tensor<4x4xf32>
func.func @main(%x: tensor<6x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"mb", "dp"}, {}]>}) -> (tensor<6x4xf32> {cleave.name = "y"}) {
  %w = cleave.load @w : tensor<4x4xf32>
  %a = cleave.dot %x, %w {cleave.stage = 0 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64} : tensor<6x4xf32>
  %y = cleave.binary add %b, %x {cleave.stage = 1 : i64} : tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// Loss and gradient of a product, the data axis outside; 7 rows: uneven on both axes.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1], micro_batches = 2>
cleave.param @w : tensor<4x3xf32>
func.func @main(%x: tensor<7x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp", "mb"}, {}]>}, %t: tensor<7x3xf32> {cleave.name = "t", cleave.sharding = #cleave.sharding<@m, [{"dp", "mb"}, {}]>})
    -> (tensor<f32> {cleave.name = "loss"}, tensor<4x3xf32> {cleave.name = "dw"}, tensor<7x3xf32> {cleave.name = "e"}) {
  %w = cleave.load @w : tensor<4x3xf32>
  %a = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<7x4xf32>, tensor<4x3xf32>) -> tensor<7x3xf32>
  %c = cleave.unary cos %a : tensor<7x3xf32>
  %d = cleave.binary sub %c, %t : tensor<7x3xf32>
  %q = cleave.binary mul %d, %d : tensor<7x3xf32>
  %loss = cleave.reduce sum %q {dims = array<i64: 0, 1>} : (tensor<7x3xf32>) -> tensor<f32>
  %dw = cleave.dot %x, %d {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<7x4xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>
  return %loss, %dw, %d : tensor<f32>, tensor<4x3xf32>, tensor<7x3xf32>
}

// -----

// Stages of different sizes keep the micro-batches when a value crosses; 8 rows.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2], ranks = [0, 1], micro_batches = 2>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=1], ranks = [2], micro_batches = 2>
func.func @main(%x: tensor<8x2xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"mb", "dp"}, {}]>}) -> (tensor<8x2xf32> {cleave.name = "y"}) {
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<8x2xf32>
  %y = cleave.unary neg %a {cleave.stage = 1 : i64} : tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
