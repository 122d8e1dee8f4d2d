// RUN: cleave-opt %s --cleave-add-loss="kind=cross_entropy logits=y ignore-index=7 smoothing=0.5" | FileCheck %s
// RUN: cleave-opt %s --cleave-add-loss="kind=mse logits=y labels=target" | FileCheck %s --check-prefix=MSE
// RUN: cleave-opt %s --cleave-add-loss="kind=bce logits=y" | FileCheck %s --check-prefix=BCE

// Tests that cross-entropy is over the last dim, and its mean over labels that are not ignored: at least one. Labels of samples behind the first n are.

// CHECK: func.func @main(%[[X:.*]]: tensor<2x4x8xf32>, %[[LABELS:.*]]: tensor<2x4xi64> {cleave.name = "labels"}) -> (tensor<2x4x8xf32> {cleave.name = "y"}, tensor<2xf32> {cleave.name = "z"}, tensor<f32> {cleave.name = "loss"})
// CHECK: %[[N:.*]] = cleave.load @cleave.samples
// CHECK: %[[COUNTS:.*]] = cleave.compare lt
// CHECK: %[[KEPT:.*]] = cleave.select %[[COUNTS]], %[[LABELS]]
// CHECK: %[[ROWS:.*]] = cleave.cross_entropy %[[X]], %[[KEPT]] {ignore_index = 7 : i64, smoothing = 5.000000e-01 : f64}
// CHECK: cleave.compare ne %[[KEPT]]
// CHECK: %[[COUNT:.*]] = cleave.reduce sum
// CHECK: %[[DIVISOR:.*]] = cleave.binary max %[[COUNT]]
// CHECK: %[[SUM:.*]] = cleave.reduce sum %[[ROWS]] {dims = array<i64: 0, 1>}
// CHECK: cleave.binary div %[[SUM]], %[[DIVISOR]]

// Tests that the mean of squares is over all elements of samples that count: 32 a sample.

// MSE: func.func @main(%[[X:.*]]: tensor<2x4x8xf32>, %[[LABELS:.*]]: tensor<2x4x8xf32> {cleave.name = "target"})
// MSE: %[[D:.*]] = cleave.binary sub %[[X]], %[[LABELS]]
// MSE: %[[SQUARES:.*]] = cleave.binary mul %[[D]], %[[D]]
// MSE: %[[KEPT:.*]] = cleave.select %{{.*}}, %[[SQUARES]]
// MSE: %[[SUM:.*]] = cleave.reduce sum %[[KEPT]]
// MSE: cleave.constant dense<3.200000e+01> : tensor<f32>
// MSE: %[[NUMBER:.*]] = cleave.binary mul
// MSE: cleave.binary div %[[SUM]], %[[NUMBER]]

// Tests that logarithms of probabilities are bounded.

// BCE: cleave.unary log
// BCE: cleave.constant dense<-1.000000e+02>
// BCE: cleave.binary max
func.func @main(%x: tensor<2x4x8xf32>) -> (tensor<2x4x8xf32> {cleave.name = "y"}, tensor<2xf32> {cleave.name = "z"}) {
  %z = cleave.constant dense<0.0> : tensor<2xf32>
  return %x, %z : tensor<2x4x8xf32>, tensor<2xf32>
}
