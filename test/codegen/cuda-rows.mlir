// RUN: cleave compile %s --target cuda --emit ptx --arch sm_80 -o - | FileCheck %s

// Tests that a short row is folded by shuffles of a warp and read once, that a long one
// is folded by a block through shared memory, that columns are folded by neighbouring
// threads, and that a transposing copy goes through shared memory.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<40x128xf32>}, {name = "l", type = tensor<4x4096xf32>}],
  cleave.outputs = [{name = "y", type = tensor<40x128xf32>}, {name = "s", type = tensor<4xf32>},
                    {name = "c", type = tensor<128xf32>}, {name = "t", type = tensor<128x40xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @stage(%x: tensor<40x128xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [128, 1]>},
                   %l: tensor<4x4096xf32> {cleave.name = "l", cleave.buffer = #cleave.buffer<input 1, 0, [4096, 1]>})
      -> (tensor<40x128xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<output 0, 0, [128, 1]>},
          tensor<4xf32> {cleave.name = "s", cleave.buffer = #cleave.buffer<output 1, 0, [1]>},
          tensor<128xf32> {cleave.name = "c", cleave.buffer = #cleave.buffer<output 2, 0, [1]>},
          tensor<128x40xf32> {cleave.name = "t", cleave.buffer = #cleave.buffer<output 3, 0, [40, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    // CHECK-LABEL: .entry row_0(
    // CHECK: ld.global.v4.f32
    // CHECK-COUNT-10: shfl.sync.bfly.b32
    // CHECK-NOT: ld.global
    // CHECK: st.global.v4.f32
    %y = cleave.kernel row(%x) {cleave.buffers = [#cleave.buffer<output 0, 0, [128, 1]>]}
        : (tensor<40x128xf32>) -> tensor<40x128xf32> {
    ^bb0(%i: tensor<40x128xf32>):
      %s = cleave.softmax %i {dim = 1 : i64} : (tensor<40x128xf32>) -> tensor<40x128xf32>
      cleave.yield %s : tensor<40x128xf32>
    }
    // CHECK-LABEL: .entry reduce_1(
    // CHECK: ld.global.v4.f32
    // CHECK: shfl.sync.bfly.b32
    // CHECK: st.shared.f32
    // CHECK: bar.sync
    %s = cleave.kernel reduce(%l) {cleave.buffers = [#cleave.buffer<output 1, 0, [1]>]}
        : (tensor<4x4096xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<4x4096xf32>):
      %r = cleave.reduce sum %i {dims = array<i64: 1>} : (tensor<4x4096xf32>) -> tensor<4xf32>
      cleave.yield %r : tensor<4xf32>
    }
    // CHECK-LABEL: .entry reduce_2(
    // CHECK-NOT: shfl
    // CHECK: st.shared.f32
    // CHECK: bar.sync
    %c = cleave.kernel reduce(%x) {cleave.buffers = [#cleave.buffer<output 2, 0, [1]>]}
        : (tensor<40x128xf32>) -> tensor<128xf32> {
    ^bb0(%i: tensor<40x128xf32>):
      %r = cleave.reduce max %i {dims = array<i64: 0>} : (tensor<40x128xf32>) -> tensor<128xf32>
      cleave.yield %r : tensor<128xf32>
    }
    // CHECK-LABEL: .entry loop_3(
    // CHECK: st.shared.f32
    // CHECK: bar.sync
    // CHECK: ld.shared.f32
    %t = cleave.kernel loop(%x) {cleave.buffers = [#cleave.buffer<output 3, 0, [40, 1]>]}
        : (tensor<40x128xf32>) -> tensor<128x40xf32> {
    ^bb0(%i: tensor<40x128xf32>):
      %r = cleave.transpose %i {perm = array<i64: 1, 0>} : (tensor<40x128xf32>) -> tensor<128x40xf32>
      cleave.yield %r : tensor<128x40xf32>
    }
    return %y, %s, %c, %t : tensor<40x128xf32>, tensor<4xf32>, tensor<128xf32>, tensor<128x40xf32>
  }
}
