// RUN: cleave compile %s --target cuda --emit ptx --arch sm_90 -o - | FileCheck %s

// Tests that an elementwise kernel loads and stores 16 bytes at a time where its rows
// are whole vectors, that the elements behind the last vector are done one by one, and
// that what is repeated along a row is loaded once.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<6x64xf32>}, {name = "b", type = tensor<6xf32>}, {name = "z", type = tensor<7x3xf32>}],
  cleave.outputs = [{name = "y", type = tensor<6x64xf32>}, {name = "w", type = tensor<7x3xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @stage(%x: tensor<6x64xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [64, 1]>},
                   %b: tensor<6xf32> {cleave.name = "b", cleave.buffer = #cleave.buffer<input 1, 0, [1]>},
                   %z: tensor<7x3xf32> {cleave.name = "z", cleave.buffer = #cleave.buffer<input 2, 0, [3, 1]>})
      -> (tensor<6x64xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<output 0, 0, [64, 1]>},
          tensor<7x3xf32> {cleave.name = "w", cleave.buffer = #cleave.buffer<output 1, 0, [3, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    // CHECK-LABEL: .entry loop_0(
    // CHECK-DAG: ld.global.v4.f32
    // CHECK-DAG: ld.global.f32
    // CHECK: st.global.v4.f32
    // CHECK-NOT: st.global.f32
    %y = cleave.kernel loop(%x, %b) {cleave.buffers = [#cleave.buffer<output 0, 0, [64, 1]>]}
        : (tensor<6x64xf32>, tensor<6xf32>) -> tensor<6x64xf32> {
    ^bb0(%i: tensor<6x64xf32>, %j: tensor<6xf32>):
      %k = cleave.broadcast %j {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x64xf32>
      %s = cleave.binary add %i, %k : tensor<6x64xf32>
      cleave.yield %s : tensor<6x64xf32>
    }
    // 21 elements: 5 vectors and one more.
    // CHECK-LABEL: .entry loop_1(
    // CHECK: ld.global.v4.f32
    // CHECK: st.global.v4.f32
    // CHECK: st.global.f32
    %w = cleave.kernel loop(%z) {cleave.buffers = [#cleave.buffer<output 1, 0, [3, 1]>]}
        : (tensor<7x3xf32>) -> tensor<7x3xf32> {
    ^bb0(%i: tensor<7x3xf32>):
      %s = cleave.unary relu %i : tensor<7x3xf32>
      cleave.yield %s : tensor<7x3xf32>
    }
    return %y, %w : tensor<6x64xf32>, tensor<7x3xf32>
  }
}
