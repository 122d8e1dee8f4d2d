// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that a param is a tensor of static shape.
// expected-error @+1 {{needs a ranked tensor with static shape, found 'tensor<?xf32>'}}
cleave.param @w : tensor<?xf32>

// -----

// Tests that weights have the bytes of their type.
// expected-error @+1 {{has 16 bytes of weights, its type}}
cleave.param @w : tensor<8xf32> = #cleave.weights<"m.onnx", 0, 16>

// -----

// Tests that a value has the type of its param.
// expected-error @+1 {{has a value of type 'tensor<2xf32>', expected 'tensor<8xf32>'}}
cleave.param @w : tensor<8xf32> = dense<1.0> : tensor<2xf32>

// -----

// Tests that the user's shape has as many elements.
// expected-error @+1 {{true_shape has 6 elements}}
cleave.param @w : tensor<8xf32> {true_shape = array<i64: 2, 3>}

// -----

// Tests that a load has the type of its symbol.
cleave.param @w : tensor<8xf32>
func.func @f() {
  // expected-error @+1 {{has type 'tensor<4xf32>', symbol @w has 'tensor<8xf32>'}}
  %w = cleave.load @w : tensor<4xf32>
  return
}

// -----

// Tests that a load names a symbol that is there.
func.func @f() {
  // expected-error @+1 {{names no param: @w}}
  %w = cleave.load @w : tensor<4xf32>
  return
}

// -----

// Tests that a store has the type of its symbol.
cleave.param @w : tensor<8xf32>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{has type 'tensor<4xf32>', symbol @w has 'tensor<8xf32>'}}
  cleave.store %x, @w : tensor<4xf32>
  return
}

// -----

// Tests that a symbol is stored once.
cleave.param @w : tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  cleave.store %x, @w : tensor<4xf32>
  // expected-error @+1 {{stores @w a second time}}
  cleave.store %x, @w : tensor<4xf32>
  return
}

// -----

// Tests that a load in a rank program has the local type.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
cleave.param @w : tensor<8xf32> sharding <@m, [{"a"}]>
func.func @f() attributes {cleave.mesh = @m} {
  // expected-error @+1 {{has type 'tensor<8xf32>', symbol @w has 'tensor<4xf32>'}}
  %w = cleave.load @w : tensor<8xf32>
  return
}

// -----

// Tests that the mesh of a sharded param is there.
cleave.param @w : tensor<8xf32> sharding <@m, [{"a"}]>
func.func @f() attributes {cleave.mesh = @m} {
  // expected-error @+1 {{symbol @w is sharded over an unknown mesh @m}}
  %w = cleave.load @w : tensor<4xf32>
  return
}

// -----

// Tests that the sharding of a loaded param has its rank.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
// expected-error @+1 {{sharding of 2 dims for a tensor of rank 1}}
cleave.param @w : tensor<8xf32> sharding <@m, [{"a"}, {}]>
func.func @f() attributes {cleave.mesh = @m} {
  %w = cleave.load @w : tensor<4xf32>
  return
}

// -----

// Tests that the block of a loaded param's sharding is positive.
cleave.mesh @m = <["a"=2, "b"=2], ranks = [0, 1, 2, 3]>
// expected-error @+1 {{block 0 does not divide dim 0}}
cleave.param @w : tensor<8xf32> sharding <@m, [{"a"}:0]>
func.func @f() attributes {cleave.mesh = @m} {
  %w = cleave.load @w : tensor<4xf32>
  return
}
