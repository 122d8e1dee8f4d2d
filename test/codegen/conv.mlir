// RUN: cleave compile %s -o %t
// RUN: %python %S/inputs/twins.py conv %t

// Tests the descriptor of a convolution with a bias and an activation behind it.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<1x2x4x4xf32>}, {name = "w", type = tensor<3x2x2x2xf32>}, {name = "b", type = tensor<3xf32>}],
  cleave.outputs = [{name = "y", type = tensor<1x3x2x2xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @stage(%x: tensor<1x2x4x4xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [32, 16, 4, 1]>},
                   %w: tensor<3x2x2x2xf32> {cleave.name = "w", cleave.buffer = #cleave.buffer<input 1, 0, [8, 4, 2, 1]>},
                   %b: tensor<3xf32> {cleave.name = "b", cleave.buffer = #cleave.buffer<input 2, 0, [1]>})
      -> (tensor<1x3x2x2xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<output 0, 0, [12, 4, 2, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    %y = cleave.kernel conv(%x, %w, %b) {cleave.buffers = [#cleave.buffer<output 0, 0, [12, 4, 2, 1]>]}
        : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32> {
    ^bb0(%i: tensor<1x2x4x4xf32>, %j: tensor<3x2x2x2xf32>, %k: tensor<3xf32>):
      %d = cleave.conv %i, %j {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
          : (tensor<1x2x4x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x3x2x2xf32>
      %c = cleave.broadcast %k {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<1x3x2x2xf32>
      %s = cleave.binary add %d, %c : tensor<1x3x2x2xf32>
      %v = cleave.unary relu %s : tensor<1x3x2x2xf32>
      cleave.yield %v : tensor<1x3x2x2xf32>
    }
    return %y : tensor<1x3x2x2xf32>
  }
}
