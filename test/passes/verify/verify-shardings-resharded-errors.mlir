// RUN: %cleave-opt %s --cleave-verify-shardings=resharded=true --split-input-file --verify-diagnostics

// Operands lie as the op needs them.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{operand 0 lies as #cleave.sharding<@m, [{}]>, the op needs #cleave.sharding<@m, [{"tp"}]>}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{"tp"}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Results lie as the op makes them.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{result 0 lies as}}
  %a = cleave.softmax %x {dim = 0 : i64, cleave.shardings = [#cleave.sharding<@m, [{"tp"}]>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// What @main returns is as wanted.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{returns value 0 as}}
  return %x : tensor<4xf32>
}
