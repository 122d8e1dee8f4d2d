// RUN: split-file %s %t
// RUN: not cleave compile %t/place.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not cleave compile %t/arena.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=ARENA
// RUN: not cleave compile %t/dense.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=DENSE
// RUN: not cleave compile %t/store.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: not cleave compile %t/micro-batch.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=MB

// Tests that what has no code in a step function is refused at its op.

//--- place.mlir
// PLACE: cleave: error: {{.*}}place.mlir:5:10: 'cleave.unary' op has no place in a stage function; expected it inside of a kernel
module attributes {cleave.inputs = [{name = "x", type = tensor<2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%x: tensor<2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %r = cleave.unary exp %x : tensor<2xf32>
    return
  }
}
//--- arena.mlir
// ARENA: arena.mlir:5:3: stage 'b' has no `cleave.arena_bytes`; expected memory to be planned
module attributes {cleave.inputs = [], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} { return }
  func.func @b() attributes {cleave.mesh = @n} { return }
  cleave.mesh @n = #cleave.mesh_shape<[], ranks = [1]>
}
//--- dense.mlir
// DENSE: dense.mlir:7:10: 'cleave.all_reduce' op needs a dense buffer, found #cleave.buffer<input 0, 0, [1, 2]>
// DENSE: cleave: note: {{.*}}dense.mlir:6:10: for this value of 'tensor<2x2xf32>'
module attributes {cleave.inputs = [{name = "x", type = tensor<2x2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
  func.func @a(%x: tensor<2x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %t = cleave.transpose %x {perm = array<i64: 1, 0>, cleave.buffers = [#cleave.buffer<input 0, 0, [1, 2]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %r = cleave.all_reduce sum %t @m ["tp"] {cleave.buffers = [#cleave.buffer<arena 0, 0, [2, 1]>]} : tensor<2x2xf32>
    return
  }
}
//--- store.mlir
// STORE: store.mlir:8:5: 'cleave.store' op takes its value from another state, which a store may change; expected a copy
module attributes {cleave.inputs = [], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  cleave.param @v : tensor<2xf32>
  cleave.param @w : tensor<2xf32>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 0 : i64} {
    %w = cleave.load @w {cleave.buffers = [#cleave.buffer<state 0, 0, [1]>]} : tensor<2xf32>
    cleave.store %w, @v : tensor<2xf32>
    return
  }
}
//--- micro-batch.mlir
// MB: micro-batch.mlir:5:10: 'cleave.axis_index' op along "mb" is outside of a chunk
module attributes {cleave.inputs = [], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0], micro_batches = 2>
  func.func @a() attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %i = cleave.axis_index @m ["mb"] {cleave.buffers = [#cleave.buffer<arena 0, 0, []>]} : tensor<i64>
    return
  }
}
