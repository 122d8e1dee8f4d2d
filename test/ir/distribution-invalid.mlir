// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that a reshard names a mesh.
func.func @reshard_mesh(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{names no mesh: @m}}
  %a = cleave.reshard %x <@m, [{}, {}]> : tensor<4x4xf32>
  return
}

// -----

// Tests that no reshard makes a partial value.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @reshard_partial(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{cannot make a partial value}}
  %a = cleave.reshard %x <@m, [{}, {}], partial<sum, {"a"}>> : tensor<4x4xf32>
  return
}

// -----

// Tests that a collective names a mesh.
func.func @mesh(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{names no mesh: @m}}
  %a = cleave.all_reduce sum %x @m ["a"] : tensor<4x4xf32>
  return
}

// -----

// Tests that a collective names axes of its mesh.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @axis(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{mesh @m has no axis "c"}}
  %a = cleave.all_reduce sum %x @m ["c"] : tensor<4x4xf32>
  return
}

// -----

// Tests that a collective names an axis once.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @twice(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{names axis "a" twice}}
  %a = cleave.all_reduce sum %x @m ["a", "a"] : tensor<4x4xf32>
  return
}

// -----

// Tests that a gather has one part for each rank.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @gather_parts(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{for 4 parts of 'tensor<4x4xf32>'}}
  %a = cleave.all_gather %x @m ["a", "b"] {dim = 0 : i64} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// Tests that the dim of a gather is in range.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @gather_range(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{dim 2 is out of range of 'tensor<4x4xf32>'}}
  %a = cleave.all_gather %x @m ["a"] {dim = 2 : i64} : (tensor<4x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

// Tests that a scatter leaves one part for each rank.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @scatter_parts(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{for 2 parts of 'tensor<4x4xf32>'}}
  %a = cleave.reduce_scatter sum %x @m ["a"] {dim = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that an exchange has one part for each rank.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @exchange_parts(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{needs dim 0 of size 2 and keeps the type}}
  %a = cleave.all_to_all %x @m ["a"] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that a send names a receiver for each sender.
func.func @send_pairs(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{pairs must list a sender and a receiver each}}
  cleave.send %x pairs [0, 1, 2] tag 0 : tensor<4x4xf32>
  return
}

// -----

// Tests that ranks of a receive are not negative.
func.func @recv_pairs() {
  // expected-error @+1 {{pairs must list a sender and a receiver each}}
  %a = cleave.recv pairs [0, -1] tag 0 : tensor<4xf32>
  return
}

// -----

// Tests that an index is along axes of its mesh.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @index_axis() {
  // expected-error @+1 {{mesh @m has no axis "c"}}
  %i = cleave.axis_index @m ["c"] : tensor<i64>
  return
}

// -----

// Tests that an index is one i64.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
func.func @index_type() {
  // expected-error @+1 {{gives tensor<i64>, found 'tensor<i32>'}}
  %i = cleave.axis_index @m ["a"] : tensor<i32>
  return
}

// -----

// Tests that a shard is taken by one i64.
func.func @shard_index(%x: tensor<4x4xf32>, %i: tensor<1xi64>) {
  // expected-error @+1 {{index must be tensor<i64>, found 'tensor<1xi64>'}}
  %t = cleave.take_shard %x, %i {dim = 0 : i64} : (tensor<4x4xf32>, tensor<1xi64>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that the dim of a shard is in range.
func.func @shard_range(%x: tensor<4x4xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{dim 2 is out of range}}
  %t = cleave.take_shard %x, %i {dim = 2 : i64} : (tensor<4x4xf32>, tensor<i64>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that a shard keeps the other dims.
func.func @shard_shape(%x: tensor<4x4xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{shapes must agree but for dim 0}}
  %t = cleave.take_shard %x, %i {dim = 0 : i64} : (tensor<4x4xf32>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that a mask is placed by one i64.
func.func @mask_index(%x: tensor<4x4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{index must be tensor<i64>, found 'tensor<i32>'}}
  %m = cleave.mask %x, %i {dim = 0 : i64, size = 7 : i64, fill = 0.0 : f64} : (tensor<4x4xf32>, tensor<i32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that the dim of a mask is in range.
func.func @mask_range(%x: tensor<4x4xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{dim 2 is out of range}}
  %m = cleave.mask %x, %i {dim = 2 : i64, size = 7 : i64, fill = 0.0 : f64} : (tensor<4x4xf32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that the size of a mask is not negative.
func.func @mask_size(%x: tensor<4x4xf32>, %i: tensor<i64>) {
  // expected-error @+1 {{size must not be negative, found -1}}
  %m = cleave.mask %x, %i {dim = 0 : i64, size = -1 : i64, fill = 0.0 : f64} : (tensor<4x4xf32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that what is waited for was started.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4xf32>) {
  %r = cleave.all_reduce sum %x @stage0 ["tp"] : tensor<4xf32>
  // expected-error @+1 {{needs the result of an asynchronous collective, and what that takes}}
  %d = cleave.done %r, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// Tests that a collective that waits keeps its operand.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = cleave.all_reduce sum %x @stage0 ["tp"] {asynchronous} : tensor<4xf32>
  // expected-error @+1 {{needs the result of an asynchronous collective, and what that takes}}
  %d = cleave.done %r, %y : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// Tests that nobody reads a result that is not there yet.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = cleave.all_reduce sum %x @stage0 ["tp"] {asynchronous} : tensor<4xf32>
  // expected-error @+1 {{must be the only one that reads what it waits for}}
  %d = cleave.done %r, %x : tensor<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
