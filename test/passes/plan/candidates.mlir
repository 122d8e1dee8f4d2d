// How the ranks are divided when that is left open. Times by hand, in microseconds.
// RUN: split-file %s %t

// One product of 8 x 1000 by 1000 x 1000 (16 MFLOP) and one of 1000 x 1000 by that
// size: on ranks of 100 GFLOP/s, 160 each; memory and starts cost next to nothing.

// Tests that all divisions of two ranks are compared, those that cannot be with their
// reasons, and that the least time is first: a batch of 8 over dp halves both products.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="ranks=2 cluster=%t/near.yaml" | FileCheck %s --check-prefix=TWO
// TWO: cleave.candidates = [{{.*}}plan = "--dp 2", seconds = 1.6{{[0-9]*}}E-4 : f64}
// TWO-SAME: plan = "--tp 2"
// TWO-SAME: plan = "--pp 2 --microbatches 4"
// TWO: cleave.mesh @stage0 = <["dp"=2], ranks = [0, 1]>

// Tests that the ranks are those of the cluster where they are not said.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="cluster=%t/near.yaml" | FileCheck %s --check-prefix=TWO

// Tests that a slow link changes the choice: dp sends nothing before the output, so
// with one sample, tp and pp are left; tp sends twice a layer, pp once.
// RUN: cleave-opt %t/one.mlir --cleave-plan="cluster=%t/near.yaml" | FileCheck %s --check-prefix=NEAR
// NEAR: cleave.candidates = [{{.*}}plan = "--tp 2"
// NEAR-SAME: plan = "--dp 2", why_not = "--dp 2: input 'x' has batch 1 in dim 0, which leaves nothing to some of 2 ranks; --dp 1 is the most"
// RUN: cleave-opt %t/one.mlir --cleave-plan="cluster=%t/far.yaml" | FileCheck %s --check-prefix=FAR
// FAR: cleave.candidates = [{{.*}}plan = "--pp 2"
// FAR-SAME: note = "no split along tp pays: its ranks do the same", plan = "--tp 2"

// Tests that of about equal times the plan that communicates least is taken: dp has 100
// of 199 rows on the fuller rank, tp half of the columns, but sums over its ranks.
// RUN: cleave-opt %t/odd.mlir --cleave-plan="cluster=%t/fast.yaml" | FileCheck %s --check-prefix=ODD
// ODD: cleave.candidates = [{{.*}}plan = "--dp 2", seconds = 0.0040{{[0-9]*}}
// ODD-SAME: plan = "--tp 2", seconds = 0.0039{{[0-9]*}}

// Tests that given sizes restrict the choice.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="ranks=4 tp=2" | FileCheck %s --check-prefix=GIVEN --implicit-check-not="--tp 4" --implicit-check-not="--dp 4"
// GIVEN: cleave.candidates = [
// GIVEN-DAG: plan = "--dp 2 --tp 2"
// GIVEN-DAG: plan = "--tp 2 --pp 2"

// Tests that memory is a limit: 8 MB of weights fit in 5 MiB only by halves, which dp
// does not give.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="cluster=%t/small.yaml" | FileCheck %s --check-prefix=SMALL
// SMALL: cleave.candidates = [{{.*}}plan = "--tp 2"
// SMALL-SAME: plan = "--dp 2", why_not = "--dp 2: rank 0 needs 7.7 MiB of memory, 7.6 MiB of it for parameters, but a device 'core' has 5.0 MiB"

// Tests that a plan given by hand is checked against the memory too.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="dp=2 tp=1 pp=1 cluster=%t/small.yaml" 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error: --dp 2: rank 0 needs 7.7 MiB of memory

// Tests that when nothing is left, each reason is told, and how many ranks would do.
// RUN: not cleave-opt %t/tiny.mlir --cleave-plan=ranks=7 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: no plan for 7 ranks
// NONE-DAG: note: --dp 7: input 'x' has batch 1 in dim 0
// NONE-DAG: note: --tp 7 leaves nothing to some ranks: the largest dim of the model is 4
// NONE-DAG: note: --pp 7: cannot cut 1 nodes into 7 stages
// NONE: note: --ranks 4 is within these limits

//--- mlp.mlir
cleave.param @up : tensor<1000x1000xf32>
cleave.param @down : tensor<1000x1000xf32>
func.func @main(%x: tensor<8x1000xf32> {cleave.name = "x"}) -> (tensor<8x1000xf32> {cleave.name = "y"}) {
  %up = cleave.load @up : tensor<1000x1000xf32>
  %h = cleave.dot %x, %up {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x1000xf32>, tensor<1000x1000xf32>) -> tensor<8x1000xf32> loc("fc1")
  %down = cleave.load @down : tensor<1000x1000xf32>
  %y = cleave.dot %h, %down {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x1000xf32>, tensor<1000x1000xf32>) -> tensor<8x1000xf32> loc("fc2")
  return %y : tensor<8x1000xf32>
}
//--- one.mlir
cleave.param @up : tensor<1000x1000xf32>
cleave.param @down : tensor<1000x1000xf32>
func.func @main(%x: tensor<1x1000xf32> {cleave.name = "x"}) -> (tensor<1x1000xf32> {cleave.name = "y"}) {
  %up = cleave.load @up : tensor<1000x1000xf32>
  %h = cleave.dot %x, %up {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x1000xf32>, tensor<1000x1000xf32>) -> tensor<1x1000xf32> loc("fc1")
  %down = cleave.load @down : tensor<1000x1000xf32>
  %y = cleave.dot %h, %down {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x1000xf32>, tensor<1000x1000xf32>) -> tensor<1x1000xf32> loc("fc2")
  return %y : tensor<1x1000xf32>
}
//--- odd.mlir
cleave.param @up : tensor<1000x1000xf32>
cleave.param @down : tensor<1000x1000xf32>
cleave.param @out : tensor<1000x1xf32>
func.func @main(%x: tensor<199x1000xf32> {cleave.name = "x"}) -> (tensor<199x1xf32> {cleave.name = "y"}) {
  %up = cleave.load @up : tensor<1000x1000xf32>
  %h = cleave.dot %x, %up {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<199x1000xf32>, tensor<1000x1000xf32>) -> tensor<199x1000xf32> loc("fc1")
  %down = cleave.load @down : tensor<1000x1000xf32>
  %z = cleave.dot %h, %down {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<199x1000xf32>, tensor<1000x1000xf32>) -> tensor<199x1000xf32> loc("fc2")
  %r = cleave.unary relu %z : tensor<199x1000xf32> loc("act")
  %out = cleave.load @out : tensor<1000x1xf32>
  %y = cleave.dot %r, %out {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<199x1000xf32>, tensor<1000x1xf32>) -> tensor<199x1xf32> loc("fc3")
  return %y : tensor<199x1xf32>
}
//--- tiny.mlir
func.func @main(%x: tensor<1x4xf32> {cleave.name = "x"}) -> (tensor<1x4xf32> {cleave.name = "y"}) {
  %y = cleave.unary relu %x : tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
//--- near.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 1TB/s, peak: {fp32: 100GFLOPS}}
nodes:
  - {device: core, per_node: 2, link: shm}
links:
  shm: {latency: 1us, bandwidth: 10GB/s}
//--- fast.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 1TB/s, peak: {fp32: 100GFLOPS}}
nodes:
  - {device: core, per_node: 2, link: shm}
links:
  shm: {latency: 1ns, bandwidth: 10TB/s}
//--- far.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 1TB/s, peak: {fp32: 100GFLOPS}}
nodes:
  - {count: 2, device: core}
network: modem
links:
  modem: {latency: 1ms, bandwidth: 10GB/s}
//--- small.yaml
devices:
  core: {target: cpu, memory: 5MiB, bandwidth: 1TB/s, peak: {fp32: 100GFLOPS}}
nodes:
  - {device: core, per_node: 2, link: shm}
links:
  shm: {latency: 1us, bandwidth: 10GB/s}
