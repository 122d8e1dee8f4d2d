// RUN: cleave-opt %s --cleave-assign-buffers --split-input-file | FileCheck %s

// Tests spaces, views, reuse of dead bytes, and work in place. Three buffers of
// 64 bytes would be needed without reuse; the chain a -> b -> out needs one: b
// overwrites a in place.

// CHECK: func.func @program0(%{{.*}}: tensor<4x4xf32> {cleave.buffer = #cleave.buffer<input 0, 0, [4, 1]>})
// CHECK-SAME: -> (tensor<4x4xf32> {cleave.buffer = #cleave.buffer<output 0, 0, [4, 1]>}) attributes {cleave.arena_bytes = 64 : i64, cleave.live_bytes = 64 : i64}
cleave.param @w : tensor<4x4xf32> = dense<1.0> : tensor<4x4xf32>
func.func @program0(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: cleave.load @w {cleave.buffers = [#cleave.buffer<state 0, 0, [4, 1]>]}
  %w = cleave.load @w : tensor<4x4xf32>
  // CHECK: cleave.transpose {{.*}}cleave.buffers = [#cleave.buffer<input 0, 0, [1, 4]>]
  %t = cleave.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: cleave.slice {{.*}}cleave.buffers = [#cleave.buffer<input 0, 20, [4, 1]>]
  %s = cleave.slice %x {starts = array<i64: 1, 1>, sizes = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<2x2xf32>
  // CHECK: cleave.kernel loop{{.*}}cleave.buffers = [#cleave.buffer<arena 0, 0, [4, 1]>]
  %a = cleave.kernel loop(%t, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>):
    %r = cleave.binary add %p, %q : tensor<4x4xf32>
    cleave.yield %r : tensor<4x4xf32>
  }
  // CHECK: cleave.kernel loop{{.*}}cleave.buffers = [#cleave.buffer<arena 0, 0, [4, 1]>]
  %b = cleave.kernel loop(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>):
    %r = cleave.unary exp %p : tensor<4x4xf32>
    cleave.yield %r : tensor<4x4xf32>
  }
  // CHECK: cleave.kernel matmul{{.*}}cleave.buffers = [#cleave.buffer<output 0, 0, [4, 1]>]
  %c = cleave.kernel matmul(%b, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>):
    %d = cleave.dot %p, %q {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    cleave.yield %d : tensor<4x4xf32>
  }
  return %c : tensor<4x4xf32>
}

// -----

// Tests that a product does not overwrite its operand, and that an operand read
// through a broadcast is not overwritten either.

// CHECK: cleave.arena_bytes = 128 : i64
func.func @program0(%x: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: arena 0, [[A:[0-9]+]], [1]
  %a = cleave.kernel loop(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>):
    %r = cleave.unary exp %p : tensor<4xf32>
    cleave.yield %r : tensor<4xf32>
  }
  // CHECK: arena 0, [[B:[0-9]+]], [4, 1]
  %b = cleave.kernel loop(%a, %w) : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4xf32>, %q: tensor<4x4xf32>):
    %s = cleave.broadcast %p {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
    %r = cleave.binary add %s, %q : tensor<4x4xf32>
    cleave.yield %r : tensor<4x4xf32>
  }
  %c = cleave.kernel matmul(%b, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%p: tensor<4x4xf32>, %q: tensor<4x4xf32>):
    %d = cleave.dot %p, %q {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    cleave.yield %d : tensor<4x4xf32>
  }
  return %c : tensor<4x4xf32>
}

// -----

// Tests that a convolution overwrites the image that is added to it, when nothing
// reads that later, and not the one that it convolves. Images are 2 x 4 x 4 x 4 bytes.

// CHECK-LABEL: func.func @images
// CHECK-SAME: cleave.arena_bytes = 256 : i64
func.func @images(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<arena 0, [[A:[0-9]+]],
  %a = cleave.kernel loop(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%p: tensor<1x2x4x4xf32>):
    %e = cleave.unary exp %p : tensor<1x2x4x4xf32>
    cleave.yield %e : tensor<1x2x4x4xf32>
  }
  // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<arena 0, [[B:[0-9]+]],
  %b = cleave.kernel loop(%a) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%p: tensor<1x2x4x4xf32>):
    %i = cleave.iota {dim = 1 : i64} : tensor<1x2x4x4xf32>
    %e = cleave.binary add %p, %i : tensor<1x2x4x4xf32>
    cleave.yield %e : tensor<1x2x4x4xf32>
  }
  // CHECK: cleave.kernel conv({{.*}}) {cleave.buffers = [#cleave.buffer<arena 0, [[A]],
  %c = cleave.kernel conv(%b, %w, %a) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%p: tensor<1x2x4x4xf32>, %k: tensor<2x2x1x1xf32>, %q: tensor<1x2x4x4xf32>):
    %v = cleave.conv %p, %k {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
    %s = cleave.binary add %v, %q : tensor<1x2x4x4xf32>
    cleave.yield %s : tensor<1x2x4x4xf32>
  }
  // CHECK: cleave.kernel conv({{.*}}) {cleave.buffers = [#cleave.buffer<output 0,
  %d = cleave.kernel conv(%c, %w) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  ^bb0(%p: tensor<1x2x4x4xf32>, %k: tensor<2x2x1x1xf32>):
    %v = cleave.conv %p, %k {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
    cleave.yield %v : tensor<1x2x4x4xf32>
  }
  return %d : tensor<1x2x4x4xf32>
}

// -----

// Tests that a kernel writes the values of two states where the old ones lie, which
// it reads element by element, and a third to the arena, for a later kernel reads
// the old value.

cleave.param @w : tensor<4xf32>
cleave.param @m : tensor<4xf32>
cleave.param @v : tensor<4xf32>
// CHECK-LABEL: func.func @update
// CHECK-SAME: cleave.arena_bytes = 64 : i64
func.func @update(%g: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: cleave.load @w {cleave.buffers = [#cleave.buffer<state [[W:[0-9]+]], 0
  %w = cleave.load @w : tensor<4xf32>
  // CHECK: cleave.load @m {cleave.buffers = [#cleave.buffer<state [[M:[0-9]+]], 0
  %m = cleave.load @m : tensor<4xf32>
  %v = cleave.load @v : tensor<4xf32>
  // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<state [[W]], 0, [1]>, #cleave.buffer<state [[M]], 0, [1]>, #cleave.buffer<arena 0, 0, [1]>]}
  %k:3 = cleave.kernel loop(%w, %m, %v, %g) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>):
    %n = cleave.binary add %b, %d : tensor<4xf32>
    %x = cleave.binary sub %a, %n : tensor<4xf32>
    %u = cleave.binary mul %c, %d : tensor<4xf32>
    cleave.yield %x, %n, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<output 0
  %e = cleave.kernel loop(%v) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %r = cleave.unary exp %a : tensor<4xf32>
    cleave.yield %r : tensor<4xf32>
  }
  cleave.store %k#0, @w : tensor<4xf32>
  cleave.store %k#1, @m : tensor<4xf32>
  cleave.store %k#2, @v : tensor<4xf32>
  return %e : tensor<4xf32>
}

// -----

// Tests that a kernel does not write a state that it reads at other elements.

cleave.param @w : tensor<2x2xf32>
// CHECK-LABEL: func.func @turn
func.func @turn() {
  %w = cleave.load @w : tensor<2x2xf32>
  %t = cleave.transpose %w {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<arena 0
  %k = cleave.kernel loop(%t) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %r = cleave.unary exp %a : tensor<2x2xf32>
    cleave.yield %r : tensor<2x2xf32>
  }
  cleave.store %k, @w : tensor<2x2xf32>
  return
}
