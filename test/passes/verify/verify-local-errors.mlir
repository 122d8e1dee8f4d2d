// RUN: %cleave-opt %s --cleave-verify-local --split-input-file --verify-diagnostics

// A function has a mesh.
// expected-error @+1 {{has no mesh: it is not a rank program}}
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// No shardings are left.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.mesh = @m} {
  // expected-error @+1 {{has shardings in a rank program}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// No reshard is left.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.mesh = @m} {
  // expected-error @+1 {{is left in a rank program: localize makes it collectives}}
  %a = cleave.reshard %x <@m, [{}]> : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Collectives and params are on the function's mesh.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.mesh = @stage0} {
  // expected-error @+1 {{is on mesh @stage1, its function on @stage0}}
  %a = cleave.all_reduce sum %x @stage1 ["tp"] : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
// expected-note @+1 {{the param is here}}
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@stage1, [{}]>
func.func @program0() -> tensor<4xf32> attributes {cleave.mesh = @stage0} {
  // expected-error @+1 {{uses a param of mesh @stage1 on @stage0}}
  %a = cleave.load @w : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4xf32>
func.func @program0() -> tensor<4xf32> attributes {cleave.mesh = @m} {
  // expected-error @+1 {{uses param @w, which has no sharding}}
  %a = cleave.load @w : tensor<4xf32>
  return %a : tensor<4xf32>
}
