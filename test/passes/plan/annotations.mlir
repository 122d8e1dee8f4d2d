// Annotations that a module carries are pins of the plan; numbers by hand. What an
// importer makes of a model's is in test/tools/annotations.test.
// RUN: split-file %s %t

// Tests that the number of devices is that of ranks, that two shards of columns are an axis
// of two ranks, and that a node's use of a tensor is pinned apart from how it is made: the
// relu of rows reads what was made in columns.
// RUN: cleave-opt %t/use.mlir --cleave-plan=pp=1 | FileCheck %s --check-prefix=USE
// USE: cleave.mesh @stage0 = <["[[A:dp|tp]]"=2], ranks = [0, 1]>
// USE: cleave.dot {{.*}}cleave.shardings = [#cleave.sharding<@stage0, [{}, {"[[A]]"}]>]
// USE: cleave.unary relu {{.*}}cleave.shardings = [#cleave.sharding<@stage0, [{"[[A]]"}, {}]>]

// Tests that dims that the program has unflattened are parts of the model's: of 12 columns
// as 3 heads of 4, a shard has whole heads, 2 and 1.
// RUN: cleave-opt %t/heads.mlir --cleave-plan=pp=1 | FileCheck %s --check-prefix=HEADS
// HEADS: cleave.param @w : tensor<8x3x4xf32> {{.*}}sharding <@stage0, [{}, {"{{dp|tp}}"}, {}]>

// Tests that a tensor that is no value of the program any more binds nothing, with a
// warning, and that stages may be numbered from 3.
// RUN: cleave-opt %t/missing.mlir --cleave-plan 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: warning: annotations of configuration 'c' for 1 tensor bind nothing, as the program computes them inside of other operations: 'gone'
// MISSING: cleave.dot {{.*}}cleave.stage = 0
// MISSING: cleave.unary {{.*}}cleave.stage = 1

// Tests that blocks that the program's dims cannot give are an error, and attributes of
// another form, too.
// RUN: not cleave-opt %t/blocks.mlir --cleave-plan="dp=1 tp=2 pp=1" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: annotation of tensor 'w' at node 'fc' splits axis 1 into 2 blocks, but the program has 'w' as 'tensor<8x3x4xf32>'
// RUN: not cleave-opt %t/form.mlir --cleave-plan 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: 'cleave.annotations' has not the form of ir/Annotations.h
// RUN: not cleave-opt %t/use.mlir --cleave-plan=configuration=d 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: there are no annotations for configuration 'd'

//--- use.mlir
module attributes {cleave.annotations = [{configuration = "c", devices = 2 : i64, stages = [], placements = [
    {node = "fc", tensor = "h", output, shape = array<i64: 8, 16>, dims = [array<i64: 1, 0, 2>], devices = [array<i64: 0>, array<i64: 1>]},
    {node = "act", tensor = "h", shape = array<i64: 8, 16>, dims = [array<i64: 0, 0, 2>], devices = [array<i64: 0>, array<i64: 1>]}]}]} {
  cleave.param @w : tensor<12x16xf32>
  func.func @main(%x: tensor<8x12xf32> {cleave.name = "x"}) -> (tensor<8x16xf32> {cleave.name = "y"}) {
    %w = cleave.load @w : tensor<12x16xf32>
    %h = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x12xf32>, tensor<12x16xf32>) -> tensor<8x16xf32> loc("fc"("tensor h"("m.onnx":1:1)))
    %y = cleave.unary relu %h : tensor<8x16xf32> loc("act"("tensor y"("m.onnx":2:1)))
    return %y : tensor<8x16xf32>
  }
}
//--- heads.mlir
module attributes {cleave.annotations = [{configuration = "c", devices = 2 : i64, stages = [], placements = [
    {node = "fc", tensor = "w", shape = array<i64: 8, 12>, dims = [array<i64: 1, 3, 2, 4, 1>], devices = [array<i64: 0>, array<i64: 1>]}]}]} {
  cleave.param @w : tensor<8x3x4xf32> {true_shape = array<i64: 8, 12>}
  func.func @main(%x: tensor<8x8xf32> {cleave.name = "x"}) -> (tensor<8x3x4xf32> {cleave.name = "y"}) {
    %w = cleave.load @w : tensor<8x3x4xf32>
    %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x3x4xf32>) -> tensor<8x3x4xf32> loc("fc"("tensor y"("m.onnx":1:1)))
    return %y : tensor<8x3x4xf32>
  }
}
//--- blocks.mlir
module attributes {cleave.annotations = [{configuration = "c", devices = 2 : i64, stages = [], placements = [
    {node = "fc", tensor = "w", shape = array<i64: 8, 12>, dims = [array<i64: 1, 2, 2, 6, 1>], devices = [array<i64: 0>, array<i64: 1>]}]}]} {
  cleave.param @w : tensor<8x3x4xf32> {true_shape = array<i64: 8, 12>}
  func.func @main(%x: tensor<8x8xf32> {cleave.name = "x"}) -> (tensor<8x3x4xf32> {cleave.name = "y"}) {
    %w = cleave.load @w : tensor<8x3x4xf32>
    %y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x3x4xf32>) -> tensor<8x3x4xf32> loc("fc"("tensor y"("m.onnx":1:1)))
    return %y : tensor<8x3x4xf32>
  }
}
//--- missing.mlir
module attributes {cleave.annotations = [{configuration = "c", devices = 2 : i64, stages = [{node = "fc", stage = 3 : i64}, {node = "act", stage = 4 : i64}], placements = [
    {node = "inner", tensor = "gone", output, shape = array<i64: 8, 16>, dims = [], devices = [array<i64: 0>]}]}]} {
  cleave.param @w : tensor<12x16xf32>
  func.func @main(%x: tensor<8x12xf32> {cleave.name = "x"}) -> (tensor<8x16xf32> {cleave.name = "y"}) {
    %w = cleave.load @w : tensor<12x16xf32>
    %h = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x12xf32>, tensor<12x16xf32>) -> tensor<8x16xf32> loc("fc"("tensor h"("m.onnx":1:1)))
    %y = cleave.unary relu %h : tensor<8x16xf32> loc("act"("tensor y"("m.onnx":2:1)))
    return %y : tensor<8x16xf32>
  }
}
//--- form.mlir
module attributes {cleave.annotations = [{configuration = "c"}]} {
  func.func @main(%x: tensor<8xf32> {cleave.name = "x"}) -> (tensor<8xf32> {cleave.name = "y"}) {
    %y = cleave.unary relu %x : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
