// RUN: %cleave-opt %s --cleave-propagate-shardings --split-input-file --verify-diagnostics

// A mesh is needed.
// expected-error @+1 {{needs a mesh: the module has none of a stage}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Each stage has a mesh.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is in stage 2, which has no mesh}}
  %a = cleave.unary exp %x {cleave.stage = 2 : i64} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Each op has a sharding rule.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no sharding rule, so it cannot be partitioned}}
  %a = cleave.copy %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{needs a function @main of one block}}
module {
  cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
}
