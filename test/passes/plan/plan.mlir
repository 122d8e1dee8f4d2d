// What the planner writes, and that it splits where it pays. Numbers by hand.
// RUN: split-file %s %t

// Tests that two products share one reduction: the first is split by columns, the
// second by rows, and what lies between stays split.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan=tp=2 | FileCheck %s --check-prefix=TP2
// TP2-DAG: cleave.predictions = {{.*}}gathers = 0 : i64, {{.*}}reductions = 1 : i64, search = "exact", {{.*}} weight_bytes_per_rank = [4194304]
// TP2: cleave.mesh @stage0 = <["tp"=2], ranks = [0, 1]>
// TP2: cleave.param @up : tensor<512x2048xf32> sharding <@stage0, [{}, {"tp"}]>
// TP2: cleave.param @down : tensor<2048x512xf32> sharding <@stage0, [{"tp"}, {}]>
// TP2: %arg0: tensor<8x512xf32> {cleave.name = "x", cleave.sharding = #cleave.sharding<@stage0, [{}, {}]>}
// TP2-SAME: -> (tensor<8x512xf32> {cleave.name = "y", cleave.sharding = #cleave.sharding<@stage0, [{}, {}]>})
// TP2: cleave.load @up {cleave.shardings = [#cleave.sharding<@stage0, [{}, {"tp"}]>]}
// TP2: cleave.dot {{.*}}cleave.shardings = [#cleave.sharding<@stage0, [{}, {"tp"}]>]
// TP2: cleave.unary relu {{.*}}cleave.shardings = [#cleave.sharding<@stage0, [{}, {"tp"}]>]
// TP2: cleave.load @down {cleave.shardings = [#cleave.sharding<@stage0, [{"tp"}, {}]>]}
// TP2: cleave.dot {{.*}}cleave.shardings = [#cleave.sharding<@stage0, [{}, {}], partial<sum, {"tp"}>>]

// Tests that one rank gets a mesh without axes and no stage attribute.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan | FileCheck %s --check-prefix=ONE
// ONE: cleave.mesh @stage0 = <[], ranks = [0]>
// ONE: cleave.param @up : tensor<512x2048xf32> sharding <@stage0, [{}, {}]>
// ONE-NOT: cleave.stage

// Tests that dp splits the batch of inputs, 8 rows over 3 ranks, and gathers nothing
// before the output; parameters are whole.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan=dp=3 | FileCheck %s --check-prefix=DP3
// DP3-DAG: gathers = 1 : i64, {{.*}}reductions = 0 : i64
// DP3: cleave.mesh @stage0 = <["dp"=3], ranks = [0, 1, 2]>
// DP3: cleave.param @up : tensor<512x2048xf32> sharding <@stage0, [{}, {}]>
// DP3: %arg0: {{.*}}#cleave.sharding<@stage0, [{"dp"}, {}]>
// DP3: cleave.dot {{.*}}#cleave.sharding<@stage0, [{"dp"}, {}]>
// DP3: cleave.unary {{.*}}#cleave.sharding<@stage0, [{"dp"}, {}]>
// DP3: cleave.dot {{.*}}#cleave.sharding<@stage0, [{"dp"}, {}]>

// Tests that dp and tp share one mesh; tp varies fastest.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="dp=2 tp=2" | FileCheck %s --check-prefix=BOTH
// BOTH: cleave.mesh @stage0 = <["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
// BOTH: cleave.dot {{.*}}#cleave.sharding<@stage0, [{"dp"}, {"tp"}]>
// BOTH: cleave.dot {{.*}}#cleave.sharding<@stage0, [{"dp"}, {}], partial<sum, {"tp"}>>

// Tests that two stages take one product each, with their loads, and own the ranks
// 0 and 1; a value and a parameter name the mesh of their stage.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan=pp=2 | FileCheck %s --check-prefix=PP2
// PP2: cleave.mesh @stage0 = <[], ranks = [0]>
// PP2: cleave.mesh @stage1 = <[], ranks = [1]>
// PP2: cleave.param @up : {{.*}}<@stage0
// PP2: cleave.param @down : {{.*}}<@stage1
// PP2: -> (tensor<8x512xf32> {{{.*}}#cleave.sharding<@stage1
// PP2: cleave.dot {{.*}}@stage0{{.*}}cleave.stage = 0
// PP2: cleave.load @down {{.*}}@stage1{{.*}}cleave.stage = 1
// PP2: cleave.dot {{.*}}@stage1{{.*}}cleave.stage = 1

// Tests that ranks are numbered by stage, then dp, then tp.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="pp=2 dp=2 tp=2" | FileCheck %s --check-prefix=ALL
// ALL: cleave.mesh @stage0 = <["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>
// ALL: cleave.mesh @stage1 = <["dp"=2, "tp"=2], ranks = [4, 5, 6, 7]>

// Tests that micro-batches divide the batch before dp does, in time: no ranks more.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="dp=2 microbatches=2" | FileCheck %s --check-prefix=MB
// MB: cleave.mesh @stage0 = <["dp"=2], ranks = [0, 1], micro_batches = 2>
// MB: %arg0: {{.*}}#cleave.sharding<@stage0, [{"mb", "dp"}, {}]>
// MB: cleave.dot {{.*}}#cleave.sharding<@stage0, [{"mb", "dp"}, {}]>
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="microbatches=4" | FileCheck %s --check-prefix=MB4
// MB4: cleave.mesh @stage0 = <[], ranks = [0], micro_batches = 4>
// MB4: %arg0: {{.*}}#cleave.sharding<@stage0, [{"mb"}, {}]>

// Tests that patterns win over the search: the first product by rows, which takes
// a second collective.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="tp=2 shards=up=tp,-" | FileCheck %s --check-prefix=PIN
// PIN-DAG: gathers = 1 : i64, {{.*}}reductions = 1 : i64
// PIN: cleave.param @up : {{.*}}<@stage0, [{"tp"}, {}]>

// Tests that a stage pattern moves the cut, constants and loads with it.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="pp=2 stages=act=1" | FileCheck %s --check-prefix=MOVED
// MOVED: cleave.dot {{.*}}cleave.stage = 0
// MOVED: cleave.unary {{.*}}cleave.stage = 1

//--- mlp.mlir
cleave.param @up : tensor<512x2048xf32>
cleave.param @down : tensor<2048x512xf32>
func.func @main(%x: tensor<8x512xf32> {cleave.name = "x"}) -> (tensor<8x512xf32> {cleave.name = "y"}) {
  %up = cleave.load @up : tensor<512x2048xf32>
  %h = cleave.dot %x, %up {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x512xf32>, tensor<512x2048xf32>) -> tensor<8x2048xf32> loc("fc1")
  %a = cleave.unary relu %h : tensor<8x2048xf32> loc("act")
  %down = cleave.load @down : tensor<2048x512xf32>
  %y = cleave.dot %a, %down {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x2048xf32>, tensor<2048x512xf32>) -> tensor<8x512xf32> loc("fc2")
  return %y : tensor<8x512xf32>
}

// Tests that a flattened dim is split on whole heads where a reshape asks for it: 5
// heads of 8 over 3 ranks are chunks of 2 heads, not of 14 elements.
// RUN: cleave-opt %t/heads.mlir --cleave-plan="tp=3 shards=w=-,tp;heads=-,tp,-" | FileCheck %s --check-prefix=HEADS
// HEADS: cleave.param @w : {{.*}}<@stage0, [{}, {"tp"}:8]>
// HEADS: cleave.dot {{.*}}<@stage0, [{}, {"tp"}:8]>
// HEADS: cleave.reshape {{.*}}<@stage0, [{}, {"tp"}, {}]>
// HEADS: cleave.softmax {{.*}}<@stage0, [{}, {"tp"}, {}]>

//--- heads.mlir
cleave.param @w : tensor<4096x40xf32>
func.func @main(%x: tensor<16x4096xf32> {cleave.name = "x"}) -> (tensor<16x5x8xf32> {cleave.name = "y"}) {
  %w = cleave.load @w : tensor<4096x40xf32>
  %h = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<16x4096xf32>, tensor<4096x40xf32>) -> tensor<16x40xf32>
  %r = cleave.reshape %h : (tensor<16x40xf32>) -> tensor<16x5x8xf32> loc("heads")
  %y = cleave.softmax %r {dim = 2 : i64} : (tensor<16x5x8xf32>) -> tensor<16x5x8xf32>
  return %y : tensor<16x5x8xf32>
}

// Tests that the sum of two partial values stays partial, so that both products
// share one reduction.
// RUN: cleave-opt %t/sum.mlir --cleave-plan="tp=2 shards=u=tp,-;v=tp,-" | FileCheck %s --check-prefix=SUM
// SUM-DAG: reductions = 1 : i64
// SUM: cleave.binary add {{.*}}partial<sum, {"tp"}>

//--- sum.mlir
cleave.param @u : tensor<64x32xf32>
cleave.param @v : tensor<64x32xf32>
func.func @main(%x: tensor<8x64xf32> {cleave.name = "x"}) -> (tensor<8x32xf32> {cleave.name = "y"}) {
  %u = cleave.load @u : tensor<64x32xf32>
  %v = cleave.load @v : tensor<64x32xf32>
  %a = cleave.dot %x, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %b = cleave.dot %x, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %y = cleave.binary add %a, %b : tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// Tests that a stored value takes the layout of its parameter, and that a gradient
// over the batch is reduced once.
// RUN: cleave-opt %t/store.mlir --cleave-plan=dp=2 | FileCheck %s --check-prefix=STORE
// STORE-DAG: gathers = 0 : i64, {{.*}}reductions = 1 : i64
// STORE: cleave.param @w : {{.*}}<@stage0, [{}, {}]>
// STORE: cleave.dot {{.*}}<@stage0, [{}, {}], partial<sum, {"dp"}>>
// STORE: cleave.binary sub {{.*}}<@stage0, [{}, {}]>
// RUN: cleave-opt %t/store.mlir --cleave-plan=microbatches=2 | FileCheck %s --check-prefix=SUM2
// SUM2: cleave.dot {{.*}}<@stage0, [{}, {}], partial<sum, {"mb"}>>

//--- store.mlir
cleave.param @w : tensor<64x32xf32>
func.func @main(%x: tensor<8x64xf32> {cleave.name = "x"}, %dy: tensor<8x32xf32> {cleave.name = "dy"}) {
  %w = cleave.load @w : tensor<64x32xf32>
  %dw = cleave.dot %x, %dy {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x64xf32>, tensor<8x32xf32>) -> tensor<64x32xf32>
  %next = cleave.binary sub %w, %dw : tensor<64x32xf32>
  cleave.store %next, @w : tensor<64x32xf32>
  return
}

// Tests that a backward op is in the stage of the op it comes from, and an update in
// that of its gradient.
// RUN: cleave-opt %t/train.mlir --cleave-plan=pp=2 | FileCheck %s --check-prefix=TRAIN
// TRAIN: cleave.dot {{.*}}cleave.node = 0{{.*}}cleave.stage = 0
// TRAIN: cleave.dot {{.*}}cleave.node = 1{{.*}}cleave.stage = 1
// TRAIN: cleave.dot {{.*}}cleave.origin = 1{{.*}}cleave.stage = 1
// TRAIN: cleave.dot {{.*}}cleave.origin = 0{{.*}}cleave.stage = 0
// TRAIN: cleave.binary sub {{.*}}cleave.stage = 0
// TRAIN: cleave.store {{.*}}cleave.stage = 0

//--- train.mlir
cleave.param @u : tensor<16x16xf32>
cleave.param @v : tensor<16x16xf32>
func.func @main(%x: tensor<8x16xf32> {cleave.name = "x"}, %dy: tensor<8x16xf32> {cleave.name = "dy"}) -> (tensor<8x16xf32> {cleave.name = "y"}) {
  %u = cleave.load @u : tensor<16x16xf32>
  %v = cleave.load @v : tensor<16x16xf32>
  %h = cleave.dot %x, %u {cleave.node = 0 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %y = cleave.dot %h, %v {cleave.node = 1 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %dh = cleave.dot %dy, %v {cleave.origin = 1 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %du = cleave.dot %x, %dh {cleave.origin = 0 : i64, lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %next = cleave.binary sub %u, %du : tensor<16x16xf32>
  cleave.store %next, @u : tensor<16x16xf32>
  return %y : tensor<8x16xf32>
}
