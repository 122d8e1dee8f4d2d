// RUN: cleave compile %s --emit llvm -o - | FileCheck %s

// Tests that a step function makes one call per kernel and library operation, in
// order: arguments are operands, then results, by the base of their space and offset.

module attributes {
  cleave.inputs = [{name = "x", type = tensor<3x8xf32>}],
  cleave.outputs = [{name = "y", type = tensor<3x16xf32>}]
} {
  cleave.mesh @m = #cleave.mesh_shape<[], ranks = [0]>
  cleave.param @w : tensor<8x16xf32> = dense<0.5> : tensor<8x16xf32>

  // CHECK-LABEL: define internal void @step(ptr %0, ptr %1)
  // The tables of CleaveStep: arena, inputs, outputs, state.
  // CHECK-DAG: %[[ARENA:.*]] = load ptr, ptr %1
  // CHECK-DAG: %[[INPUT:.*]] = load ptr, ptr %
  func.func @stage(%x: tensor<3x8xf32> {cleave.name = "x", cleave.buffer = #cleave.buffer<input 0, 0, [8, 1]>})
      -> (tensor<3x16xf32> {cleave.name = "y", cleave.buffer = #cleave.buffer<output 0, 0, [16, 1]>})
      attributes {cleave.mesh = @m, cleave.arena_bytes = 256 : i64} {
    %w = cleave.load @w {cleave.buffers = [#cleave.buffer<state 0, 0, [16, 1]>]} : tensor<8x16xf32>
    // CHECK: call void @cleaveTrace(ptr %0, ptr @text[[NODE:.*]], ptr @text{{.*}})
    // CHECK: %[[AT:.*]] = getelementptr inbounds i8, ptr %[[ARENA]], i64 64
    // CHECK: store ptr %{{.*}}, ptr %[[ARGS:.*]], align 8
    // CHECK: %[[SECOND:.*]] = getelementptr inbounds i8, ptr %[[ARGS]], i64 8
    // CHECK: store ptr %[[AT]], ptr %[[SECOND]]
    // CHECK: call void @cleaveParallelFor(ptr %0, ptr @loop_0, ptr %[[ARGS]], i64 {{.*}}, i64 {{.*}}, ptr null, i64 0)
    %a = cleave.kernel loop(%x) {cleave.buffers = [#cleave.buffer<arena 0, 64, [8, 1]>]}
        : (tensor<3x8xf32>) -> tensor<3x8xf32> {
    ^bb0(%i: tensor<3x8xf32>):
      %r = cleave.unary relu %i : tensor<3x8xf32>
      cleave.yield %r : tensor<3x8xf32>
    } loc("the user's node")
    // CHECK: call void @cleaveMatmul(ptr %0, i32 0, ptr @constant{{.*}}, ptr %[[A:.*]], ptr %{{.*}}, ptr %{{.*}}, ptr %[[ARGS]])
    %y = cleave.kernel matmul(%a, %w) {cleave.buffers = [#cleave.buffer<output 0, 0, [16, 1]>]}
        : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32> {
    ^bb0(%i: tensor<3x8xf32>, %j: tensor<8x16xf32>):
      %d = cleave.dot %i, %j {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
          : (tensor<3x8xf32>, tensor<8x16xf32>) -> tensor<3x16xf32>
      cleave.yield %d : tensor<3x16xf32>
    }
    // CHECK-NEXT: ret void
    return %y : tensor<3x16xf32>
  }
}
// The trace has the user's node; the program exports its step.
// CHECK: attributes
// RUN: cleave compile %s --emit llvm -o - | FileCheck %s --check-prefix=TEXT
// TEXT: @text{{.*}} = internal constant [{{.*}} x i8] c"the user's node\00"
// TEXT: @cleave_program = constant { i32, i32, i64, ptr, ptr, ptr, ptr, ptr } { i32 3, i32 1, i64 256, ptr @program_identity, ptr @program_name, ptr @step, ptr null, ptr null }
