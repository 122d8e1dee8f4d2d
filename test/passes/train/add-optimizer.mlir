// RUN: cleave-opt %s --cleave-add-optimizer=lr=0.5 | FileCheck %s
// RUN: cleave-opt %s --cleave-add-optimizer="optimizer=adamw clip=2.0 decay=w=0.0" | FileCheck %s --check-prefix=ADAMW
// RUN: cleave-opt %s --cleave-add-optimizer=optimizer=none | FileCheck %s --check-prefix=NONE

// Tests that a gradient becomes w - lr g, stored, and is no result any more; that the rate is what a run sets; and
// that there is weight decay to be set, which is 0.

// CHECK-DAG: cleave.param @cleave.rate : tensor<f32> = dense<5.000000e-01> : tensor<f32> {cleave.role = "setting", cleave.setting = {base = 0.000000e+00 : f64, kind = "rate"}, frozen}
// CHECK-DAG: cleave.param @cleave.decay : tensor<f32> = dense<0.000000e+00> : tensor<f32>
cleave.param @w : tensor<2xf32> = dense<3.0> : tensor<2xf32>
// CHECK: func.func @main(%[[L:.*]]: tensor<f32>, %[[G:.*]]: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"})
func.func @main(%l: tensor<f32>, %g: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32> {cleave.gradient_of = @w}) {
  // CHECK: %[[W:.*]] = cleave.load @w
  // CHECK: %[[DECAY:.*]] = cleave.load @cleave.decay
  // CHECK: %[[DECAYS:.*]] = cleave.broadcast %[[DECAY]]
  // CHECK: %[[SHARE:.*]] = cleave.binary mul %[[DECAYS]], %[[W]]
  // CHECK: %[[SUM:.*]] = cleave.binary add %[[G]], %[[SHARE]]
  // CHECK: %[[LR:.*]] = cleave.load @cleave.rate
  // CHECK: %[[FACTOR:.*]] = cleave.broadcast %[[LR]]
  // CHECK: %[[STEP:.*]] = cleave.binary mul %[[FACTOR]], %[[SUM]]
  // CHECK: %[[NEW:.*]] = cleave.binary sub %[[W]], %[[STEP]]
  // CHECK: cleave.store %[[NEW]], @w
  // CHECK: return %[[L]] : tensor<f32>
  return %l, %g : tensor<f32>, tensor<2xf32>
}

// Tests that states of the optimizer are params, zero at first; that the norm of all gradients is an output; and that
// a parameter without decay has none.

// ADAMW-DAG: cleave.param @w.exp_avg : tensor<2xf32> = dense<0.000000e+00> : tensor<2xf32> {cleave.role = "optimizer", frozen}
// ADAMW-DAG: cleave.param @w.exp_avg_sq : tensor<2xf32>
// ADAMW-DAG: cleave.setting = {base = 9.000000e-01 : f64, kind = "correction"}
// ADAMW-DAG: cleave.setting = {base = 0.99{{[0-9]*}} : f64, kind = "root_correction"}
// ADAMW-NOT: @cleave.decay
// ADAMW: func.func @main({{.*}}) -> (tensor<f32> {cleave.name = "loss"}, tensor<f32> {cleave.name = "grad_norm"})
// ADAMW: %[[NORM:.*]] = cleave.unary sqrt
// ADAMW: cleave.load @cleave.clip
// ADAMW-DAG: cleave.store %{{.*}}, @w.exp_avg :
// ADAMW-DAG: cleave.store %{{.*}}, @w.exp_avg_sq :
// ADAMW-DAG: cleave.store %{{.*}}, @w :
// ADAMW: return %{{.*}}, %[[NORM]]

// Tests that without an optimizer a gradient is an output.

// NONE: func.func @main(%[[L:.*]]: tensor<f32>, %[[G:.*]]: tensor<2xf32>) -> (tensor<f32> {cleave.name = "loss"}, tensor<2xf32> {cleave.name = "w.grad"})
// NONE-NOT: cleave.store
// NONE: return %[[L]], %[[G]]
