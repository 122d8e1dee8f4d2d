// RUN: %cleave-opt %s --cleave-insert-reshards --split-input-file --verify-diagnostics

// A partial result needs a reduction, or operands that are partial too.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{result is partial over "tp", but the op reduces nothing by sum and not all its operands are partial over "tp"}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{}], partial<sum, {"tp"}>>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// The kinds of reduction must agree.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{"tp"}]>}) -> tensor<f32> {
  // expected-error @+1 {{reduces nothing by max}}
  %a = cleave.reduce sum %x {dims = array<i64: 0>, cleave.shardings = [#cleave.sharding<@m, [], partial<max, {"tp"}>>]} : (tensor<4xf32>) -> tensor<f32>
  return %a : tensor<f32>
}

// -----

// Every value has a sharding.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{has a result without sharding}}
  %a = cleave.unary exp %x : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has an operand without sharding}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@m, [{}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// A partial value is reduced before it is laid out anew.
cleave.mesh @m = #cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}], partial<sum, {"tp"}>>}, %y: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{"dp"}], partial<sum, {"tp"}>>}) -> tensor<4xf32> {
  // expected-error @+1 {{a partial value cannot be laid out anew before it is reduced}}
  %a = cleave.binary add %x, %y {cleave.shardings = [#cleave.sharding<@m, [{"dp"}], partial<sum, {"tp"}>>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// Meshes that shardings name exist.
cleave.mesh @m = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>
func.func @main(%x: tensor<4xf32> {cleave.sharding = #cleave.sharding<@m, [{}]>}) -> tensor<4xf32> {
  // expected-error @+1 {{sharding names mesh @n, which the module does not have}}
  %a = cleave.unary exp %x {cleave.shardings = [#cleave.sharding<@n, [{}]>]} : tensor<4xf32>
  return %a : tensor<4xf32>
}
