// RUN: cleave compile %s -o %t
// RUN: %python %S/inputs/twins.py shards %t
// RUN: cleave inspect %t/weights/w2.safetensors | FileCheck %s
// RUN: not ls %t/weights/w3.safetensors

// Tests that each rank gets its chunk, in blocks, with zeros where a tensor ends; and
// that the replicas of dp share a file: three files for six ranks.

// CHECK: v: F32 [2,2] 16 B
// CHECK-NEXT: w: F32 [2,3] 24 B
// CHECK-NEXT: total: 40 B

module attributes {
  cleave.inputs = [],
  cleave.outputs = [{name = "w", type = tensor<6x3xf32>}, {name = "v", type = tensor<2x6xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=3], ranks = [0, 1, 2, 3, 4, 5]>
  cleave.param @w : tensor<5x3xf32> = dense<[[0., 1., 2.], [3., 4., 5.], [6., 7., 8.], [9., 10., 11.], [12., 13., 14.]]> : tensor<5x3xf32>
      sharding #cleave.sharding<@m, [{"tp"}, {}]>
  cleave.param @v : tensor<2x6xf32> = dense<[[0., 1., 2., 3., 4., 5.], [6., 7., 8., 9., 10., 11.]]> : tensor<2x6xf32>
      sharding #cleave.sharding<@m, [{}, {"tp"}:2]>
  func.func @stage()
      -> (tensor<6x3xf32> {cleave.name = "w", cleave.buffer = #cleave.buffer<output 0, 0, [3, 1]>},
          tensor<2x6xf32> {cleave.name = "v", cleave.buffer = #cleave.buffer<output 1, 0, [6, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    %w = cleave.load @w {cleave.buffers = [#cleave.buffer<state 0, 0, [3, 1]>]} : tensor<2x3xf32>
    %v = cleave.load @v {cleave.buffers = [#cleave.buffer<state 1, 0, [2, 1]>]} : tensor<2x2xf32>
    %ws = cleave.all_gather %w @m ["tp"] {dim = 0 : i64, cleave.buffers = [#cleave.buffer<output 0, 0, [3, 1]>]} : (tensor<2x3xf32>) -> tensor<6x3xf32>
    %vs = cleave.all_gather %v @m ["tp"] {dim = 1 : i64, cleave.buffers = [#cleave.buffer<output 1, 0, [6, 1]>]} : (tensor<2x2xf32>) -> tensor<2x6xf32>
    return %ws, %vs : tensor<6x3xf32>, tensor<2x6xf32>
  }
}
