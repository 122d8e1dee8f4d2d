// Execution twin: a training step of a two-layer perceptron, as differentiate and add-optimizer make it.
// RUN: %python %S/inputs/run_ranks.py %s

// 2 stages x 2 data ranks x 3 tensor ranks, 2 micro-batches, 7 rows: uneven everywhere. Backward ops are in the stage of
// the op that they come from, updates in that of their param.
cleave.param @cleave.lr : tensor<f32> = dense<5.000000e-01> : tensor<f32>
cleave.param @w1 : tensor<4x6xf32> sharding #cleave.sharding<@stage0, [{}, {"tp"}]> {trainable}
cleave.param @b1 : tensor<6xf32> {trainable}
cleave.param @w2 : tensor<6x3xf32> sharding #cleave.sharding<@stage1, [{"tp"}, {}]> {trainable}
cleave.mesh @stage0 = #cleave.mesh_shape<["dp"=2, "tp"=3], ranks = [0, 1, 2, 3, 4, 5], micro_batches = 2>
cleave.mesh @stage1 = #cleave.mesh_shape<["dp"=2, "tp"=3], ranks = [6, 7, 8, 9, 10, 11], micro_batches = 2>
func.func @main(%arg0: tensor<7x4xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{"mb", "dp"}, {}]>}, %arg1: tensor<7xi64> {cleave.name = "t", cleave.sharding = #cleave.sharding<@stage1, [{"mb", "dp"}]>}) -> (tensor<f32> {cleave.name = "loss"}) {
  %0 = cleave.load @w1 : tensor<4x6xf32>
  %1 = cleave.load @b1 : tensor<6xf32>
  %2 = cleave.load @w2 : tensor<6x3xf32>
  %3 = cleave.dot %arg0, %0 {cleave.stage = 0 : i64, lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<7x4xf32>, tensor<4x6xf32>) -> tensor<7x6xf32>
  %4 = cleave.broadcast %1 {cleave.stage = 0 : i64, dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<7x6xf32>
  %5 = cleave.binary add %3, %4 {cleave.stage = 0 : i64} : tensor<7x6xf32>
  %6 = cleave.unary tanh %5 {cleave.stage = 0 : i64} : tensor<7x6xf32>
  %7 = cleave.dot %6, %2 {cleave.stage = 1 : i64, lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<7x6xf32>, tensor<6x3xf32>) -> tensor<7x3xf32>
  %8 = cleave.constant dense<3> : tensor<7xi64>
  %9 = cleave.binary mod %arg1, %8 : tensor<7xi64>
  %10 = cleave.cross_entropy %7, %9 {cleave.stage = 1 : i64} : (tensor<7x3xf32>, tensor<7xi64>) -> tensor<7xf32>
  %11 = cleave.reduce sum %10 {cleave.stage = 1 : i64, dims = array<i64: 0>} : (tensor<7xf32>) -> tensor<f32>
  %12 = cleave.constant dense<0.142857149> : tensor<f32>
  %13 = cleave.binary mul %11, %12 {cleave.stage = 1 : i64} : tensor<f32>
  %14 = cleave.constant {cleave.origin = 10 : i64} dense<1.000000e+00> : tensor<f32>
  %15 = cleave.binary mul %14, %12 {cleave.origin = 10 : i64, cleave.stage = 1 : i64} : tensor<f32>
  %16 = cleave.broadcast %15 {cleave.origin = 9 : i64, cleave.stage = 1 : i64, dims = array<i64>} : (tensor<f32>) -> tensor<7xf32>
  %17 = cleave.cross_entropy_grad %7, %9, %16 {cleave.origin = 8 : i64, cleave.stage = 1 : i64} : (tensor<7x3xf32>, tensor<7xi64>, tensor<7xf32>) -> tensor<7x3xf32>
  %18 = cleave.dot %17, %2 {cleave.origin = 7 : i64, cleave.stage = 1 : i64, lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>} : (tensor<7x3xf32>, tensor<6x3xf32>) -> tensor<7x6xf32>
  %19 = cleave.dot %17, %6 {cleave.origin = 7 : i64, cleave.stage = 1 : i64, lhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<7x3xf32>, tensor<7x6xf32>) -> tensor<3x6xf32>
  %20 = cleave.transpose %19 {cleave.origin = 7 : i64, cleave.stage = 1 : i64, perm = array<i64: 1, 0>} : (tensor<3x6xf32>) -> tensor<6x3xf32>
  %21 = cleave.constant {cleave.origin = 6 : i64} dense<1.000000e+00> : tensor<7x6xf32>
  %22 = cleave.binary mul %6, %6 {cleave.origin = 6 : i64, cleave.stage = 0 : i64} : tensor<7x6xf32>
  %23 = cleave.binary sub %21, %22 {cleave.origin = 6 : i64, cleave.stage = 0 : i64} : tensor<7x6xf32>
  %24 = cleave.binary mul %18, %23 {cleave.origin = 6 : i64, cleave.stage = 0 : i64} : tensor<7x6xf32>
  %25 = cleave.reduce sum %24 {cleave.origin = 4 : i64, cleave.stage = 0 : i64, dims = array<i64: 0>} : (tensor<7x6xf32>) -> tensor<6xf32>
  %26 = cleave.dot %24, %arg0 {cleave.origin = 3 : i64, cleave.stage = 0 : i64, lhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<7x6xf32>, tensor<7x4xf32>) -> tensor<6x4xf32>
  %27 = cleave.transpose %26 {cleave.origin = 3 : i64, cleave.stage = 0 : i64, perm = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %28 = cleave.load @cleave.lr : tensor<f32>
  %29 = cleave.load @w1 : tensor<4x6xf32>
  %30 = cleave.broadcast %28 {cleave.stage = 0 : i64, dims = array<i64>} : (tensor<f32>) -> tensor<4x6xf32>
  %31 = cleave.binary mul %30, %27 {cleave.stage = 0 : i64} : tensor<4x6xf32>
  %32 = cleave.binary sub %29, %31 {cleave.stage = 0 : i64} : tensor<4x6xf32>
  cleave.store %32, @w1 {cleave.stage = 0 : i64} : tensor<4x6xf32>
  %33 = cleave.load @b1 : tensor<6xf32>
  %34 = cleave.broadcast %28 {cleave.stage = 0 : i64, dims = array<i64>} : (tensor<f32>) -> tensor<6xf32>
  %35 = cleave.binary mul %34, %25 {cleave.stage = 0 : i64} : tensor<6xf32>
  %36 = cleave.binary sub %33, %35 {cleave.stage = 0 : i64} : tensor<6xf32>
  cleave.store %36, @b1 {cleave.stage = 0 : i64} : tensor<6xf32>
  %37 = cleave.load @w2 : tensor<6x3xf32>
  %38 = cleave.broadcast %28 {cleave.stage = 1 : i64, dims = array<i64>} : (tensor<f32>) -> tensor<6x3xf32>
  %39 = cleave.binary mul %38, %20 {cleave.stage = 1 : i64} : tensor<6x3xf32>
  %40 = cleave.binary sub %37, %39 {cleave.stage = 1 : i64} : tensor<6x3xf32>
  cleave.store %40, @w2 {cleave.stage = 1 : i64} : tensor<6x3xf32>
  return %13 : tensor<f32>
}
