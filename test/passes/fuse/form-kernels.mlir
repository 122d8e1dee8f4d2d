// RUN: cleave-opt %s --cleave-form-kernels --split-input-file | FileCheck %s

// Tests that a product takes its bias, activation and residual; the constant and
// the broadcast go inside, the load stays outside.
cleave.param @w : tensor<8x6xf32>
cleave.param @b : tensor<6xf32>
// CHECK-LABEL: func.func @product
func.func @product(%x: tensor<4x8xf32>, %r: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // CHECK: %[[W:.*]] = cleave.load @w
  // CHECK: %[[B:.*]] = cleave.load @b
  // CHECK-NOT: cleave.broadcast
  // CHECK: %[[K:.*]] = cleave.kernel matmul(%arg0, %[[W]], %[[B]], %arg1)
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[V:.*]]: tensor<8x6xf32>, %[[C:.*]]: tensor<6xf32>, %[[R:.*]]: tensor<4x6xf32>):
  // CHECK-NEXT: %[[P:.*]] = cleave.dot %[[X]], %[[V]]
  // CHECK-NEXT: %[[BB:.*]] = cleave.broadcast %[[C]]
  // CHECK-NEXT: %[[S:.*]] = cleave.binary add %[[P]], %[[BB]]
  // CHECK-NEXT: %[[G:.*]] = cleave.unary gelu_erf %[[S]]
  // CHECK-NEXT: %[[Y:.*]] = cleave.binary add %[[R]], %[[G]]
  // CHECK-NEXT: cleave.yield %[[Y]]
  // CHECK: return %[[K]]
  %w = cleave.load @w : tensor<8x6xf32>
  %p = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %b = cleave.load @b : tensor<6xf32>
  %bb = cleave.broadcast %b {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
  %s = cleave.binary add %p, %bb : tensor<4x6xf32>
  %g = cleave.unary gelu_erf %s : tensor<4x6xf32>
  %y = cleave.binary add %r, %g : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Tests that a product stops at a value that others use, and that a reshape between
// it and its bias goes inside.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<4x2x3xf32>) -> (tensor<4x2x3xf32>, tensor<4x2x3xf32>) {
  // CHECK: %[[K:.*]] = cleave.kernel matmul
  // CHECK: cleave.dot
  // CHECK-NEXT: cleave.reshape
  // CHECK-NEXT: cleave.binary add
  // CHECK-NEXT: cleave.yield
  // CHECK: %[[L:.*]] = cleave.kernel loop(%[[K]])
  // CHECK: cleave.unary relu
  // CHECK: return %[[K]], %[[L]]
  %p = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %q = cleave.reshape %p : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  %s = cleave.binary add %q, %b : tensor<4x2x3xf32>
  %y = cleave.unary relu %s : tensor<4x2x3xf32>
  return %s, %y : tensor<4x2x3xf32>, tensor<4x2x3xf32>
}

// -----

// Tests that a convolution takes scale, shift and relu per channel.
// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>, %s: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: cleave.kernel conv(%arg0, %arg1, %arg2, %arg3)
  // CHECK: cleave.conv
  // CHECK: cleave.binary mul
  // CHECK: cleave.binary add
  // CHECK: cleave.unary relu
  // CHECK-NEXT: cleave.yield
  // CHECK-NOT: cleave.kernel
  %c = cleave.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
  %bs = cleave.broadcast %s {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %m = cleave.binary mul %c, %bs : tensor<1x4x8x8xf32>
  %bt = cleave.broadcast %t {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %a = cleave.binary add %m, %bt : tensor<1x4x8x8xf32>
  %y = cleave.unary relu %a : tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// Tests that a transposed convolution stays alone.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32> {
  // CHECK: cleave.kernel conv(%arg0, %arg1)
  // CHECK: cleave.conv
  // CHECK-NEXT: cleave.yield
  // CHECK: cleave.kernel loop
  // CHECK: cleave.unary relu
  %c = cleave.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, transposed} : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32>
  %y = cleave.unary relu %c : tensor<1x4x16x16xf32>
  return %y : tensor<1x4x16x16xf32>
}

// -----

// Tests that a norm takes the sum that it reads, which is a result too.
// CHECK-LABEL: func.func @row
func.func @row(%x: tensor<4x8xf32>, %r: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[K:.*]]:2 = cleave.kernel row(%arg0, %arg1, %arg2)
  // CHECK: %[[S:.*]] = cleave.binary add
  // CHECK: %[[N:.*]] = cleave.norm layer %[[S]]
  // CHECK: %[[M:.*]] = cleave.unary neg %[[N]]
  // CHECK: cleave.yield %[[S]], %[[M]]
  // CHECK: %[[P:.*]] = cleave.kernel matmul(%[[K]]#0
  // CHECK: return %[[P]], %[[K]]#1
  %s = cleave.binary add %x, %r : tensor<4x8xf32>
  %n = cleave.norm layer %s, %w {axis = 1 : i64, epsilon = 1.0e-06 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %m = cleave.unary neg %n : tensor<4x8xf32>
  %i = cleave.constant dense<1.0> : tensor<8x8xf32>
  %p = cleave.dot %s, %i {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %p, %m : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Tests that a sum stays out of a norm when a collective that reads it stands
// before the norm: collectives do not move.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
// CHECK-LABEL: func.func @collective
func.func @collective(%x: tensor<4x8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[S:.*]] = cleave.kernel loop(%arg0, %arg1)
  // CHECK: %[[A:.*]] = cleave.all_reduce sum %[[S]]
  // CHECK: cleave.kernel row(%[[S]], %[[A]])
  // CHECK: cleave.softmax
  // CHECK-NEXT: cleave.binary add
  %s = cleave.binary add %x, %r : tensor<4x8xf32>
  %a = cleave.all_reduce sum %s @m ["tp"] : tensor<4x8xf32>
  %n = cleave.softmax %s {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = cleave.binary add %n, %a : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests that attention is alone and that views stay between kernels.
// CHECK-LABEL: func.func @attention
func.func @attention(%x: tensor<1x7x2x4xf32>) -> tensor<1x7x8xf32> {
  // CHECK: %[[T:.*]] = cleave.transpose %arg0
  // CHECK: %[[K:.*]] = cleave.kernel attention(%[[T]])
  // CHECK: cleave.attention
  // CHECK-NEXT: cleave.yield
  // CHECK: %[[U:.*]] = cleave.transpose %[[K]]
  // CHECK: %[[R:.*]] = cleave.reshape %[[U]]
  // CHECK: return %[[R]]
  %t = cleave.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x7x2x4xf32>) -> tensor<1x2x7x4xf32>
  %a = cleave.attention %t, %t, %t {scale = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x2x7x4xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x4xf32>) -> tensor<1x2x7x4xf32>
  %u = cleave.transpose %a {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x7x4xf32>) -> tensor<1x7x2x4xf32>
  %r = cleave.reshape %u : (tensor<1x7x2x4xf32>) -> tensor<1x7x8xf32>
  return %r : tensor<1x7x8xf32>
}

// -----

// Tests that a reduction takes what only it uses, and what follows it.
// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  // CHECK: %[[E:.*]] = cleave.kernel loop(%arg0)
  // CHECK: cleave.unary exp
  // CHECK: cleave.kernel reduce(%[[E]])
  // CHECK: cleave.binary mul
  // CHECK: cleave.reduce sum
  // CHECK: cleave.unary sqrt
  // CHECK-NEXT: cleave.yield
  %e = cleave.unary exp %x : tensor<4x8xf32>
  %q = cleave.binary mul %e, %e : tensor<4x8xf32>
  %s = cleave.reduce sum %q {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = cleave.unary sqrt %s : tensor<4xf32>
  return %y, %e : tensor<4xf32>, tensor<4x8xf32>
}

// -----

// Tests that elementwise ops of one shape are one loop with several results; a
// gather may start it, another shape may not join.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<9x8xf32>, %i: tensor<4xi64>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) {
  // CHECK: %[[K:.*]]:2 = cleave.kernel loop(%arg0, %arg1)
  // CHECK: %[[G:.*]] = cleave.gather
  // CHECK: %[[A:.*]] = cleave.unary tanh %[[G]]
  // CHECK: %[[B:.*]] = cleave.unary neg %[[G]]
  // CHECK: %[[C:.*]] = cleave.constant dense<2.0
  // CHECK: %[[D:.*]] = cleave.binary mul %[[A]], %[[C]]
  // CHECK: %[[F:.*]] = cleave.binary add %[[D]], %[[B]]
  // CHECK: cleave.yield %[[A]], %[[F]]
  // CHECK: cleave.kernel loop()
  // CHECK: cleave.iota
  // CHECK: cleave.cast
  %two = cleave.constant dense<2.0> : tensor<4x8xf32>
  %g = cleave.gather %x, %i {dim = 0 : i64} : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %a = cleave.unary tanh %g : tensor<4x8xf32>
  %b = cleave.unary neg %g : tensor<4x8xf32>
  %c = cleave.binary mul %a, %two : tensor<4x8xf32>
  %d = cleave.binary add %c, %b : tensor<4x8xf32>
  %o = cleave.iota {dim = 0 : i64} : tensor<8xi64>
  %p = cleave.cast %o : (tensor<8xi64>) -> tensor<8xf32>
  return %a, %d, %p : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
}

// -----

// Tests that a concat takes the loop that only it uses, that nothing follows it in
// its kernel, and that a resize is alone.
// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<1x2x4x4xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[C:.*]] = cleave.kernel loop(%arg0)
  // CHECK: cleave.unary neg
  // CHECK: cleave.concat
  // CHECK-NEXT: cleave.yield
  // CHECK: %[[R:.*]] = cleave.kernel loop(%[[C]])
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: cleave.resize
  // CHECK-NEXT: cleave.yield
  // CHECK: cleave.kernel loop(%[[R]])
  // CHECK: cleave.unary sigmoid
  %n = cleave.unary neg %x : tensor<1x2x4x4xf32>
  %c = cleave.concat %x, %n {dim = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %r = cleave.resize linear %c {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = "half_pixel"} : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
  %y = cleave.unary sigmoid %r : tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// Tests that a view of a result stands behind the kernel that makes it, also when
// the kernel stands later than the op did.
// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  // CHECK: %[[K:.*]]:2 = cleave.kernel row(%arg0)
  // CHECK: %[[T:.*]] = cleave.transpose %[[K]]#0
  // CHECK: return %[[T]], %[[K]]#1
  %e = cleave.unary exp %x : tensor<4x8xf32>
  %t = cleave.transpose %e {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %s = cleave.softmax %e {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %t, %s : tensor<8x4xf32>, tensor<4x8xf32>
}

// -----

// Tests that a pool is alone: what makes its operand and what reads its result are
// kernels of their own.
// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  // CHECK: %[[E:.*]] = cleave.kernel loop(%arg0)
  // CHECK: %[[P:.*]] = cleave.kernel loop(%[[E]])
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: cleave.pool max
  // CHECK-NEXT: cleave.yield
  // CHECK: cleave.kernel loop(%[[P]])
  %e = cleave.unary exp %x : tensor<1x2x4x4xf32>
  %p = cleave.pool max %e {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %y = cleave.unary tanh %p : tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}
