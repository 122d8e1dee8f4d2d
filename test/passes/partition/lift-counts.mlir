// RUN: cleave-opt %s --cleave-lift-counts | FileCheck %s

// Tests that a count which micro-batches read is computed for them from whole inputs, and that whoever reads it
// after the loop has it as before.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2], ranks = [0, 1], micro_batches = 2>
func.func @main(%x: tensor<8xf32> {cleave.sharding = #cleave.sharding<@stage0, [{"mb", "dp"}]>}, %l: tensor<8xf32> {cleave.sharding = #cleave.sharding<@stage0, [{"mb", "dp"}]>}) -> (tensor<8xf32>, tensor<f32>) {
  // CHECK: %[[N:.*]] = cleave.reduce sum %arg1 {{.*}}partial
  %n = cleave.reduce sum %l {dims = array<i64: 0>, cleave.shardings = [#cleave.sharding<@stage0, [], partial<sum, {"mb", "dp"}>>]} : (tensor<8xf32>) -> tensor<f32>
  // CHECK: %[[ALL:.*]] = cleave.reduce sum %arg1 {cleave.shardings = [#cleave.sharding<@stage0, []>]
  // CHECK: %[[B:.*]] = cleave.broadcast %[[ALL]]
  %b = cleave.broadcast %n {dims = array<i64>, cleave.shardings = [#cleave.sharding<@stage0, [{"mb", "dp"}]>]} : (tensor<f32>) -> tensor<8xf32>
  // CHECK: %[[Y:.*]] = cleave.binary div %arg0, %[[B]]
  %y = cleave.binary div %x, %b {cleave.shardings = [#cleave.sharding<@stage0, [{"mb", "dp"}]>]} : tensor<8xf32>
  // CHECK: return %[[Y]], %[[N]]
  return %y, %n : tensor<8xf32>, tensor<f32>
}
