// RUN: %cleave-opt %s --cleave-verify-collectives --split-input-file -o /dev/null --verify-diagnostics

// Tests that two stages of 2 x 2 ranks come to their end.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [4, 5, 6, 7]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @stage0} {
  %a = cleave.all_reduce sum %x @stage0 ["tp"] : tensor<4xf32>
  %b = cleave.all_reduce sum %a @stage0 ["dp"] : tensor<4xf32>
  %c = cleave.all_reduce sum %b @stage0 ["dp", "tp"] : tensor<4xf32>
  cleave.send %c pairs [0, 4, 1, 5, 2, 6, 3, 7] tag 0 : tensor<4xf32>
  return
}
func.func @program1() -> tensor<8xf32> attributes {cleave.mesh = @stage1} {
  %a = cleave.recv pairs [0, 4, 1, 5, 2, 6, 3, 7] tag 0 : tensor<4xf32>
  %b = cleave.all_gather %a @stage1 ["tp"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// Tests that one forward, one backward passes with copied sends (each stage sends before it receives), and that chunks
// run where the schedule calls them.
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=1], ranks = [0], micro_batches = 3>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=1], ranks = [1], micro_batches = 3>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @stage0} {
  cleave.chunk "forward"() : () -> () {
    cleave.send %x pairs [0, 1] tag 0 : tensor<4xf32>
    cleave.yield
  }
  cleave.chunk "backward"() : () -> () {
    %g = cleave.recv pairs [1, 0] tag 1 : tensor<4xf32>
    cleave.yield
  }
  cleave.schedule [#cleave.loop<1 x ["forward" 0]>, #cleave.loop<2 x ["forward" 1, "backward" 0]>, #cleave.loop<1 x ["backward" 2]>]
  return
}
func.func @program1() attributes {cleave.mesh = @stage1} {
  cleave.chunk "forward"() : () -> () {
    %a = cleave.recv pairs [0, 1] tag 0 : tensor<4xf32>
    cleave.send %a pairs [1, 0] tag 1 : tensor<4xf32>
    cleave.yield
  }
  cleave.schedule [#cleave.loop<3 x ["forward" 0]>]
  return
}

// -----

// Tests that a collective over micro-batches only waits for nobody.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2], ranks = [0, 1], micro_batches = 3>
func.func @program0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {cleave.mesh = @m} {
  %a = cleave.all_reduce sum %x @m ["mb"] : tensor<4xf32>
  %b = cleave.all_reduce sum %a @m ["mb", "dp"] : tensor<4xf32>
  return %b : tensor<4xf32>
}
