// RUN: cleave-opt %s --cleave-resolve-views --cleave-assign-buffers | FileCheck %s

// Tests chunks: the carried value and its argument share a place, the value that
// the second chunk reads is made in a ring of two places, the stacked one in its
// part of the output, and the temporaries of both chunks share bytes with neither.

cleave.mesh @m = <[], ranks = [0], micro_batches = 3>
// CHECK: func.func @program0
func.func @program0(%x: tensor<6x2xf32>) -> (tensor<2xf32>, tensor<6x2xf32>) attributes {cleave.mesh = @m} {
  // CHECK: cleave.kernel loop() {cleave.buffers = [#cleave.buffer<arena 0, [[INIT:[0-9]+]], [1]>]}
  %zero = cleave.kernel loop() : () -> tensor<2xf32> {
    %z = cleave.constant dense<0.0> : tensor<2xf32>
    cleave.yield %z : tensor<2xf32>
  }
  // CHECK: cleave.chunk "first"() {cleave.buffers = [#cleave.buffer<arena 0, [[RING:[0-9]+]], [2, 1], ring = 2 x 64>]
  %rows = cleave.chunk "first"() {slots = 2 : i64} : () -> tensor<2x2xf32> {
    %i = cleave.axis_index @m ["mb"] : tensor<i64>
    // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<arena 0, [[RING]], [2, 1], ring = 2 x 64>]}
    %part = cleave.kernel loop(%x, %i) : (tensor<6x2xf32>, tensor<i64>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<6x2xf32>, %b: tensor<i64>):
      %t = cleave.take_shard %a, %b {dim = 0 : i64} : (tensor<6x2xf32>, tensor<i64>) -> tensor<2x2xf32>
      cleave.yield %t : tensor<2x2xf32>
    }
    cleave.yield %part : tensor<2x2xf32>
  }
  // CHECK: cleave.chunk "second"(%{{.*}}) {cleave.buffers = [#cleave.buffer<output 0, 0, [1]>, #cleave.buffer<output 1, 0, [4, 2, 1]>]
  %sum, %squares = cleave.chunk "second"(%zero) {slots = 2 : i64, stacked = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<3x2x2xf32>) {
  ^bb0(%acc: tensor<2xf32>):
    %new = cleave.kernel reduce(%rows, %acc) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32> {
    ^bb0(%a: tensor<2x2xf32>, %b: tensor<2xf32>):
      %r = cleave.reduce sum %a {dims = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
      %s = cleave.binary add %r, %b : tensor<2xf32>
      cleave.yield %s : tensor<2xf32>
    }
    // CHECK: cleave.kernel loop({{.*}}) {cleave.buffers = [#cleave.buffer<output 1, 0, [2, 1], ring = 3 x 16>]}
    %square = cleave.kernel loop(%rows) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<2x2xf32>):
      %p = cleave.binary mul %a, %a : tensor<2x2xf32>
      cleave.yield %p : tensor<2x2xf32>
    }
    cleave.yield %new, %square : tensor<2xf32>, tensor<2x2xf32>
  }
  cleave.schedule [#cleave.loop<1 x ["first" 0]>, #cleave.loop<2 x ["first" 1, "second" 0]>, #cleave.loop<1 x ["second" 2]>]
  %all = cleave.reshape %squares : (tensor<3x2x2xf32>) -> tensor<6x2xf32>
  return %sum, %all : tensor<2xf32>, tensor<6x2xf32>
}
