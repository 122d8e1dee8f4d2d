// RUN: cleave compile %s --target cuda --emit ptx --arch sm_90 -o - | FileCheck %s

// Tests that this rank's part of a tensor is read in vectors of 16 bytes where no vector
// crosses the tensor's end: parts that are all as large, and rows of which whole ones are
// beyond the end. Where a vector may cross it, its elements are read one by one.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<6x64xf32>}, {name = "y", type = tensor<5x64xf32>}, {name = "z", type = tensor<22xf32>}],
  cleave.outputs = [{name = "u", type = tensor<2x64xf32>}, {name = "v", type = tensor<2x64xf32>}, {name = "w", type = tensor<8xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<["tp" = 3], ranks = [0, 1, 2]>
  func.func @stage(%x: tensor<6x64xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [64, 1]>},
                   %y: tensor<5x64xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<input 1, 0, [64, 1]>},
                   %z: tensor<22xf32> {cleave.name = "z", cleave.buffer = #cleave.buffer<input 2, 0, [1]>})
      -> (tensor<2x64xf32> {cleave.name = "u", cleave.buffer = #cleave.buffer<output 0, 0, [64, 1]>},
          tensor<2x64xf32> {cleave.name = "v", cleave.buffer = #cleave.buffer<output 1, 0, [64, 1]>},
          tensor<8xf32> {cleave.name = "w", cleave.buffer = #cleave.buffer<output 2, 0, [1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    %i = cleave.axis_index @m ["tp"] {cleave.buffers = [#cleave.buffer<coords 0, 0, []>]} : tensor<i64>
    // CHECK-LABEL: .entry loop_0(
    // CHECK-NOT: ld.global.f32
    // CHECK: ld.global.v4.f32
    // CHECK-NOT: ld.global.f32
    %u = cleave.kernel loop(%x, %i) {cleave.buffers = [#cleave.buffer<output 0, 0, [64, 1]>]}
        : (tensor<6x64xf32>, tensor<i64>) -> tensor<2x64xf32> {
    ^bb0(%a: tensor<6x64xf32>, %k: tensor<i64>):
      %s = cleave.take_shard %a, %k {dim = 0 : i64} : (tensor<6x64xf32>, tensor<i64>) -> tensor<2x64xf32>
      cleave.yield %s : tensor<2x64xf32>
    }
    // CHECK-LABEL: .entry loop_1(
    // CHECK-NOT: ld.global.f32
    // CHECK: ld.global.v4.f32
    // CHECK-NOT: ld.global.f32
    %v = cleave.kernel loop(%y, %i) {cleave.buffers = [#cleave.buffer<output 1, 0, [64, 1]>]}
        : (tensor<5x64xf32>, tensor<i64>) -> tensor<2x64xf32> {
    ^bb0(%a: tensor<5x64xf32>, %k: tensor<i64>):
      %s = cleave.take_shard %a, %k {dim = 0 : i64} : (tensor<5x64xf32>, tensor<i64>) -> tensor<2x64xf32>
      cleave.yield %s : tensor<2x64xf32>
    }
    // CHECK-LABEL: .entry loop_2(
    // CHECK-COUNT-4: {{ld(.global)?.f32}}
    %w = cleave.kernel loop(%z, %i) {cleave.buffers = [#cleave.buffer<output 2, 0, [1]>]}
        : (tensor<22xf32>, tensor<i64>) -> tensor<8xf32> {
    ^bb0(%a: tensor<22xf32>, %k: tensor<i64>):
      %s = cleave.take_shard %a, %k {dim = 0 : i64} : (tensor<22xf32>, tensor<i64>) -> tensor<8xf32>
      cleave.yield %s : tensor<8xf32>
    }
    return %u, %v, %w : tensor<2x64xf32>, tensor<2x64xf32>, tensor<8xf32>
  }
}
