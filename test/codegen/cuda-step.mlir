// REQUIRES: ptxas
// RUN: cleave compile %s --target cuda --arch sm_90 --emit llvm -o - | FileCheck %s

// Tests the host code of a CUDA program: a launch with operands, then results; a library
// call that keeps what it can do of the chain (bias, relu), and a launch in place of what
// it cannot (gelu by erf); the code and the constants that the program brings along.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<3x8xf32>}, {name = "b", type = tensor<16xf32>}],
  cleave.outputs = [{name = "y", type = tensor<3x16xf32>}, {name = "z", type = tensor<3x16xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  cleave.param @w : tensor<8x16xf32> = dense<0.5> : tensor<8x16xf32>

  // CHECK-DAG: @kernel_name0 = internal constant [{{.*}} x i8] c"loop_0\00"
  // CHECK-DAG: @kernel_name1 = internal constant [{{.*}} x i8] c"post_1\00"
  // The binary of sm_90, then its PTX.
  // CHECK-DAG: @device_images = internal constant {{.*}} { i32 90, i32 1, {{.*}} { i32 90, i32 0,
  // CHECK-DAG: @device_code = internal constant { i32, i32, i32, ptr, ptr, ptr, i64 } { i32 2, i32 2, i32 0,
  // CHECK-DAG: @cleave_program = constant {{.*}} ptr @step, ptr null, ptr @device_code }
  // CHECK-LABEL: define internal void @step(
  func.func @stage(%x: tensor<3x8xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [8, 1]>},
                   %b: tensor<16xf32> {cleave.name = "b", cleave.buffer = #cleave.buffer<input 1, 0, [1]>})
      -> (tensor<3x16xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<output 0, 0, [16, 1]>},
          tensor<3x16xf32> {cleave.name = "z", cleave.buffer = #cleave.buffer<output 1, 0, [16, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 256 : i64} {
    %w = cleave.load @w {cleave.buffers = [#cleave.buffer<state 0, 0, [16, 1]>]} : tensor<8x16xf32>
    // CHECK: call void @cleaveLaunch(ptr %0, ptr @constant{{.*}}, ptr %[[ARGS:.*]], ptr @text{{.*}}, ptr null)
    %a = cleave.kernel loop(%x) {cleave.buffers = [#cleave.buffer<arena 0, 0, [8, 1]>]}
        : (tensor<3x8xf32>) -> tensor<3x8xf32> {
    ^bb0(%i: tensor<3x8xf32>):
      %r = cleave.unary neg %i : tensor<3x8xf32>
      cleave.yield %r : tensor<3x8xf32>
    }
    // CHECK: call void @cleaveMatmul(ptr %0, i32 0,
    // CHECK-NOT: call void @cleaveLaunch
    %y = cleave.kernel matmul(%a, %w, %b) {cleave.buffers = [#cleave.buffer<output 0, 0, [16, 1]>]}
        : (tensor<3x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<3x16xf32> {
    ^bb0(%i: tensor<3x8xf32>, %j: tensor<8x16xf32>, %k: tensor<16xf32>):
      %d = cleave.dot %i, %j {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
          : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32>
      %c = cleave.broadcast %k {dims = array<i64: 1>} : (tensor<16xf32>) -> tensor<3x16xf32>
      %s = cleave.binary add %d, %c : tensor<3x16xf32>
      %r = cleave.unary relu %s : tensor<3x16xf32>
      cleave.yield %r : tensor<3x16xf32>
    }
    // CHECK: call void @cleaveMatmul(ptr %0, i32 1,
    // CHECK: call void @cleaveLaunch(
    %z = cleave.kernel matmul(%a, %w, %b) {cleave.buffers = [#cleave.buffer<output 1, 0, [16, 1]>]}
        : (tensor<3x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<3x16xf32> {
    ^bb0(%i: tensor<3x8xf32>, %j: tensor<8x16xf32>, %k: tensor<16xf32>):
      %d = cleave.dot %i, %j {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
          : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32>
      %c = cleave.broadcast %k {dims = array<i64: 1>} : (tensor<16xf32>) -> tensor<3x16xf32>
      %s = cleave.binary add %d, %c : tensor<3x16xf32>
      %r = cleave.unary gelu_erf %s : tensor<3x16xf32>
      cleave.yield %r : tensor<3x16xf32>
    }
    return %y, %z : tensor<3x16xf32>, tensor<3x16xf32>
  }
}
