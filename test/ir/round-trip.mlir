// RUN: cleave-opt %s | cleave-opt | FileCheck %s

// Tests that every op and attribute prints what it parses.

// CHECK: cleave.mesh @stage0 = <["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
cleave.mesh @stage0 = <["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
// CHECK: cleave.mesh @one = <[], ranks = [0]>
cleave.mesh @one = <[], ranks = [0]>
// CHECK: cleave.param @w : tensor<4x8xf32> = #cleave.weights<"m.onnx", 64, 128> sharding <@stage0, [{}, {"tp"}:4]>
cleave.param @w : tensor<4x8xf32> = #cleave.weights<"m.onnx", 64, 128> sharding <@stage0, [{}, {"tp"}:4]> {true_shape = array<i64: 32>}

// CHECK-LABEL: func.func @main
// CHECK-SAME: cleave.sharding = #cleave.sharding<@stage0, [{"dp", "tp"}, {}], partial<max, {"tp"}>>
func.func @main(%x: tensor<2x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"dp", "tp"}, {}], partial<max, {"tp"}>>}) -> tensor<2x8xf32> {
  // CHECK: cleave.load @w : tensor<4x8xf32>
  %w = cleave.load @w : tensor<4x8xf32>
  // CHECK: cleave.dot %{{.*}}, %{{.*}} {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.unary gelu_erf %{{.*}} : tensor<2x8xf32>
  %g = cleave.unary gelu_erf %y : tensor<2x8xf32>
  // CHECK: cleave.binary add %{{.*}}, %{{.*}} : tensor<2x8xf32>
  %b = cleave.binary add %g, %y : tensor<2x8xf32>
  // CHECK: cleave.compare lt %{{.*}}, %{{.*}} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  %c = cleave.compare lt %g, %y : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  // CHECK: cleave.select
  %s = cleave.select %c, %g, %y : (tensor<2x8xi1>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.constant dense<1.000000e+00> : tensor<8xf32>
  %one = cleave.constant dense<1.0> : tensor<8xf32>
  // CHECK: cleave.norm layer
  %n = cleave.norm layer %s, %one {axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.reduce sum %{{.*}} {dims = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  %r = cleave.reduce sum %n {dims = array<i64: 1>} : (tensor<2x8xf32>) -> tensor<2xf32>
  // CHECK: cleave.broadcast %{{.*}} {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  %br = cleave.broadcast %r {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.reshard %{{.*}} <@stage0, [{"dp"}, {}]> : tensor<2x8xf32>
  %h = cleave.reshard %br <@stage0, [{"dp"}, {}]> : tensor<2x8xf32>
  // CHECK: cleave.all_reduce sum %{{.*}} @stage0 ["tp"] : tensor<2x8xf32>
  %ar = cleave.all_reduce sum %h @stage0 ["tp"] : tensor<2x8xf32>
  // CHECK: cleave.all_gather %{{.*}} @stage0 ["tp"] {dim = 0 : i64} : (tensor<2x8xf32>) -> tensor<4x8xf32>
  %ag = cleave.all_gather %ar @stage0 ["tp"] {dim = 0 : i64} : (tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: cleave.reduce_scatter sum %{{.*}} @stage0 ["tp"] {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %rs = cleave.reduce_scatter sum %ag @stage0 ["tp"] {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  // CHECK: cleave.send %{{.*}} pairs [0, 2, 1, 3] tag 7 : tensor<2x8xf32>
  cleave.send %rs pairs [0, 2, 1, 3] tag 7 : tensor<2x8xf32>
  // CHECK: cleave.recv pairs [2, 0, 3, 1] tag 8 : tensor<2x8xf32>
  %rc = cleave.recv pairs [2, 0, 3, 1] tag 8 : tensor<2x8xf32>
  // CHECK: cleave.axis_index @stage0 ["dp", "tp"] : tensor<i64>
  %i = cleave.axis_index @stage0 ["dp", "tp"] : tensor<i64>
  // CHECK: cleave.take_shard
  %t = cleave.take_shard %rc, %i {dim = 1 : i64} : (tensor<2x8xf32>, tensor<i64>) -> tensor<2x4xf32>
  // CHECK: cleave.mask
  %m = cleave.mask %t, %i {dim = 1 : i64, size = 7 : i64, fill = 0.0 : f64} : (tensor<2x4xf32>, tensor<i64>) -> tensor<2x4xf32>
  // CHECK: %{{.*}} = cleave.kernel loop(%{{.*}}, %{{.*}}) {cleave.buffers = [#cleave.buffer<arena 0, 64, [8, 1]>]} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  %k = cleave.kernel loop(%rc, %b) {cleave.buffers = [#cleave.buffer<arena 0, 64, [8, 1]>]} : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%p: tensor<2x8xf32>, %q: tensor<2x8xf32>):
    %sum = cleave.binary add %p, %q : tensor<2x8xf32>
    // CHECK: cleave.yield %{{.*}} : tensor<2x8xf32>
    cleave.yield %sum : tensor<2x8xf32>
  }
  return %k : tensor<2x8xf32>
}

// Tests the ops of the logical level that @main does not use.
// CHECK-LABEL: func.func @logical
func.func @logical(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %v: tensor<4x6x3x3xf32>, %i: tensor<3xi64>) {
  // CHECK: cleave.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  %conv = cleave.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: cleave.conv {{.*}}transposed} : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x18x18xf32>
  %up = cleave.conv %x, %v {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 1>, transposed} : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x18x18xf32>
  // CHECK: cleave.resize cubic %{{.*}} {coordinates = "half_pixel", cubic_coeff = -5.000000e-01 : f64, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  %resize = cleave.resize cubic %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = "half_pixel", cubic_coeff = -0.5 : f64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x16x16xf32>
  // CHECK: cleave.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %attention = cleave.attention %x, %x, %x {scale = 0.25 : f64, causal} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: cleave.softmax %{{.*}} {dim = 3 : i64, log} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %softmax = cleave.softmax %x {dim = 3 : i64, log} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: cleave.norm rms %{{.*}} {axis = 3 : i64, epsilon = 9.9999999999999995E-7 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %rms = cleave.norm rms %x {axis = 3 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  // CHECK: cleave.slice %{{.*}} {sizes = array<i64: 1, 1, 3, 8>, starts = array<i64: 0, 2, 1, 0>, strides = array<i64: 1, 1, 2, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x1x3x8xf32>
  %slice = cleave.slice %x {starts = array<i64: 0, 2, 1, 0>, sizes = array<i64: 1, 1, 3, 8>, strides = array<i64: 1, 1, 2, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x1x3x8xf32>
  // CHECK: cleave.reshape %{{.*}} : (tensor<1x1x3x8xf32>) -> tensor<3x8xf32>
  %logits = cleave.reshape %slice : (tensor<1x1x3x8xf32>) -> tensor<3x8xf32>
  // CHECK: cleave.transpose %{{.*}} {perm = array<i64: 1, 0>} : (tensor<3x8xf32>) -> tensor<8x3xf32>
  %transpose = cleave.transpose %logits {perm = array<i64: 1, 0>} : (tensor<3x8xf32>) -> tensor<8x3xf32>
  // CHECK: cleave.pad %{{.*}} {high = array<i64: 0, 2>, low = array<i64: 1, 0>, value = -1.000000e+00 : f64} : (tensor<3x8xf32>) -> tensor<4x10xf32>
  %pad = cleave.pad %logits {low = array<i64: 1, 0>, high = array<i64: 0, 2>, value = -1.0 : f64} : (tensor<3x8xf32>) -> tensor<4x10xf32>
  // CHECK: cleave.concat %{{.*}}, %{{.*}} {dim = 1 : i64} : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x16xf32>
  %concat = cleave.concat %logits, %logits {dim = 1 : i64} : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x16xf32>
  // CHECK: cleave.gather %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<3x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %gather = cleave.gather %logits, %i {dim = 0 : i64} : (tensor<3x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  // CHECK: cleave.iota {dim = 1 : i64} : tensor<3x8xi64>
  %iota = cleave.iota {dim = 1 : i64} : tensor<3x8xi64>
  // CHECK: cleave.cast %{{.*}} : (tensor<3x8xi64>) -> tensor<3x8xf16>
  %cast = cleave.cast %iota : (tensor<3x8xi64>) -> tensor<3x8xf16>
  // CHECK: cleave.cross_entropy %{{.*}}, %{{.*}} {ignore_index = -1 : i64} : (tensor<3x8xf32>, tensor<3xi64>) -> tensor<3xf32>
  %loss = cleave.cross_entropy %logits, %i {ignore_index = -1 : i64} : (tensor<3x8xf32>, tensor<3xi64>) -> tensor<3xf32>
  // CHECK: cleave.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}} : (tensor<3x8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3x8xf32>
  %grad = cleave.cross_entropy_grad %logits, %i, %loss : (tensor<3x8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3x8xf32>
  return
}

// CHECK: cleave.mesh @time = <["tp"=2], ranks = [0, 1], micro_batches = 2>
cleave.mesh @time = <["tp"=2], ranks = [0, 1], micro_batches = 2>
// CHECK: cleave.param @s : tensor<4xf32> = dense<0.000000e+00> : tensor<4xf32> sharding <@time, [{"tp"}]>
cleave.param @s : tensor<4xf32> = dense<0.0> : tensor<4xf32> sharding <@time, [{"tp"}]>

// Tests the ops of a step in micro-batches.
// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {cleave.mesh = @time} {
  %zero = cleave.constant dense<0.0> : tensor<2xf32>
  // CHECK: %{{.*}}:3 = cleave.chunk "forward"(%{{.*}}) {slots = 2 : i64, stacked = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %sum, %kept, %y = cleave.chunk "forward"(%zero) {slots = 2 : i64, stacked = 1 : i64} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  ^bb0(%acc: tensor<2xf32>):
    // CHECK: cleave.axis_index @time ["mb"] : tensor<i64>
    %m = cleave.axis_index @time ["mb"] : tensor<i64>
    // CHECK: cleave.take_shard %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<2x2xf32>, tensor<i64>) -> tensor<1x2xf32>
    %row = cleave.take_shard %x, %m {dim = 0 : i64} : (tensor<2x2xf32>, tensor<i64>) -> tensor<1x2xf32>
    %flat = cleave.reshape %row : (tensor<1x2xf32>) -> tensor<2xf32>
    // CHECK: cleave.all_to_all %{{.*}} @time ["tp"] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %turned = cleave.all_to_all %x @time ["tp"] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    // CHECK: cleave.copy %{{.*}} : tensor<2x2xf32>
    %copy = cleave.copy %turned : tensor<2x2xf32>
    %new = cleave.binary add %acc, %flat : tensor<2xf32>
    cleave.yield %new, %copy, %new : tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>
  }
  // CHECK: cleave.schedule [#cleave.loop<1 x ["forward" 0]>, #cleave.loop<1 x ["forward" 1]>]
  cleave.schedule [#cleave.loop<1 x ["forward" 0]>, #cleave.loop<1 x ["forward" 1]>]
  // CHECK: cleave.store %{{.*}}, @s : tensor<2xf32>
  cleave.store %sum, @s : tensor<2xf32>
  // CHECK: cleave.buffers = [#cleave.buffer<arena 0, 64, [2, 1], ring = 2 x 64>]
  %view = cleave.copy %y {cleave.buffers = [#cleave.buffer<arena 0, 64, [2, 1], ring = 2 x 64>]} : tensor<2x2xf32>
  return %view : tensor<2x2xf32>
}
