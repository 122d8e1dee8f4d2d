// RUN: split-file %s %t
// RUN: not cleave compile %t/signature.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// RUN: not cleave compile %t/mesh.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not cleave compile %t/rank-twice.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not cleave compile %t/rank-missing.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not cleave compile %t/input.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not cleave compile %t/local-type.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not cleave compile %t/buffer.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=BUFFER
// RUN: not cleave compile %t/output.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not cleave compile %t/axis.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not ls %t/out

// Tests that a rank module that the memory phase cannot have left is refused where
// it is wrong, and that nothing is written.

//--- signature.mlir
// SIGNATURE: cleave: error: {{.*}}signature.mlir:2:1: module has no attribute 'cleave.inputs'; expected the whole tensors by name
module {
  func.func @stage() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
}
//--- mesh.mlir
// MESH: cleave: error: {{.*}}mesh.mlir:3:3: function 'stage' has no mesh; expected `cleave.mesh` with the symbol of one
module attributes {cleave.inputs = [], cleave.outputs = []} {
  func.func @stage() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
}
//--- rank-twice.mlir
// TWICE: rank-twice.mlir:6:3: rank 1 is in two stages: 'a' and 'b'
module attributes {cleave.inputs = [], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
  cleave.mesh @n = #cleave.mesh_shape<[], ranks = [1]>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
  func.func @b() attributes {cleave.mesh = @n, cleave.arena_bytes = 0 : i64} { return }
}
//--- rank-missing.mlir
// MISSING: no stage has rank 1 of 3
module attributes {cleave.inputs = [], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 2]>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
}
//--- input.mlir
// INPUT: input.mlir:4:3: the module has no input 'z'
module attributes {cleave.inputs = [{name = "x", type = tensor<2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%z: tensor<2xf32> {cleave.name = "z", cleave.buffer = #cleave.buffer<input 0, 0, [1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
}
//--- local-type.mlir
// LOCAL: local-type.mlir:4:3: input 'x' has the local type 'tensor<2xf32>'; expected 'tensor<3xf32>'
module attributes {cleave.inputs = [{name = "x", type = tensor<5xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
  func.func @a(%x: tensor<2xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@m, [{"tp"}]>, cleave.buffer = #cleave.buffer<input 0, 0, [1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
}
//--- buffer.mlir
// BUFFER: buffer.mlir:6:10: this value has no buffer; expected one from the memory phase
module attributes {cleave.inputs = [], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  cleave.param @w : tensor<2xf32>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    %w = cleave.load @w : tensor<2xf32>
    return
  }
}
//--- output.mlir
// OUTPUT: no stage makes the output 'y'
module attributes {cleave.inputs = [], cleave.outputs = [{name = "y", type = tensor<2xf32>}]} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
}
//--- axis.mlir
// AXIS: axis.mlir:5:10: 'cleave.all_reduce' op is along "mb", of which @m has no ranks
module attributes {cleave.inputs = [{name = "x", type = tensor<2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1], micro_batches = 2>
  func.func @a(%x: tensor<2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %r = cleave.all_reduce sum %x @m ["mb"] {cleave.buffers = [#cleave.buffer<arena 0, 0, [1]>]} : tensor<2xf32>
    return
  }
}
