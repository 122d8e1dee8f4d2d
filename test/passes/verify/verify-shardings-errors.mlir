// RUN: %cleave-opt %s --cleave-verify-shardings --split-input-file --verify-diagnostics

// Arguments and results have shardings.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// expected-error @+1 {{argument 0 has no sharding}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{result 0 has no sharding}}
  %a = cleave.unary exp %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Axes exist and are used once; blocks divide; ranks agree.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{names axis "dp", mesh @m has none of that name}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{"dp"}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{uses axis "tp" twice}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{"tp"}], partial<sum, {"tp"}>>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{block 3 does not divide dim 0}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{"tp"}:3]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{sharding of 2 dims for a tensor of rank 1}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{}, {}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// A value lies on the mesh of its stage.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{is in stage 1, but its result lies on mesh @stage0}}
  %a = cleave.unary exp %x {cleave.stage = 1 : i64, cleave.shardings = [#cleave.sharding<@stage0, [{}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// A load lies as its param.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// expected-note @+1 {{the param is here}}
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@m, [{"tp"}]>
func.func @main() -> tensor<4xf32> {
  // expected-error @+1 {{lies as}}
  %w = cleave.load @w {cleave.shardings = [#cleave.sharding<@m, [{}]>]} : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4xf32>
func.func @main() -> tensor<4xf32> {
  // expected-error @+1 {{uses param @w, which has no sharding}}
  %w = cleave.load @w {cleave.shardings = [#cleave.sharding<@m, [{}]>]} : tensor<4xf32>
  return %w : tensor<4xf32>
}
