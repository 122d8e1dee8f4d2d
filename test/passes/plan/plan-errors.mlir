// What the planner refuses, in the words of the user's flags.
// RUN: split-file %s %t

// Tests sizes that are impossible or do not multiply to the ranks.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=tp=-1 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: --tp must be from 1 to 65536, found -1
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=tp=1000000 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: --tp must be from 1 to 65536, found 1000000
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=tp=4096 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: --tp 4096 leaves nothing to some ranks: the largest dim of the model is 2048
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 dp=2 ranks=3" 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: the plan needs 4 ranks or a multiple (--dp 2 --tp 2), but --ranks is 3
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 dp=2 pp=1 ranks=8" 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: error: the plan needs 4 ranks (--dp 2 --tp 2 --pp 1), but --ranks is 8
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=4 cluster=%t/two.yaml" 2>&1 | FileCheck %s --check-prefix=CLUSTER
// CLUSTER: error: the plan needs 4 ranks or a multiple (--tp 4), but the cluster has 2
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="ranks=4 cluster=%t/two.yaml" 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: --ranks is 4, but the cluster has 2
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=dp=9 2>&1 | FileCheck %s --check-prefix=BATCH
// BATCH: error: --dp 9: input 'x' has batch 8 in dim 0, which leaves nothing to some of 9 ranks; --dp 8 is the most
// RUN: not cleave-opt %t/empty-batch.mlir --cleave-plan=dp=2 2>&1 | FileCheck %s --check-prefix=NOBATCH
// NOBATCH: error: --dp 2: input 'x' has batch 0 in dim 0, which leaves nothing to divide
// RUN: not cleave-opt %t/no-input.mlir --cleave-plan=dp=2 2>&1 | FileCheck %s --check-prefix=NOINPUT
// NOINPUT: error: --dp 2: the model has no input with a batch
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="dp=3 microbatches=2" 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: --microbatches 2 x --dp 3: input 'x' has batch 8 in dim 0, which does not divide into 6 equal parts
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=pp=4 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: --pp 4: cannot cut 3 nodes into 4 stages
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=objective=fast 2>&1 | FileCheck %s --check-prefix=GOAL
// GOAL: error: objective must be automatic, balanced, time or memory, found 'fast'

// Tests patterns that fit nothing, speak of unknown axes, or have the wrong form.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=foo*=-,tp" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: shard pattern 'foo*=-,tp' fits no input, parameter or value of the model
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up=-,-,tp" 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: error: shard pattern 'up=-,-,tp' has 3 dims, but what it names has not: 'up' is 'tensor<512x2048xf32>'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up=-,xp" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: shard pattern 'up=-,xp' names axis 'xp', expected one of dp, tp
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up=tp,tp" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: shard pattern 'up=tp,tp' uses axis 'tp' twice
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: shard pattern 'up' must be GLOB=DIMS, as 'w*=-,tp'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up=-,tp:x" 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: error: shard pattern 'up=-,tp:x': block 'x' is not a positive integer

// Tests patterns that contradict each other, at the tensor; and what cannot be split.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up=-,tp;u*=tp,-" 2>&1 | FileCheck %s --check-prefix=CONTRA
// CONTRA: error: shard pattern 'u*=tp,-' and shard pattern 'up=-,tp' contradict each other on param 'up'
// RUN: not cleave-opt %t/norm.mlir --cleave-plan="tp=2 shards=n=-,tp" 2>&1 | FileCheck %s --check-prefix=CANNOT
// CANNOT: norm.mlir:2:8: error: shard pattern 'n=-,tp': the result of 'n' cannot be laid over axis 'tp' of size 2 like this

// Tests stage patterns.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="pp=2 stages=act=2" 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: stage pattern 'act=2' names stage 2, but the plan has 2 stages, numbered from 0
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="pp=2 stages=foo=1" 2>&1 | FileCheck %s --check-prefix=NODE
// NODE: error: stage pattern 'foo=1' fits no node of the model
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="pp=2 stages=act=1;a*=0" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: mlp.onnx:2:1: error: stage pattern 'a*=0' puts node 'act' in stage 0, another pin puts it in stage 1
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="pp=2 stages=fc1=1;fc2=0" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: mlp.onnx:3:1: error: stage pins contradict the order of the program: 'fc2' is pinned to stage 0, but comes after 'fc1' in stage 1
// ORDER: mlp.onnx:1:1: note: 'fc1' is here
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="pp=2 stages=*=1" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: the stage pins leave one of 2 stages without a node

// Tests that a planned module is not planned again, and that something must be there.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan -o %t/planned.mlir
// RUN: not cleave-opt %t/planned.mlir --cleave-plan 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: the module has a mesh: it is planned already
// RUN: not cleave-opt %t/empty.mlir --cleave-plan 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: nothing to plan: the module has no function @main

//--- mlp.mlir
cleave.param @up : tensor<512x2048xf32>
cleave.param @down : tensor<2048x512xf32>
func.func @main(%x: tensor<8x512xf32> {cleave.name = "x"}) -> (tensor<8x512xf32> {cleave.name = "y"}) {
  %up = cleave.load @up : tensor<512x2048xf32>
  %h = cleave.dot %x, %up {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x512xf32>, tensor<512x2048xf32>) -> tensor<8x2048xf32> loc("fc1"("mlp.onnx":1:1))
  %a = cleave.unary relu %h : tensor<8x2048xf32> loc("act"("mlp.onnx":2:1))
  %down = cleave.load @down : tensor<2048x512xf32>
  %y = cleave.dot %a, %down {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x2048xf32>, tensor<2048x512xf32>) -> tensor<8x512xf32> loc("fc2"("mlp.onnx":3:1))
  return %y : tensor<8x512xf32>
}

//--- norm.mlir
func.func @main(%x: tensor<8x16xf32> {cleave.name = "x"}) -> (tensor<8x16xf32> {cleave.name = "y"}) {
  %n = cleave.norm rms %x {axis = 1 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("n"("norm.mlir":2:8))
  return %n : tensor<8x16xf32>
}

//--- empty-batch.mlir
func.func @main(%x: tensor<0x16xf32> {cleave.name = "x"}) -> (tensor<0x16xf32> {cleave.name = "y"}) {
  %y = cleave.unary relu %x : tensor<0x16xf32>
  return %y : tensor<0x16xf32>
}

//--- no-input.mlir
cleave.param @w : tensor<8x16xf32>
func.func @main() -> (tensor<8x16xf32> {cleave.name = "y"}) {
  %w = cleave.load @w : tensor<8x16xf32>
  %y = cleave.unary relu %w : tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

//--- empty.mlir
cleave.param @up : tensor<512x2048xf32>

//--- two.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core, per_node: 2, link: shm}
links:
  shm: {latency: 7us, bandwidth: 12GB/s}
