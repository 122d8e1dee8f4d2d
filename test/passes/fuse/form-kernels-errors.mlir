// RUN: cleave-opt %s --cleave-form-kernels --split-input-file --verify-diagnostics

// Tests that what is no local op is refused.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @reshard(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{cannot be part of a kernel: it is no local op}}
  %r = cleave.reshard %x <@m, [{}]> : tensor<4xf32>
  return %r : tensor<4xf32>
}
