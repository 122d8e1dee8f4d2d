// RUN: cleave-opt %s --split-input-file --verify-diagnostics

// Tests that a mesh lists one rank for each coordinate.
// expected-error @+1 {{mesh of 2 coordinates lists 1 ranks}}
cleave.mesh @m = <["tp"=2], ranks = [0]>

// -----

// Tests that axis names are unique.
// expected-error @+1 {{mesh axis names must be unique}}
cleave.mesh @m = <["tp"=1, "tp"=1], ranks = [0]>

// -----

// Tests that no axis of ranks takes the name of the axis in time.
// expected-error @+1 {{not "mb"}}
cleave.mesh @m = <["mb"=1], ranks = [0]>

// -----

// Tests that weights have the bytes of their type.
// expected-error @+1 {{has 16 bytes of weights, its type}}
cleave.param @w : tensor<8xf32> = #cleave.weights<"m.onnx", 0, 16>

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

// Tests that a reshard names axes of its mesh.
cleave.mesh @m = <["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{names axis "dp"}}
  %a = cleave.reshard %x <@m, [{"dp"}, {}]> : tensor<4x4xf32>
  return
}

// -----

// Tests that a reshard uses an axis once.
cleave.mesh @m = <["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{uses axis "tp" twice}}
  %a = cleave.reshard %x <@m, [{"tp"}, {"tp"}]> : tensor<4x4xf32>
  return
}

// -----

// Tests that a block divides its dim.
cleave.mesh @m = <["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{block 3 does not divide dim 0}}
  %a = cleave.reshard %x <@m, [{"tp"}:3, {}]> : tensor<4x4xf32>
  return
}

// -----

// Tests that no reshard makes a partial value.
cleave.mesh @m = <["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{cannot make a partial value}}
  %a = cleave.reshard %x <@m, [{}, {}], partial<sum, {"tp"}>> : tensor<4x4xf32>
  return
}

// -----

// Tests that a gather has one part for each rank.
cleave.mesh @m = <["tp"=2], ranks = [0, 1]>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{for 2 parts of 'tensor<4xf32>'}}
  %a = cleave.all_gather %x @m ["tp"] {dim = 0 : i64} : (tensor<4xf32>) -> tensor<12xf32>
  return
}

// -----

// Tests that a send names a receiver for each sender.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{pairs must list a sender and a receiver each}}
  cleave.send %x pairs [0, 1, 2] tag 0 : tensor<4xf32>
  return
}

// -----

// Tests that a kernel yields its results.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must end in a yield of the result types}}
  %k = cleave.kernel loop(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    cleave.yield
  }
  return
}

// -----

// Tests that carried values keep their type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{must yield 0 values, the 1 carried ones first}}
  cleave.chunk "forward"(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    cleave.yield
  }
  return
}

// -----

// Tests that a schedule calls every chunk for every micro-batch, in order.
func.func @f() {
  cleave.chunk "forward"() : () -> () {
    cleave.yield
  }
  // expected-error @+1 {{must call chunk "forward" once for each of 2 micro-batches, in order}}
  cleave.schedule [#cleave.loop<1 x ["forward" 1]>, #cleave.loop<1 x ["forward" 0]>]
  return
}

// -----

// Tests that a schedule calls chunks of its function.
func.func @f() {
  // expected-error @+1 {{calls a chunk that the function does not have}}
  cleave.schedule [#cleave.loop<1 x ["forward" 0]>]
  return
}
