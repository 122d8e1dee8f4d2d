// RUN: %cleave-opt %s --cleave-cut-stages --split-input-file --verify-diagnostics

// A rank is in one stage.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [1, 2]>
// expected-error @+1 {{rank 1 is in stage 0 and in stage 1}}
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// All stages see the same micro-batches.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0], micro_batches = 2>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
// expected-error @+1 {{stage 0 has 2 micro-batches, stage 1 has 1}}
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// An edge between stages is a reshard.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}]>}) -> tensor<4xf32> {
  %a = cleave.unary exp %x {cleave.stage = 0 : i64, cleave.shardings = [#cleave.sharding<@stage0, [{}]>]} : tensor<4xf32>
  // expected-error @+1 {{in stage 1 reads a value of stage 0 without a reshard}}
  %b = cleave.unary exp %a {cleave.stage = 1 : i64, cleave.shardings = [#cleave.sharding<@stage1, [{}]>]} : tensor<4xf32>
  return %b : tensor<4xf32>
}
