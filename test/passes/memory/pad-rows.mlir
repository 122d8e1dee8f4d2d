// RUN: cleave-opt %s --cleave-pad-rows --split-input-file | FileCheck %s

// Tests that rows of 1 KiB that a product reads, and those of a product, are padded,
// with what is added to it; a bias is not.

// CHECK-LABEL: func.func @program0
func.func @program0(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>, %b: tensor<256xf32>) -> tensor<256xf32> {
  // CHECK: %[[H:.*]] = cleave.kernel loop({{.*}}) {cleave.row_padding = array<i64: 16>}
  %h = cleave.kernel loop(%x) : (tensor<64x256xf32>) -> tensor<64x256xf32> {
  ^bb0(%a: tensor<64x256xf32>):
    %r = cleave.unary exp %a : tensor<64x256xf32>
    cleave.yield %r : tensor<64x256xf32>
  }
  // CHECK: cleave.kernel matmul(%[[H]], %{{.*}}, %{{.*}}, %[[H]]) {cleave.row_padding = array<i64: 16>}
  %y = cleave.kernel matmul(%h, %w, %b, %h) : (tensor<64x256xf32>, tensor<256x256xf32>, tensor<256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32> {
  ^bb0(%l: tensor<64x256xf32>, %r: tensor<256x256xf32>, %c: tensor<256xf32>, %s: tensor<64x256xf32>):
    %d = cleave.dot %l, %r {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
    %e = cleave.broadcast %c {dims = array<i64: 1>} : (tensor<256xf32>) -> tensor<64x256xf32>
    %f = cleave.binary add %d, %e : tensor<64x256xf32>
    %g = cleave.binary add %f, %s : tensor<64x256xf32>
    cleave.yield %g : tensor<64x256xf32>
  }
  // CHECK: cleave.kernel reduce
  // CHECK-NOT: row_padding
  %z = cleave.kernel reduce(%y) : (tensor<64x256xf32>) -> tensor<256xf32> {
  ^bb0(%a: tensor<64x256xf32>):
    %r = cleave.reduce sum %a {dims = array<i64: 0>} : (tensor<64x256xf32>) -> tensor<256xf32>
    cleave.yield %r : tensor<256xf32>
  }
  return %z : tensor<256xf32>
}

// -----

// Tests that nothing is padded that a product only adds and whose other reader needs
// it dense, nor the product then; nor rows of 960 bytes, nor few rows, nor rows that
// no product reads.

cleave.mesh @stage0 = <["dp"=2], ranks = [0, 1]>
// CHECK-LABEL: func.func @program0
// CHECK-NOT: row_padding
func.func @program0(%x: tensor<64x256xf32>, %w: tensor<256x256xf32>, %n: tensor<64x240xf32>, %v: tensor<240x256xf32>) -> (tensor<64x256xf32>, tensor<256xf32>) {
  %h = cleave.kernel loop(%x) : (tensor<64x256xf32>) -> tensor<64x256xf32> {
  ^bb0(%a: tensor<64x256xf32>):
    %r = cleave.unary exp %a : tensor<64x256xf32>
    cleave.yield %r : tensor<64x256xf32>
  }
  %y = cleave.kernel matmul(%x, %w, %h) : (tensor<64x256xf32>, tensor<256x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32> {
  ^bb0(%l: tensor<64x256xf32>, %r: tensor<256x256xf32>, %s: tensor<64x256xf32>):
    %d = cleave.dot %l, %r {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
    %g = cleave.binary add %d, %s : tensor<64x256xf32>
    cleave.yield %g : tensor<64x256xf32>
  }
  %z = cleave.kernel reduce(%y) : (tensor<64x256xf32>) -> tensor<256xf32> {
  ^bb0(%a: tensor<64x256xf32>):
    %r = cleave.reduce sum %a {dims = array<i64: 0>} : (tensor<64x256xf32>) -> tensor<256xf32>
    cleave.yield %r : tensor<256xf32>
  }
  %s = cleave.all_reduce sum %h @stage0 ["dp"] : tensor<64x256xf32>
  %m = cleave.kernel loop(%n) : (tensor<64x240xf32>) -> tensor<64x240xf32> {
  ^bb0(%a: tensor<64x240xf32>):
    %r = cleave.unary exp %a : tensor<64x240xf32>
    cleave.yield %r : tensor<64x240xf32>
  }
  %k = cleave.kernel matmul(%m, %v) : (tensor<64x240xf32>, tensor<240x256xf32>) -> tensor<64x256xf32> {
  ^bb0(%l: tensor<64x240xf32>, %r: tensor<240x256xf32>):
    %d = cleave.dot %l, %r {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x240xf32>, tensor<240x256xf32>) -> tensor<64x256xf32>
    cleave.yield %d : tensor<64x256xf32>
  }
  return %k, %z : tensor<64x256xf32>, tensor<256xf32>
}
