// RUN: split-file %s %t
// RUN: cleave-opt %t/mean.mlir --cleave-mask-samples=loss=loss | FileCheck %s --check-prefix=MEAN
// RUN: cleave-opt %t/other.mlir --cleave-mask-samples | FileCheck %s --check-prefix=OTHER
// RUN: cleave-opt %t/mixed.mlir --cleave-mask-samples | FileCheck %s --check-prefix=MIXED

// Tests that labels of samples that do not count are ignored, in losses and in their number: of two samples with three labels each, those of the first n. All count if a run says nothing.

// MEAN: cleave.param @cleave.samples : tensor<f32> = dense<2.000000e+00> : tensor<f32> {{.*}}kind = "samples"{{.*}}frozen
// MEAN: %[[LABELS:.*]] = cleave.reshape %{{.*}} : (tensor<2x3xi64>) -> tensor<6xi64>
// MEAN: %[[N:.*]] = cleave.load @cleave.samples
// MEAN: %[[ROWS:.*]] = cleave.binary mul %[[N]]
// MEAN: %[[PLACES:.*]] = cleave.iota
// MEAN: %[[COUNTS:.*]] = cleave.compare lt %[[PLACES]]
// MEAN: %[[KEPT:.*]] = cleave.select %[[COUNTS]], %[[LABELS]]
// MEAN: cleave.cross_entropy %{{.*}}, %[[KEPT]]
// MEAN: cleave.compare ne %[[KEPT]]

// Tests that a loss that divides by a constant stays as it is, since the number would be wrong.

// OTHER-NOT: cleave.samples

// Tests that labels whose order says nothing of samples stay as they are.

// MIXED-NOT: cleave.samples

//--- mean.mlir
func.func @main(%x: tensor<2x24xf32>, %labels: tensor<2x3xi64>) -> (tensor<f32> {cleave.name = "loss"}, tensor<6xi64> {cleave.name = "labels"}) {
  %y = cleave.reshape %x : (tensor<2x24xf32>) -> tensor<6x8xf32>
  %l = cleave.reshape %labels : (tensor<2x3xi64>) -> tensor<6xi64>
  %rows = cleave.cross_entropy %y, %l {ignore_index = 7} : (tensor<6x8xf32>, tensor<6xi64>) -> tensor<6xf32>
  %ignored = cleave.constant dense<7> : tensor<6xi64>
  %counts = cleave.compare ne %l, %ignored : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %weights = cleave.cast %counts : (tensor<6xi1>) -> tensor<6xf32>
  %weighted = cleave.binary mul %rows, %weights : tensor<6xf32>
  %sum = cleave.reduce sum %weighted {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
  %number = cleave.reduce sum %weights {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
  %loss = cleave.binary div %sum, %number : tensor<f32>
  return %loss, %l : tensor<f32>, tensor<6xi64>
}

//--- other.mlir
func.func @main(%x: tensor<2x8xf32>, %labels: tensor<2xi64>) -> tensor<f32> {
  %rows = cleave.cross_entropy %x, %labels {} : (tensor<2x8xf32>, tensor<2xi64>) -> tensor<2xf32>
  %sum = cleave.reduce sum %rows {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %two = cleave.constant dense<2.0> : tensor<f32>
  %loss = cleave.binary div %sum, %two : tensor<f32>
  return %loss : tensor<f32>
}

//--- mixed.mlir
func.func @main(%x: tensor<3x16xf32>, %labels: tensor<2x3xi64>) -> tensor<f32> {
  %y = cleave.reshape %x : (tensor<3x16xf32>) -> tensor<3x2x8xf32>
  %l = cleave.transpose %labels {perm = array<i64: 1, 0>} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  %rows = cleave.cross_entropy %y, %l {} : (tensor<3x2x8xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  %ignored = cleave.constant dense<-100> : tensor<3x2xi64>
  %counts = cleave.compare ne %l, %ignored : (tensor<3x2xi64>, tensor<3x2xi64>) -> tensor<3x2xi1>
  %weights = cleave.cast %counts : (tensor<3x2xi1>) -> tensor<3x2xf32>
  %sum = cleave.reduce sum %rows {dims = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32>
  %number = cleave.reduce sum %weights {dims = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<f32>
  %loss = cleave.binary div %sum, %number : tensor<f32>
  return %loss : tensor<f32>
}
