// RUN: %cleave-opt %s --cleave-verify-collectives -o /dev/null
// RUN: %cleave-opt %s --cleave-verify-collectives=rendezvous=true --verify-diagnostics

// Two stages that each send first: right where sends are copied, never passed where they wait for their receiver.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=1], ranks = [0]>
cleave.mesh @stage1 = #cleave.mesh_shape<["tp"=1], ranks = [1]>
func.func @program0(%x: tensor<4xf32>) attributes {cleave.mesh = @stage0} {
  // expected-error @+1 {{is never passed: rank 0 waits here for rank 1}}
  cleave.send %x pairs [0, 1] tag 0 : tensor<4xf32>
  %a = cleave.recv pairs [1, 0] tag 1 : tensor<4xf32>
  return
}
func.func @program1(%x: tensor<4xf32>) attributes {cleave.mesh = @stage1} {
  // expected-note @+1 {{rank 1 waits here for rank 0}}
  cleave.send %x pairs [1, 0] tag 1 : tensor<4xf32>
  %a = cleave.recv pairs [0, 1] tag 0 : tensor<4xf32>
  return
}
