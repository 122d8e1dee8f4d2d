// RUN: %cleave-opt %s --cleave-verify-local --verify-diagnostics

// Tests that a rank program passes.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@m, [{"tp"}]>
func.func @program0(%x: tensor<2xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> tensor<2xf32> attributes {cleave.mesh = @m} {
  %w = cleave.load @w : tensor<2xf32>
  %a = cleave.binary add %x, %w : tensor<2xf32>
  %r = cleave.all_reduce sum %a @m ["tp"] : tensor<2xf32>
  return %r : tensor<2xf32>
}
