// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that axis names of a mesh are unique.
// expected-error @+1 {{mesh axis names must be unique, not empty and not "mb", found "a"}}
cleave.mesh @m = <["a"=2, "a"=2], ranks = [0, 1, 2, 3]>

// -----

// Tests that axis names of a mesh are not empty.
// expected-error @+1 {{mesh axis names must be unique, not empty and not "mb", found ""}}
cleave.mesh @m = <[""=2], ranks = [0, 1]>

// -----

// Tests that the axis in time is not an axis of the ranks.
// expected-error @+1 {{mesh axis names must be unique, not empty and not "mb", found "mb"}}
cleave.mesh @m = <["mb"=2], ranks = [0, 1]>

// -----

// Tests that axis sizes are positive.
// expected-error @+1 {{mesh axis "a" needs a positive size, found 0}}
cleave.mesh @m = <["a"=0], ranks = []>

// -----

// Tests that a mesh lists a rank for each of its coordinates.
// expected-error @+1 {{mesh of 4 coordinates lists 3 ranks}}
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2]>

// -----

// Tests that ranks of a mesh are unique.
// expected-error @+1 {{mesh ranks must be unique and not negative, found 1}}
cleave.mesh @m = <["a"=2], ranks = [1, 1]>

// -----

// Tests that ranks of a mesh are not negative.
// expected-error @+1 {{mesh ranks must be unique and not negative, found -1}}
cleave.mesh @m = <["a"=2], ranks = [0, -1]>

// -----

// Tests that a mesh has a micro-batch.
// expected-error @+1 {{mesh needs at least one micro-batch, found 0}}
cleave.mesh @m = <[], ranks = [0], micro_batches = 0>

// -----

// Tests that every axis of a sharding exists in the mesh.
cleave.mesh @m = <["a"=2], ranks = [0, 1]>
func.func @axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{sharding names axis "b", mesh @m has none of that name}}
  %0 = cleave.reshard %x <@m, [{"b"}]> : tensor<4xf32>
  return
}

// -----

// Tests that a sharding uses an axis once.
cleave.mesh @m = <["a"=2], ranks = [0, 1]>
func.func @twice(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{sharding uses axis "a" twice}}
  %0 = cleave.reshard %x <@m, [{"a"}, {"a"}]> : tensor<4x4xf32>
  return
}

// -----

// Tests that a sharding has as many dims as the tensor.
cleave.mesh @m = <["a"=2], ranks = [0, 1]>
func.func @rank(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{sharding of 1 dims for a tensor of rank 2}}
  %0 = cleave.reshard %x <@m, [{"a"}]> : tensor<4x4xf32>
  return
}

// -----

// Tests that the block of a sharding divides its dim.
cleave.mesh @m = <["a"=2], ranks = [0, 1]>
func.func @block(%x: tensor<4xf32>) {
  // expected-error @+1 {{block 3 does not divide dim 0 of 'tensor<4xf32>'}}
  %0 = cleave.reshard %x <@m, [{"a"}:3]> : tensor<4xf32>
  return
}

// -----

// Tests that the block of a sharding is positive.
cleave.mesh @m = <["a"=2], ranks = [0, 1]>
func.func @no_block(%x: tensor<4xf32>) {
  // expected-error @+1 {{block 0 does not divide dim 0 of 'tensor<4xf32>'}}
  %0 = cleave.reshard %x <@m, [{"a"}:0]> : tensor<4xf32>
  return
}

// -----

// Tests that a partial value names a reduction.
// expected-error @+1 {{unknown reduction 'mean'}}
func.func @partial(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}], partial<mean, {"a"}>>}) {
  return
}

// -----

// Tests that a buffer names a space.
// expected-error @+1 {{unknown space 'heap'}}
func.func @space() attributes {b = #cleave.buffer<heap 0, 0, [1]>} {
  return
}
