// RUN: cleave compile %s -o %t
// RUN: %python %S/inputs/twins.py matmul %t
// RUN: cleave inspect %t | FileCheck %s
// CHECK: library calls: 3 matmul

// Tests the descriptors of products: dims that join in memory, operations behind the
// product seen through a reshape, a result whose free dims are stored apart, batch
// dims, and a factor that is a constant.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<2x3x4xf32>}, {name = "w", type = tensor<4x2x5xf32>},
                   {name = "b", type = tensor<2x5xf32>}, {name = "r", type = tensor<2x3x10xf32>}],
  cleave.outputs = [{name = "full", type = tensor<2x3x10xf32>}, {name = "heads", type = tensor<2x2x3x5xf32>},
                    {name = "scores", type = tensor<2x2x3x3xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @stage(%x: tensor<2x3x4xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [12, 4, 1]>},
                   %w: tensor<4x2x5xf32> {cleave.name = "w", cleave.buffer = #cleave.buffer<input 1, 0, [10, 5, 1]>},
                   %b: tensor<2x5xf32> {cleave.name = "b", cleave.buffer = #cleave.buffer<input 2, 0, [5, 1]>},
                   %r: tensor<2x3x10xf32> {cleave.name = "r", cleave.buffer = #cleave.buffer<input 3, 0, [30, 10, 1]>})
      -> (tensor<2x3x10xf32> {cleave.name = "full", cleave.buffer = #cleave.buffer<output 0, 0, [30, 10, 1]>},
          tensor<2x2x3x5xf32> {cleave.name = "heads", cleave.buffer = #cleave.buffer<output 1, 0, [30, 15, 5, 1]>},
          tensor<2x2x3x3xf32> {cleave.name = "scores", cleave.buffer = #cleave.buffer<output 2, 0, [18, 9, 3, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    %full = cleave.kernel matmul(%x, %w, %b, %r) {cleave.buffers = [#cleave.buffer<output 0, 0, [30, 10, 1]>]}
        : (tensor<2x3x4xf32>, tensor<4x2x5xf32>, tensor<2x5xf32>, tensor<2x3x10xf32>) -> tensor<2x3x10xf32> {
    ^bb0(%i: tensor<2x3x4xf32>, %j: tensor<4x2x5xf32>, %k: tensor<2x5xf32>, %l: tensor<2x3x10xf32>):
      %d = cleave.dot %i, %j {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}
          : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x2x5xf32>
      %c = cleave.broadcast %k {dims = array<i64: 2, 3>} : (tensor<2x5xf32>) -> tensor<2x3x2x5xf32>
      %s = cleave.binary add %c, %d : tensor<2x3x2x5xf32>
      %f = cleave.reshape %s : (tensor<2x3x2x5xf32>) -> tensor<2x3x10xf32>
      %u = cleave.binary add %f, %l : tensor<2x3x10xf32>
      %v = cleave.unary relu %u : tensor<2x3x10xf32>
      cleave.yield %v : tensor<2x3x10xf32>
    }
    %split = cleave.kernel matmul(%x, %w) {cleave.buffers = [#cleave.buffer<output 1, 0, [30, 5, 15, 1]>]}
        : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x2x5xf32> {
    ^bb0(%i: tensor<2x3x4xf32>, %j: tensor<4x2x5xf32>):
      %d = cleave.dot %i, %j {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}
          : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x2x5xf32>
      cleave.yield %d : tensor<2x3x2x5xf32>
    }
    %heads = cleave.transpose %split {perm = array<i64: 0, 2, 1, 3>, cleave.buffers = [#cleave.buffer<output 1, 0, [30, 15, 5, 1]>]}
        : (tensor<2x3x2x5xf32>) -> tensor<2x2x3x5xf32>
    %scores = cleave.kernel matmul(%heads) {cleave.buffers = [#cleave.buffer<output 2, 0, [18, 9, 3, 1]>]}
        : (tensor<2x2x3x5xf32>) -> tensor<2x2x3x3xf32> {
    ^bb0(%i: tensor<2x2x3x5xf32>):
      %d = cleave.dot %i, %i {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_contract = array<i64: 3>}
          : (tensor<2x2x3x5xf32>, tensor<2x2x3x5xf32>) -> tensor<2x2x3x3xf32>
      %two = cleave.constant dense<2.0> : tensor<2x2x3x3xf32>
      %p = cleave.binary mul %d, %two : tensor<2x2x3x3xf32>
      cleave.yield %p : tensor<2x2x3x3xf32>
    }
    return %full, %heads, %scores : tensor<2x3x10xf32>, tensor<2x2x3x5xf32>, tensor<2x2x3x3xf32>
  }
}
