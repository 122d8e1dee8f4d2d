// RUN: cleave compile %s -o %t-state
// RUN: %python %S/inputs/twins.py state %t-state
// RUN: FileCheck %s < %t-state/manifest.json

// Tests that a load gives the value at the start of the step, that a store holds
// from its end on, that constants are part of the program, and that what is only
// stored is numbered behind what is loaded. The test runs three steps.

// CHECK: "state": [
// CHECK: "mutable": true,
// CHECK-NEXT: "name": "sum"
// CHECK: "mutable": true,
// CHECK-NEXT: "name": "last"

module attributes {
  cleave.inputs = [{name = "x", type = tensor<2x3xf32>}],
  cleave.outputs = [{name = "before", type = tensor<2x3xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  cleave.param @sum : tensor<2x3xf32>
  cleave.param @last : tensor<2x3xf32>
  func.func @stage(%x: tensor<2x3xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [3, 1]>})
      -> (tensor<2x3xf32> {cleave.name = "before", cleave.buffer = #cleave.buffer<output 0, 0, [3, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    cleave.store %x, @last : tensor<2x3xf32>
    %old = cleave.load @sum {cleave.buffers = [#cleave.buffer<state 0, 0, [3, 1]>]} : tensor<2x3xf32>
    %table = cleave.constant {cleave.buffers = [#cleave.buffer<constant 0, 0, [3, 1]>]} dense<[[0., 1., 2.], [3., 4., 5.]]> : tensor<2x3xf32>
    %new = cleave.kernel loop(%old, %x, %table) {cleave.buffers = [#cleave.buffer<arena 0, 0, [3, 1]>]}
        : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
    ^bb0(%i: tensor<2x3xf32>, %j: tensor<2x3xf32>, %k: tensor<2x3xf32>):
      %a = cleave.binary add %i, %j : tensor<2x3xf32>
      %b = cleave.binary add %a, %k : tensor<2x3xf32>
      cleave.yield %b : tensor<2x3xf32>
    }
    cleave.store %new, @sum : tensor<2x3xf32>
    return %old : tensor<2x3xf32>
  }
}
