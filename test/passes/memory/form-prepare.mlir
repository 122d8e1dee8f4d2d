// RUN: cleave-opt %s --cleave-form-prepare --split-input-file | FileCheck %s
// RUN: cleave-opt %s --cleave-form-prepare --cleave-assign-buffers --split-input-file | FileCheck %s --check-prefix=MEMORY

// Tests that a kernel that reads a constant state alone runs once, with the
// view and the order of its result; one that reads an input stays.

cleave.param @w : tensor<8x4xf16> = dense<1.0> : tensor<8x4xf16>
// CHECK-LABEL: func.func @wide
// CHECK-NEXT: %[[W:.*]] = cleave.prepare : tensor<4x8xf32> attributes {cleave.orders = [array<i64: 1, 0>]} {
// CHECK-NEXT:   %[[L:.*]] = cleave.load @w
// CHECK-NEXT:   %[[T:.*]] = cleave.transpose %[[L]]
// CHECK-NEXT:   %[[K:.*]] = cleave.kernel loop(%[[T]])
// CHECK:        cleave.yield %[[K]] : tensor<4x8xf32>
// CHECK:      %[[E:.*]] = cleave.kernel loop(%arg0)
// CHECK:      %[[S:.*]] = cleave.kernel loop(%[[E]], %[[W]])
// CHECK-NOT:  cleave.load
// The result has bytes of its own, which nothing in the step takes.
// MEMORY-LABEL: func.func @wide
// MEMORY-SAME: cleave.arena_bytes = 256 : i64
// MEMORY: cleave.prepare : tensor<4x8xf32> attributes {cleave.buffers = [#cleave.buffer<arena 0, 0, [1, 4]>]}
// MEMORY: cleave.kernel loop{{.*}}cleave.buffers = [#cleave.buffer<arena 0, 0, [1, 4]>]
// MEMORY: cleave.kernel loop{{.*}}cleave.buffers = [#cleave.buffer<arena 0, 128, [8, 1]>]
func.func @wide(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = cleave.load @w : tensor<8x4xf16>
  %t = cleave.transpose %w {perm = array<i64: 1, 0>} : (tensor<8x4xf16>) -> tensor<4x8xf16>
  %k = cleave.kernel loop(%t) {cleave.orders = [array<i64: 1, 0>]} : (tensor<4x8xf16>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf16>):
    %c = cleave.cast %a : (tensor<4x8xf16>) -> tensor<4x8xf32>
    cleave.yield %c : tensor<4x8xf32>
  }
  %e = cleave.kernel loop(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %c = cleave.unary exp %a : tensor<4x8xf32>
    cleave.yield %c : tensor<4x8xf32>
  }
  %s = cleave.kernel loop(%e, %k) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %c = cleave.binary add %a, %b : tensor<4x8xf32>
    cleave.yield %c : tensor<4x8xf32>
  }
  return %s : tensor<4x8xf32>
}

// -----

// Tests that nothing of a state that the step writes is kept, nor an output, nor
// what would take more room than its states, but that a small result of it is.

cleave.param @v : tensor<4xf32> = dense<1.0> : tensor<4xf32>
cleave.param @w : tensor<4xf32> = dense<1.0> : tensor<4xf32>
// CHECK-LABEL: func.func @step
// CHECK:       cleave.prepare : tensor<1xf32> {{.*}} {
// CHECK:         cleave.kernel loop{{.*}} -> tensor<64x4xf32>
// CHECK:         cleave.kernel reduce{{.*}} -> tensor<1xf32>
// CHECK:       cleave.load @v
// CHECK:       cleave.kernel loop{{.*}}(tensor<4xf32>) -> tensor<4xf32>
// CHECK:       cleave.kernel loop{{.*}} -> tensor<64x4xf32>
// CHECK:       cleave.store
// CHECK:       %[[Q:.*]] = cleave.kernel loop(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:       return %{{.*}}, %{{.*}}, %[[Q]]
func.func @step(%x: tensor<1xf32>) -> (tensor<64x4xf32>, tensor<1xf32>, tensor<4xf32>) {
  %v = cleave.load @v : tensor<4xf32>
  %w = cleave.load @w : tensor<4xf32>
  %n = cleave.kernel loop(%v) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %c = cleave.unary exp %a : tensor<4xf32>
    cleave.yield %c : tensor<4xf32>
  }
  %b = cleave.broadcast %w {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<64x4xf32>
  %l = cleave.kernel loop(%b) : (tensor<64x4xf32>) -> tensor<64x4xf32> {
  ^bb0(%a: tensor<64x4xf32>):
    %c = cleave.unary exp %a : tensor<64x4xf32>
    cleave.yield %c : tensor<64x4xf32>
  }
  %r = cleave.kernel reduce(%l) : (tensor<64x4xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<64x4xf32>):
    %c = cleave.reduce sum %a {dims = array<i64: 0, 1>} : (tensor<64x4xf32>) -> tensor<f32>
    %o = cleave.reshape %c : (tensor<f32>) -> tensor<1xf32>
    cleave.yield %o : tensor<1xf32>
  }
  cleave.store %n, @v : tensor<4xf32>
  %o = cleave.kernel loop(%r, %x) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<1xf32>, %b2: tensor<1xf32>):
    %c = cleave.binary add %a, %b2 : tensor<1xf32>
    cleave.yield %c : tensor<1xf32>
  }
  %q = cleave.kernel loop(%w) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %c = cleave.unary exp %a : tensor<4xf32>
    cleave.yield %c : tensor<4xf32>
  }
  return %l, %o, %q : tensor<64x4xf32>, tensor<1xf32>, tensor<4xf32>
}
