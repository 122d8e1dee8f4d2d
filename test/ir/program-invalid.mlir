// RUN: cleave-opt %s --split-input-file --verify-diagnostics

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

// -----

// Tests that a kernel's arguments have the types of its operands.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{block arguments must have the types of the operands}}
  %k = cleave.kernel loop(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf64>):
    cleave.yield %x : tensor<4xf32>
  }
  return
}

// -----

// Tests that a chunk's arguments have the types of its inits.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{block arguments must have the types of the inits}}
  cleave.chunk "forward"(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf64>):
    cleave.yield
  }
  return
}

// -----

// Tests that a stacked result has one leading dim more.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{result 0 does not fit the yield of 'tensor<4xf32>'}}
  %y = cleave.chunk "forward"() {stacked = 1 : i64} : () -> tensor<4xf32> {
    cleave.yield %x : tensor<4xf32>
  }
  return
}

// -----

// Tests that a prepare yields its results.
func.func @f() {
  // expected-error @+1 {{must have no arguments and end in a yield of the result types}}
  %p = cleave.prepare : tensor<4xf32> {
    cleave.yield
  }
  return
}

// -----

// Tests that a prepare does not read what the step gets.
func.func @f(%x: tensor<4xf32>) {
  cleave.prepare {
    // expected-error @+1 {{reads a value from outside of its prepare}}
    %y = cleave.unary exp %x : tensor<4xf32>
    cleave.yield
  }
  return
}

// -----

// Tests that a prepare does not communicate.
cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
cleave.param @w : tensor<4xf32> = dense<1.0> : tensor<4xf32>
func.func @f() {
  cleave.prepare {
    %w = cleave.load @w : tensor<4xf32>
    // expected-error @+1 {{cannot run before the first step}}
    %s = cleave.all_reduce sum %w @stage0 ["tp"] : tensor<4xf32>
    cleave.yield
  }
  return
}
