// RUN: split-file %s %t
// RUN: not cleave compile %t/post-op.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=POST
// RUN: not cleave compile %t/twice.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not cleave compile %t/no-product.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cleave compile %t/contract.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=CONTRACT
// RUN: not cleave compile %t/computed.mlir --emit llvm -o - 2>&1 | FileCheck %s --check-prefix=COMPUTED

// Tests that a matmul kernel that is not one library call is refused at the op that
// makes it so.

//--- post-op.mlir
// POST: post-op.mlir:{{.*}}: 'cleave.kernel' op of kind matmul is not one library call: the library has no such operation
// POST: cleave: note: {{.*}}post-op.mlir:{{.*}}: found this op
module attributes {cleave.inputs = [{name = "x", type = tensor<2x2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%x: tensor<2x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %y = cleave.kernel matmul(%x) {cleave.buffers = [#cleave.buffer<arena 0, 0, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %d = cleave.dot %i, %i {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %e = cleave.unary exp %d : tensor<2x2xf32>
      cleave.yield %e : tensor<2x2xf32>
    }
    return
  }
}
//--- twice.mlir
// TWICE: 'cleave.kernel' op of kind matmul is not one library call: both operands come from the product
module attributes {cleave.inputs = [{name = "x", type = tensor<2x2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%x: tensor<2x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %y = cleave.kernel matmul(%x) {cleave.buffers = [#cleave.buffer<arena 0, 0, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %d = cleave.dot %i, %i {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %e = cleave.binary mul %d, %d : tensor<2x2xf32>
      cleave.yield %e : tensor<2x2xf32>
    }
    return
  }
}
//--- no-product.mlir
// NONE: 'cleave.kernel' op of kind matmul has no product
module attributes {cleave.inputs = [{name = "x", type = tensor<2x2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%x: tensor<2x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %y = cleave.kernel matmul(%x) {cleave.buffers = [#cleave.buffer<arena 0, 0, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %e = cleave.unary exp %i : tensor<2x2xf32>
      cleave.yield %e : tensor<2x2xf32>
    }
    return
  }
}
//--- contract.mlir
// CONTRACT: 'cleave.dot' op has contracting dims that are not one dim in memory on both sides; expected a copy before this kernel
module attributes {cleave.inputs = [{name = "x", type = tensor<4x2x3xf32>}, {name = "w", type = tensor<2x3x5xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%x: tensor<4x2x3xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [3, 12, 1]>},
               %w: tensor<2x3x5xf32> {cleave.name = "w", cleave.buffer = #cleave.buffer<input 1, 0, [15, 5, 1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 128 : i64} {
    %y = cleave.kernel matmul(%x, %w) {cleave.buffers = [#cleave.buffer<arena 0, 0, [5, 1]>]} : (tensor<4x2x3xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32> {
    ^bb0(%i: tensor<4x2x3xf32>, %j: tensor<2x3x5xf32>):
      %d = cleave.dot %i, %j {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1, 2>, rhs_contract = array<i64: 0, 1>} : (tensor<4x2x3xf32>, tensor<2x3x5xf32>) -> tensor<4x5xf32>
      cleave.yield %d : tensor<4x5xf32>
    }
    return
  }
}
//--- computed.mlir
// COMPUTED: 'cleave.kernel' op of kind matmul needs operands that are views in memory
// COMPUTED: cleave: note: {{.*}}: this op needs a copy
module attributes {cleave.inputs = [{name = "x", type = tensor<2x2xf32>}], cleave.outputs = []} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  func.func @a(%x: tensor<2x2xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [2, 1]>}) attributes {cleave.mesh = @m, cleave.arena_bytes = 64 : i64} {
    %y = cleave.kernel matmul(%x) {cleave.buffers = [#cleave.buffer<arena 0, 0, [2, 1]>]} : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%i: tensor<2x2xf32>):
      %e = cleave.unary exp %i : tensor<2x2xf32>
      %d = cleave.dot %e, %i {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      cleave.yield %d : tensor<2x2xf32>
    }
    return
  }
}
