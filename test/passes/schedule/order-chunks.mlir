// RUN: cleave-opt %s --cleave-order-chunks | FileCheck %s
// RUN: echo 'module attributes {cleave.schedule_kind = "gpipe"} {' > %t.mlir
// RUN: cat %s >> %t.mlir
// RUN: echo '}' >> %t.mlir
// RUN: cleave-opt %t.mlir --cleave-order-chunks | FileCheck %s --check-prefix=GPIPE

// Tests the warm-up, steady and drain loops of 1F1B over two stages with 4
// micro-batches: the first stage runs one forward ahead and keeps two micro-batches,
// the last none ahead and keeps one. GPipe keeps all four.

cleave.mesh @stage0 = <[], ranks = [0], micro_batches = 4>
cleave.mesh @stage1 = <[], ranks = [1], micro_batches = 4>

// CHECK-LABEL: func.func @program0
// CHECK: cleave.chunk "forward"() {slots = 2 : i64}
// CHECK: cleave.schedule [#cleave.loop<1 x ["forward" 0]>, #cleave.loop<3 x ["forward" 1, "backward" 0]>, #cleave.loop<1 x ["backward" 3]>]
// GPIPE-LABEL: func.func @program0
// GPIPE: cleave.chunk "forward"() {slots = 4 : i64}
// GPIPE: cleave.schedule [#cleave.loop<4 x ["forward" 0]>, #cleave.loop<4 x ["backward" 0]>]
func.func @program0() attributes {cleave.mesh = @stage0} {
  %a = cleave.chunk "forward"() : () -> tensor<2xf32> {
    %r = cleave.recv pairs [1, 0] tag 0 : tensor<2xf32>
    cleave.yield %r : tensor<2xf32>
  }
  cleave.chunk "backward"() : () -> () {
    cleave.send %a pairs [0, 1] tag 1 : tensor<2xf32>
    cleave.yield
  }
  return
}

// CHECK-LABEL: func.func @program1
// CHECK: cleave.schedule [#cleave.loop<4 x ["forward" 0, "backward" 0]>]
func.func @program1() attributes {cleave.mesh = @stage1} {
  cleave.chunk "forward"() : () -> () {
    cleave.yield
  }
  cleave.chunk "backward"() : () -> () {
    cleave.yield
  }
  return
}
