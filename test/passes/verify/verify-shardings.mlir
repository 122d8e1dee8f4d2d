// RUN: %cleave-opt %s --cleave-verify-shardings=resharded=true --split-input-file -o /dev/null --verify-diagnostics

// Tests that a complete program passes, with and without `resharded`.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@m, [{"tp"}]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> tensor<4xf32> {
  %w = cleave.load @w {cleave.shardings = [#cleave.sharding<@m, [{"tp"}]>]} : tensor<4xf32>
  %a = cleave.binary add %x, %w {cleave.shardings = [#cleave.sharding<@m, [{"tp"}]>]} : tensor<4xf32>
  %r = cleave.reshard %a <@m, [{}]> {cleave.shardings = [#cleave.sharding<@m, [{}]>]} : tensor<4xf32>
  return %r : tensor<4xf32>
}
