// RUN: cleave-opt %s --cleave-overlap-collectives --split-input-file | FileCheck %s
// RUN: cleave-opt %s --cleave-overlap-collectives --cleave-resolve-views --cleave-assign-buffers --split-input-file | FileCheck %s --check-prefix=MEMORY

cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>

// Tests that the reduction starts where its operand is made, and that what does
// not need it comes before the kernel that does. What is reduced stays until the
// end.

// CHECK-LABEL: func.func @independent
// CHECK:       %[[P:.*]] = cleave.kernel loop(%arg0)
// CHECK:       %[[R:.*]] = cleave.all_reduce sum %[[P]] @stage0 ["tp"] {asynchronous}
// CHECK:       %[[Q:.*]] = cleave.kernel loop(%arg1)
// CHECK:       %[[T:.*]] = cleave.transpose %[[Q]]
// CHECK:       %[[K:.*]] = cleave.kernel loop(%[[T]])
// CHECK:       %[[D:.*]] = cleave.done %[[R]], %[[P]]
// CHECK:       cleave.kernel loop(%[[D]])
// CHECK:       cleave.kernel loop(%[[D]], %[[K]])
// MEMORY-LABEL: func.func @independent
// MEMORY:      cleave.kernel loop(%arg0) {cleave.buffers = [#cleave.buffer<arena [[P:[0-9]+]], [[AT:[0-9]+]], [4, 1]>]}
// MEMORY:      cleave.kernel loop(%arg1)
// MEMORY-NOT:  #cleave.buffer<arena [[P]], [[AT]],
// MEMORY:      cleave.done
func.func @independent(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {cleave.mesh = @stage0} {
  %p = cleave.kernel loop(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %c = cleave.unary exp %a : tensor<4x4xf32>
    cleave.yield %c : tensor<4x4xf32>
  }
  %q = cleave.kernel loop(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %c = cleave.unary neg %a : tensor<4x4xf32>
    cleave.yield %c : tensor<4x4xf32>
  }
  %r = cleave.all_reduce sum %p @stage0 ["tp"] : tensor<4x4xf32>
  %s = cleave.kernel loop(%r) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %c = cleave.unary abs %a : tensor<4x4xf32>
    cleave.yield %c : tensor<4x4xf32>
  }
  %t = cleave.transpose %q {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %k = cleave.kernel loop(%t) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %c = cleave.unary sqrt %a : tensor<4x4xf32>
    cleave.yield %c : tensor<4x4xf32>
  }
  %u = cleave.kernel loop(%r, %k) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
    %c = cleave.binary add %a, %b : tensor<4x4xf32>
    cleave.yield %c : tensor<4x4xf32>
  }
  return %s, %u : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>

// Tests that nothing passes another collective, and that a collective whose
// result is needed at once stays as it is.

// CHECK-LABEL: func.func @chain
// CHECK:       cleave.all_reduce sum %arg0 @stage0 ["tp"] : tensor<4xf32>
// CHECK-NEXT:  %[[A:.*]] = cleave.kernel
// CHECK:       cleave.all_reduce sum %[[A]] @stage0 ["tp"] : tensor<4xf32>
// CHECK-NEXT:  cleave.kernel
// CHECK-NOT:   cleave.done
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.mesh = @stage0} {
  %r = cleave.all_reduce sum %x @stage0 ["tp"] : tensor<4xf32>
  %p = cleave.kernel loop(%r) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %c = cleave.unary exp %a : tensor<4xf32>
    cleave.yield %c : tensor<4xf32>
  }
  %s = cleave.all_reduce sum %p @stage0 ["tp"] : tensor<4xf32>
  %q = cleave.kernel loop(%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %c = cleave.unary exp %a : tensor<4xf32>
    cleave.yield %c : tensor<4xf32>
  }
  return %q : tensor<4xf32>
}
