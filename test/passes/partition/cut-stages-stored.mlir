// RUN: %cleave-opt %s --cleave-propagate-shardings --cleave-insert-reshards --cleave-cut-stages | FileCheck %s

// Tests that a param that changes is stored in each stage that reads it: the new value goes there at the end.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=2], ranks = [2, 3]>
// CHECK: cleave.param @w {{.*}}<@stage0, [{"tp"}]>
// CHECK: cleave.param @"w@stage1" {{.*}}<@stage1, [{"tp"}]> {cleave.name = "w"}
cleave.param @w : tensor<4xf32> sharding #cleave.sharding<@stage0, [{"tp"}]>
func.func @main(%x: tensor<4xf32> {cleave.name = "x"}) -> (tensor<4xf32> {cleave.name = "y"}) {
  %w = cleave.load @w : tensor<4xf32>
  %a = cleave.binary add %x, %w {cleave.stage = 0 : i64} : tensor<4xf32>
  %b = cleave.binary mul %a, %w {cleave.stage = 1 : i64} : tensor<4xf32>
  %n = cleave.binary sub %w, %x {cleave.stage = 0 : i64} : tensor<4xf32>
  cleave.store %n, @w {cleave.stage = 0 : i64} : tensor<4xf32>
  return %b : tensor<4xf32>
}
// CHECK-LABEL: func.func @program0
// CHECK: [[NEW:%.*]] = cleave.binary sub
// CHECK: cleave.store [[NEW]], @w
// CHECK: cleave.send [[NEW]]
// CHECK-LABEL: func.func @program1
// CHECK: cleave.load @"w@stage1"
// CHECK: [[NEW:%.*]] = cleave.recv
// CHECK: cleave.store [[NEW]], @"w@stage1"
