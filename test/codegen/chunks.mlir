// RUN: cleave compile %s --emit llvm -o - | FileCheck %s
// RUN: cleave compile %s -o %t
// RUN: %python %S/inputs/twins.py chunks %t

// Tests that a chunk becomes a function of the micro-batch's number and a schedule
// loops that call them: three micro-batches of two rows, two of them in flight. "sum"
// is carried, "squares" is stacked, and the second chunk reads the ring of the first.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<6x2xf32>}],
  cleave.outputs = [{name = "sum", type = tensor<2xf32>}, {name = "squares", type = tensor<6x2xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0], micro_batches = 3>
  // CHECK-LABEL: define internal void @step(ptr %0, ptr %1)
  func.func @stage(%x: tensor<6x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>})
      -> (tensor<2xf32> {cleave.name = "sum", cleave.buffer = #cleave.buffer<output 0, 0, [1]>},
          tensor<6x2xf32> {cleave.name = "squares", cleave.buffer = #cleave.buffer<output 1, 0, [2, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 512 : i64} {
    %zero = cleave.kernel loop() {cleave.buffers = [#cleave.buffer<arena 0, 0, [1]>]} : () -> tensor<2xf32> {
      %z = cleave.constant dense<0.0> : tensor<2xf32>
      cleave.yield %z : tensor<2xf32>
    }
    %rows = cleave.chunk "first"() {slots = 2 : i64, cleave.buffers = [#cleave.buffer<arena 0, 64, [2, 1], ring = 2 x 64>]} : () -> tensor<2x2xf32> {
      %i = cleave.axis_index @m ["mb"] {cleave.buffers = [#cleave.buffer<arena 0, 256, []>]} : tensor<i64>
      %part = cleave.kernel loop(%x, %i) {cleave.buffers = [#cleave.buffer<arena 0, 64, [2, 1], ring = 2 x 64>]} : (tensor<6x2xf32>, tensor<i64>) -> tensor<2x2xf32> {
      ^bb0(%a: tensor<6x2xf32>, %b: tensor<i64>):
        %t = cleave.take_shard %a, %b {dim = 0 : i64} : (tensor<6x2xf32>, tensor<i64>) -> tensor<2x2xf32>
        cleave.yield %t : tensor<2x2xf32>
      }
      cleave.yield %part : tensor<2x2xf32>
    }
    %sum, %squares = cleave.chunk "second"(%zero) {slots = 2 : i64, stacked = 1 : i64,
        cleave.buffers = [#cleave.buffer<output 0, 0, [1]>, #cleave.buffer<output 1, 0, [4, 2, 1]>]} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2x2xf32>) {
    ^bb0(%acc: tensor<2xf32>):
      %new = cleave.kernel reduce(%rows, %acc) {cleave.buffers = [#cleave.buffer<arena 0, 320, [1]>]} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32> {
      ^bb0(%a: tensor<2x2xf32>, %b: tensor<2xf32>):
        %r = cleave.reduce sum %a {dims = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
        %s = cleave.binary add %r, %b : tensor<2xf32>
        cleave.yield %s : tensor<2xf32>
      }
      %square = cleave.kernel loop(%rows) {cleave.buffers = [#cleave.buffer<arena 0, 384, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
      ^bb0(%a: tensor<2x2xf32>):
        %p = cleave.binary mul %a, %a : tensor<2x2xf32>
        cleave.yield %p : tensor<2x2xf32>
      }
      cleave.yield %new, %square : tensor<2xf32>, tensor<2x2xf32>
    }
    // CHECK: call void @cleaveCopy(
    // CHECK: call void @chunk_first(ptr %0, ptr %1, i64 %{{.*}})
    // CHECK: br i1
    // CHECK: call void @chunk_first(ptr %0, ptr %1, i64 %{{.*}})
    // CHECK-NEXT: add i64
    // CHECK-NEXT: call void @chunk_second(ptr %0, ptr %1, i64 %{{.*}})
    // CHECK: call void @chunk_second(ptr %0, ptr %1, i64 %{{.*}})
    cleave.schedule [#cleave.loop<1 x ["first" 0]>, #cleave.loop<2 x ["first" 1, "second" 0]>, #cleave.loop<1 x ["second" 2]>]
    %all = cleave.reshape %squares {cleave.buffers = [#cleave.buffer<output 1, 0, [2, 1]>]} : (tensor<3x2x2xf32>) -> tensor<6x2xf32>
    return %sum, %all : tensor<2xf32>, tensor<6x2xf32>
  }
  // CHECK-LABEL: define internal void @chunk_first(ptr %0, ptr %1, i64 %2)
  // CHECK: urem i64 %2, 2
  // CHECK-LABEL: define internal void @chunk_second(ptr %0, ptr %1, i64 %2)
}
