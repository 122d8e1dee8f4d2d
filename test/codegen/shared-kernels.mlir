// RUN: cleave compile %s --emit llvm -o - | FileCheck %s

// Tests that kernels with equal bodies and strides are one function, wherever their
// tensors lie, and that other strides make another.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<2x2xf32>}],
  cleave.outputs = [{name = "y", type = tensor<2x2xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>

  // CHECK-COUNT-2: define internal void @loop_
  // CHECK-NOT: define internal void @loop_
  // CHECK: define internal void @step
  // CHECK: @cleaveParallelFor(ptr %0, ptr @loop_0,
  // CHECK: @cleaveParallelFor(ptr %0, ptr @loop_0,
  // CHECK: @cleaveParallelFor(ptr %0, ptr @loop_1,
  func.func @stage(%x: tensor<2x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>})
      -> (tensor<2x2xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<output 0, 0, [2, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 128 : i64} {
    %a = cleave.kernel loop(%x) {cleave.buffers = [#cleave.buffer<arena 0, 0, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %r = cleave.unary exp %i : tensor<2x2xf32>
      cleave.yield %r : tensor<2x2xf32>
    }
    %b = cleave.kernel loop(%a) {cleave.buffers = [#cleave.buffer<arena 0, 64, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %r = cleave.unary exp %i : tensor<2x2xf32>
      cleave.yield %r : tensor<2x2xf32>
    }
    %t = cleave.transpose %b {perm = array<i64: 1, 0>, cleave.buffers = [#cleave.buffer<arena 0, 64, [1, 2]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %y = cleave.kernel loop(%t) {cleave.buffers = [#cleave.buffer<output 0, 0, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %r = cleave.unary exp %i : tensor<2x2xf32>
      cleave.yield %r : tensor<2x2xf32>
    }
    return %y : tensor<2x2xf32>
  }
}
