// Execution twins: pipeline stages, alone and with other splits.
// RUN: %python %S/inputs/run_ranks.py %s

// Two stages of tp 2; the input and a param are used in both, a value skips to the end.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
cleave.param @w : tensor<5x5xf32> sharding #cleave.sharding<@stage0, [{}, {"tp"}]>
cleave.param @v : tensor<5x5xf32> sharding #cleave.sharding<@stage0, [{"tp"}, {}]>
func.func @main(%x: tensor<3x5xf32> {cleave.name = "x"}) -> (tensor<3x5xf32> {cleave.name = "y"}, tensor<3x5xf32> {cleave.name = "h"}) {
  %w = cleave.load @w : tensor<5x5xf32>
  %v = cleave.load @v : tensor<5x5xf32>
  %a = cleave.dot %x, %w {cleave.stage = 0 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
  %g = cleave.unary relu %a {cleave.stage = 0 : i64} : tensor<3x5xf32>
  %h = cleave.dot %g, %v {cleave.stage = 0 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
  %b = cleave.dot %h, %w {cleave.stage = 1 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
  %c = cleave.unary relu %b {cleave.stage = 1 : i64} : tensor<3x5xf32>
  %d = cleave.dot %c, %v {cleave.stage = 1 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x5xf32>, tensor<5x5xf32>) -> tensor<3x5xf32>
  %e = cleave.binary add %d, %x {cleave.stage = 1 : i64} : tensor<3x5xf32>
  %y = cleave.binary add %e, %g {cleave.stage = 1 : i64} : tensor<3x5xf32>
  return %y, %h : tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

// Three stages of different sizes; the first value goes to the last directly.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=3], ranks = [2, 3, 4]>
cleave.mesh @stage2 = #cleave.mesh_shape<["dp"=1], ranks = [5]>
func.func @main(%x: tensor<5x2xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"dp"}, {}]>}) -> (tensor<5x2xf32> {cleave.name = "y"}) {
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<5x2xf32>
  %b = cleave.unary neg %a {cleave.stage = 1 : i64} : tensor<5x2xf32>
  %c = cleave.unary tanh %b {cleave.stage = 1 : i64, cleave.shardings = [#cleave.sharding<@stage1, [{"dp"}, {}]>]} : tensor<5x2xf32>
  %d = cleave.binary add %a, %c {cleave.stage = 2 : i64} : tensor<5x2xf32>
  return %d : tensor<5x2xf32>
}

// -----

// Back again: the first stage uses what the second made, as gradients do.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [3, 2]>
func.func @main(%x: tensor<5x2xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"tp"}, {}]>}) -> (tensor<5x2xf32> {cleave.name = "y"}, tensor<2xf32> {cleave.name = "z"}) {
  %a = cleave.unary exp %x {cleave.stage = 0 : i64} : tensor<5x2xf32>
  %s = cleave.reduce sum %a {cleave.stage = 0 : i64, dims = array<i64: 0>} : (tensor<5x2xf32>) -> tensor<2xf32>
  %b = cleave.unary tanh %a {cleave.stage = 1 : i64} : tensor<5x2xf32>
  %t = cleave.unary neg %s {cleave.stage = 1 : i64} : tensor<2xf32>
  %c = cleave.binary mul %b, %a {cleave.stage = 0 : i64} : tensor<5x2xf32>
  return %c, %t : tensor<5x2xf32>, tensor<2xf32>
}
