// Two products whose weights both sides of a split can hold.
cleave.param @up : tensor<8x64xf32> = dense<0.25> : tensor<8x64xf32>
cleave.param @down : tensor<64x8xf32> = dense<0.5> : tensor<64x8xf32>
func.func @main(%x: tensor<4x8xf32> {cleave.name = "x"}) -> (tensor<4x8xf32> {cleave.name = "y"}) {
  %up = cleave.load @up : tensor<8x64xf32>
  %down = cleave.load @down : tensor<64x8xf32>
  %h = cleave.dot %x, %up {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x64xf32>) -> tensor<4x64xf32> loc("first")
  %r = cleave.unary relu %h : tensor<4x64xf32> loc("act")
  %y = cleave.dot %r, %down {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("second")
  return %y : tensor<4x8xf32>
}
