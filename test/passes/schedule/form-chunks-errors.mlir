// RUN: cleave-opt %s --cleave-form-chunks --verify-diagnostics

// Tests that a total over micro-batches cannot be used in the loop that makes it.

cleave.mesh @stage0 = <[], ranks = [0], micro_batches = 2>
func.func @program0(%x: tensor<4xf32>) -> tensor<2xf32> attributes {cleave.mesh = @stage0} {
  %i = cleave.axis_index @stage0 ["mb"] : tensor<i64>
  %p = cleave.take_shard %x, %i {dim = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<2xf32>
  // expected-note @+1 {{reduced here}}
  %t = cleave.all_reduce sum %p @stage0 ["mb"] : tensor<2xf32>
  // expected-error @+1 {{needs a value of one micro-batch and one reduced over all micro-batches in the same loop}}
  %y = cleave.binary mul %p, %t : tensor<2xf32>
  %g = cleave.all_reduce sum %y @stage0 ["mb"] : tensor<2xf32>
  return %g : tensor<2xf32>
}
