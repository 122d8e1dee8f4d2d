// RUN: cleave-opt %s --cleave-resolve-views --split-input-file | FileCheck %s

// Tests that attention stores its result in the order of the transpose that
// reads it, so that the reshape behind it needs no copy.

// CHECK-LABEL: func.func @program0
func.func @program0(%q: tensor<1x6x9x64xf32>) -> tensor<1x9x384xf32> {
  // CHECK: cleave.kernel attention({{.*}}) {cleave.orders = [array<i64: 0, 2, 1, 3>]}
  %a = cleave.kernel attention(%q) : (tensor<1x6x9x64xf32>) -> tensor<1x6x9x64xf32> {
  ^bb0(%x: tensor<1x6x9x64xf32>):
    %r = cleave.attention %x, %x, %x {scale = 1.0 : f64} : (tensor<1x6x9x64xf32>, tensor<1x6x9x64xf32>, tensor<1x6x9x64xf32>) -> tensor<1x6x9x64xf32>
    cleave.yield %r : tensor<1x6x9x64xf32>
  }
  // CHECK-NOT: cleave.copy
  %t = cleave.transpose %a {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x6x9x64xf32>) -> tensor<1x9x6x64xf32>
  %r = cleave.reshape %t : (tensor<1x9x6x64xf32>) -> tensor<1x9x384xf32>
  return %r : tensor<1x9x384xf32>
}

// -----

// Tests that a reshape across a transpose copies, once for two equal uses.

// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<2x12xf32>) {
  %t = cleave.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK: %[[COPY:.*]] = cleave.kernel loop(
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: tensor<6x4xf32>)
  // CHECK-NEXT: cleave.copy %[[IN]]
  // CHECK: cleave.reshape %[[COPY]] : (tensor<6x4xf32>) -> tensor<24xf32>
  // CHECK: cleave.reshape %[[COPY]] : (tensor<6x4xf32>) -> tensor<2x12xf32>
  // The first output is the copy itself, the second cannot be in the same place.
  // CHECK: %[[SECOND:.*]] = cleave.kernel loop(
  %a = cleave.reshape %t : (tensor<6x4xf32>) -> tensor<24xf32>
  %b = cleave.reshape %t : (tensor<6x4xf32>) -> tensor<2x12xf32>
  // CHECK: return %{{.*}}, %[[SECOND]]
  return %a, %b : tensor<24xf32>, tensor<2x12xf32>
}

// -----

// Tests that a collective gets a dense operand, and an output that is an input is
// copied.

cleave.mesh @stage0 = <["tp"=2], ranks = [0, 1]>
// CHECK-LABEL: func.func @program0
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>)
func.func @program0(%x: tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x6xf32>) {
  // CHECK: %[[OUT:.*]] = cleave.kernel loop(%[[X]])
  // CHECK: cleave.slice
  %s = cleave.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 4, 3>, strides = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  // CHECK: %[[COPY:.*]] = cleave.kernel loop
  // CHECK: cleave.all_reduce sum %[[COPY]]
  %r = cleave.all_reduce sum %s @stage0 ["tp"] : tensor<4x3xf32>
  // CHECK: return %{{.*}}, %[[OUT]]
  return %r, %x : tensor<4x3xf32>, tensor<4x6xf32>
}

// -----

// Tests that a product whose contracting dims do not join in memory gets a copy in
// an order in which they do.

// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<2x6x9x4xf32>, %w: tensor<6x4x5xf32>) -> tensor<2x9x5xf32> {
  // CHECK: %[[COPY:.*]] = cleave.kernel loop({{.*}}) {cleave.orders = [array<i64: 0, 2, 1, 3>]}
  // CHECK: cleave.kernel matmul(%[[COPY]], %{{.*}})
  %y = cleave.kernel matmul(%x, %w) : (tensor<2x6x9x4xf32>, tensor<6x4x5xf32>) -> tensor<2x9x5xf32> {
  ^bb0(%a: tensor<2x6x9x4xf32>, %b: tensor<6x4x5xf32>):
    %d = cleave.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 3>, rhs_contract = array<i64: 0, 1>} : (tensor<2x6x9x4xf32>, tensor<6x4x5xf32>) -> tensor<2x9x5xf32>
    cleave.yield %d : tensor<2x9x5xf32>
  }
  return %y : tensor<2x9x5xf32>
}

// -----

// Tests that a tensor without elements has every view.

// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<0x6x4xf32>) -> tensor<4x0xf32> {
  %t = cleave.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<0x6x4xf32>) -> tensor<4x6x0xf32>
  // CHECK: %[[R:.*]] = cleave.reshape
  // CHECK-NEXT: cleave.kernel loop(%[[R]])
  %r = cleave.reshape %t : (tensor<4x6x0xf32>) -> tensor<4x0xf32>
  return %r : tensor<4x0xf32>
}

// -----

// Tests that convolutions store channels last, that what is elementwise follows, and
// that a result of the program is copied to the order in which its caller reads it.

// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK-NOT: cleave.copy
  // CHECK: cleave.kernel conv({{.*}}) {cleave.orders = [array<i64: 0, 2, 3, 1>]}
  %a = cleave.kernel conv(%x, %w) : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  ^bb0(%p: tensor<1x3x8x8xf32>, %k: tensor<4x3x3x3xf32>):
    %r = cleave.conv %p, %k {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
    cleave.yield %r : tensor<1x4x6x6xf32>
  }
  // CHECK: cleave.kernel loop({{.*}}) {cleave.orders = [array<i64: 0, 2, 3, 1>]}
  %b = cleave.kernel loop(%a) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  ^bb0(%p: tensor<1x4x6x6xf32>):
    %e = cleave.unary exp %p : tensor<1x4x6x6xf32>
    cleave.yield %e : tensor<1x4x6x6xf32>
  }
  // CHECK: %[[LAST:.*]] = cleave.kernel conv({{.*}}) {cleave.orders = [array<i64: 0, 2, 3, 1>]}
  %c = cleave.kernel conv(%b, %v) : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  ^bb0(%p: tensor<1x4x6x6xf32>, %k: tensor<4x4x1x1xf32>):
    %r = cleave.conv %p, %k {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32>
    cleave.yield %r : tensor<1x4x6x6xf32>
  }
  // CHECK: cleave.kernel loop(%[[LAST]]) {cleave.orders = [array<i64: 0, 1, 2, 3>]}
  // CHECK: cleave.copy
  return %c : tensor<1x4x6x6xf32>
}
