// RUN: cleave compile %s --emit llvm -o - | FileCheck %s
// RUN: cleave compile %s -o %t
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/manifest.json
// RUN: %python %S/inputs/twins.py collectives %t

// Tests that each collective is one call with the index of its group or route, with
// tensors seen as [outer, dim, inner], and that four ranks give what one would.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<4x6xf32>}],
  cleave.outputs = [{name = "sum", type = tensor<2x3xf32>}, {name = "all", type = tensor<4x6xf32>},
                    {name = "part", type = tensor<2x6xf32>}, {name = "turned", type = tensor<2x3xf32>},
                    {name = "index", type = tensor<1xi64>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>

  // CHECK-LABEL: define internal void @step
  func.func @stage(%x: tensor<2x3xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"dp"}, {"tp"}]>, cleave.buffer = #cleave.buffer<input 0, 0, [3, 1]>})
      -> (tensor<2x3xf32> {cleave.name = "sum", cleave.buffer = #cleave.buffer<output 0, 0, [3, 1]>},
          tensor<4x6xf32> {cleave.name = "all", cleave.buffer = #cleave.buffer<output 1, 0, [6, 1]>},
          tensor<2x6xf32> {cleave.name = "part", cleave.buffer = #cleave.buffer<output 2, 0, [6, 1]>},
          tensor<2x3xf32> {cleave.name = "turned", cleave.buffer = #cleave.buffer<output 3, 0, [3, 1]>},
          tensor<1xi64> {cleave.name = "index", cleave.buffer = #cleave.buffer<output 4, 0, [1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 512 : i64} {
    // CHECK: @cleaveAllReduce(ptr %0, i32 0, ptr %{{.*}}, ptr %{{.*}}, i64 6, i32 0, i32 0, ptr @text
    %sum = cleave.all_reduce sum %x @m ["dp", "tp"] {cleave.buffers = [#cleave.buffer<output 0, 0, [3, 1]>]} : tensor<2x3xf32>
    // CHECK: @cleaveAllGather(ptr %0, i32 1, ptr %{{.*}}, ptr %{{.*}}, i64 2, i64 3, i32 0, ptr @text
    %rows = cleave.all_gather %x @m ["tp"] {dim = 1 : i64, cleave.buffers = [#cleave.buffer<arena 0, 0, [6, 1]>]} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    // CHECK: @cleaveAllGather(ptr %0, i32 2, ptr %{{.*}}, ptr %{{.*}}, i64 1, i64 12, i32 0, ptr @text
    %all = cleave.all_gather %rows @m ["dp"] {dim = 0 : i64, cleave.buffers = [#cleave.buffer<output 1, 0, [6, 1]>]} : (tensor<2x6xf32>) -> tensor<4x6xf32>
    // CHECK: @cleaveReduceScatter(ptr %0, i32 2, ptr %{{.*}}, ptr %{{.*}}, i64 1, i64 12, i32 0, i32 1, ptr @text
    %part = cleave.reduce_scatter max %all @m ["dp"] {dim = 0 : i64, cleave.buffers = [#cleave.buffer<output 2, 0, [6, 1]>]} : (tensor<4x6xf32>) -> tensor<2x6xf32>
    // CHECK: @cleaveAllToAll(ptr %0, i32 1, ptr %{{.*}}, ptr %{{.*}}, i64 3, i32 0, ptr @text
    %turned = cleave.all_to_all %x @m ["tp"] {cleave.buffers = [#cleave.buffer<output 3, 0, [3, 1]>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // The index is outer first: dp * 2 + tp.
    // CHECK: mul i64
    %index = cleave.axis_index @m ["dp", "tp"] {cleave.buffers = [#cleave.buffer<arena 0, 128, []>]} : tensor<i64>
    // CHECK: @cleaveSend(ptr %0, i32 0, ptr %{{.*}}, i64 1, i32 8, i32 7, ptr @text
    cleave.send %index pairs [3, 0] tag 7 : tensor<i64>
    // CHECK: @cleaveRecv(ptr %0, i32 0, ptr %{{.*}}, i64 1, i32 8, i32 7, ptr @text
    %other = cleave.recv pairs [3, 0] tag 7 {cleave.buffers = [#cleave.buffer<arena 0, 192, []>]} : tensor<i64>
    %one = cleave.reshape %other {cleave.buffers = [#cleave.buffer<arena 0, 192, [1]>]} : (tensor<i64>) -> tensor<1xi64>
    // What is returned and does not lie in the output is copied there.
    // CHECK: @cleaveCopy(ptr %0, ptr %{{.*}}, ptr %{{.*}}, i64 8)
    return %sum, %all, %part, %turned, %one : tensor<2x3xf32>, tensor<4x6xf32>, tensor<2x6xf32>, tensor<2x3xf32>, tensor<1xi64>
  }
}

// The arena is the one that the module asks for.
// MANIFEST: "arenaBytes": [
// MANIFEST-NEXT: 512
// MANIFEST: "axes": [
// MANIFEST-NEXT: "dp",
// MANIFEST-NEXT: "tp"
// MANIFEST: "reduce_scatter": 1
// MANIFEST: "split": [
// MANIFEST-NEXT: {
// MANIFEST-NEXT: "axes": [
// MANIFEST-NEXT: 0
// MANIFEST: "chunk": 2
// MANIFEST: "routes": [
