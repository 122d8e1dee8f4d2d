// RUN: %cleave-opt %s --cleave-verify-collectives --split-input-file --verify-diagnostics

// Two stages that each wait for the other.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
func.func @program0() attributes {cleave.mesh = @stage0} {
  // expected-error @+1 {{is never passed: rank 0 waits here for rank 1}}
  %a = cleave.recv pairs [1, 0] tag 0 : tensor<4xf32>
  cleave.send %a pairs [0, 1] tag 1 : tensor<4xf32>
  return
}
func.func @program1() attributes {cleave.mesh = @stage1} {
  // expected-note @+1 {{rank 1 waits here for rank 0}}
  %a = cleave.recv pairs [0, 1] tag 1 : tensor<4xf32>
  cleave.send %a pairs [1, 0] tag 0 : tensor<4xf32>
  return
}

// -----

// Ranks that wait in a collective for one that never comes: it waits for a message.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [2]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @stage0} {
  // expected-note @+1 {{rank 1 waits here for rank 2}}
  %a = cleave.recv pairs [2, 1] tag 0 : tensor<4xf32>
  // expected-error @+1 {{is never passed: rank 0 waits here for rank 1}}
  %b = cleave.all_reduce sum %x @stage0 ["tp"] : tensor<4xf32>
  return
}
func.func @program1() attributes {cleave.mesh = @stage1} {
  return
}

// -----

// A message that nobody receives.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @stage0} {
  // expected-error @+1 {{sends what no rank receives: no recv of the same ranks, tag and type}}
  cleave.send %x pairs [0, 1] tag 0 : tensor<4xf32>
  return
}
func.func @program1() attributes {cleave.mesh = @stage1} {
  return
}

// -----

// Another type than was sent.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @stage0} {
  cleave.send %x pairs [0, 1] tag 0 : tensor<4xf32>
  return
}
func.func @program1() attributes {cleave.mesh = @stage1} {
  // expected-error @+1 {{is never passed: rank 1 waits here for rank 0}}
  %a = cleave.recv pairs [0, 1] tag 0 : tensor<2xf32>
  return
}

// -----

// Senders are ranks of the function.
cleave.mesh @m = #cleave.mesh_shape<["tp"=1], ranks = [0]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @m} {
  // expected-error @+1 {{lists rank 3 as sender, which is not in the mesh of its function}}
  cleave.send %x pairs [3, 1] tag 0 : tensor<4xf32>
  return
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=1], ranks = [0]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @m} {
  // expected-error @+1 {{sends from rank 0 to itself}}
  cleave.send %x pairs [0, 0] tag 0 : tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{has no mesh: its ranks are not known}}
func.func @program0(%x: tensor<4xf32>) {
  return
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=1], ranks = [0], micro_batches = 2>
// expected-error @+1 {{has chunks but no schedule that calls them}}
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @m} {
  cleave.chunk "forward"() : () -> () {
    cleave.yield
  }
  return
}
