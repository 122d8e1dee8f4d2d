// Two layers, softmax cross-entropy, mean over the batch.
cleave.param @w1 : tensor<3x4xf32> = dense<[[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8], [-0.9, 1.0, 0.2, -0.4]]> : tensor<3x4xf32>
cleave.param @b1 : tensor<4xf32> = dense<[0.1, 0.2, -0.1, 0.0]> : tensor<4xf32>
cleave.param @w2 : tensor<4x5xf32> = dense<[[0.3, -0.1, 0.2, 0.5, -0.4], [0.7, 0.1, -0.3, 0.2, 0.6], [-0.5, 0.4, 0.1, -0.2, 0.3], [0.2, -0.6, 0.8, 0.1, -0.1]]> : tensor<4x5xf32>
cleave.param @b2 : tensor<5xf32> = dense<[0.0, 0.1, -0.2, 0.3, -0.1]> : tensor<5xf32>

func.func @main(%x: tensor<4x3xf32> {cleave.name = "x"}, %labels: tensor<4xi64> {cleave.name = "labels"}) -> (tensor<f32> {cleave.name = "loss"}, tensor<4x5xf32> {cleave.name = "logits"}) {
  %w1 = cleave.load @w1 : tensor<3x4xf32>
  %b1 = cleave.load @b1 : tensor<4xf32>
  %w2 = cleave.load @w2 : tensor<4x5xf32>
  %b2 = cleave.load @b2 : tensor<5xf32>
  %h0 = cleave.dot %x, %w1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %c1 = cleave.broadcast %b1 {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %h1 = cleave.binary add %h0, %c1 : tensor<4x4xf32>
  %h = cleave.unary relu %h1 : tensor<4x4xf32>
  %y0 = cleave.dot %h, %w2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %c2 = cleave.broadcast %b2 {dims = array<i64: 1>} : (tensor<5xf32>) -> tensor<4x5xf32>
  %logits = cleave.binary add %y0, %c2 : tensor<4x5xf32>
  %rows = cleave.cross_entropy %logits, %labels {} : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<4xf32>
  %sum = cleave.reduce sum %rows {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %quarter = cleave.constant dense<0.25> : tensor<f32>
  %loss = cleave.binary mul %sum, %quarter : tensor<f32>
  return %loss, %logits : tensor<f32>, tensor<4x5xf32>
}
