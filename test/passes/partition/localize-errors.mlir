// RUN: %cleave-opt %s --cleave-localize --split-input-file --verify-diagnostics

// Functions are those of stages.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// expected-error @+1 {{belongs to no stage: cut the stages first}}
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// expected-error @+1 {{is stage 1, which has no mesh}}
func.func @program1(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> attributes {cleave.stage = 1 : i64} {
  return %x : tensor<4xf32>
}

// -----

// Arguments and results have shardings.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// expected-error @+1 {{argument 0 has no sharding}}
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.stage = 0 : i64} {
  return %x : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @program0(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> attributes {cleave.stage = 0 : i64} {
  // expected-error @+1 {{has a result without sharding}}
  %a = cleave.unary exp %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Values lie on the mesh of their function.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
func.func @program0(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@stage0, [{}]>}) -> tensor<4xf32> attributes {cleave.stage = 0 : i64} {
  // expected-error @+1 {{lies on mesh @stage1, its function on @stage0}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@stage1, [{}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Ops have a local form.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @program0(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> attributes {cleave.stage = 0 : i64} {
  // expected-error @+1 {{has no sharding rule, so it cannot be partitioned}}
  %a = cleave.copy %x {cleave.shardings = [#cleave.sharding<@m, [{}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}
