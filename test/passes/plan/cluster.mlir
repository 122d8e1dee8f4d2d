// Cluster files: figures are used, and faults have their line and column.
// RUN: split-file %s %t

// Tests that a slow link between nodes makes splitting over it too costly, so that
// the objective time leaves everything whole; within a node it pays.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="tp=2 objective=time cluster=%t/near.yaml" | FileCheck %s --check-prefix=NEAR
// NEAR: cleave.param @up : {{.*}}<@stage0, [{}, {"tp"}]>
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="tp=2 objective=time cluster=%t/far.yaml" | FileCheck %s --check-prefix=FAR
// FAR: cleave.param @up : {{.*}}<@stage0, [{}, {}]>

// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/key.yaml 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: key.yaml:2:24: error: unknown key 'memroy' of device 'core', expected one of target, arch, memory, bandwidth, cache, cache_bandwidth, scattered, peak, vector, call
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/unit.yaml 2>&1 | FileCheck %s --check-prefix=UNIT
// UNIT: unit.yaml:2:49: error: 'bandwidth' must be bytes a second, as 50GB/s, found '10GB'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/peak.yaml 2>&1 | FileCheck %s --check-prefix=PEAK
// PEAK: peak.yaml:2:63: error: 'peak' has no key 'fp32'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/link.yaml 2>&1 | FileCheck %s --check-prefix=LINK
// LINK: link.yaml:4:39: error: link 'nvlink' is not in 'links'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/network.yaml 2>&1 | FileCheck %s --check-prefix=NETWORK
// NETWORK: network.yaml:1:1: error: a cluster of several nodes has no key 'network'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/device.yaml 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: device.yaml:4:14: error: device 'gpu' is not in 'devices'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/count.yaml 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: count.yaml:4:13: error: 'count' must be a positive integer, found 'two'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/vector.yaml 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: vector.yaml:2:96: error: 'vector' must be operations a second, as 67TFLOPS, found '30GB/s'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/call.yaml 2>&1 | FileCheck %s --check-prefix=CALL
// CALL: call.yaml:2:94: error: 'call' must be a time, as 3us, found '0us'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/cache.yaml 2>&1 | FileCheck %s --check-prefix=CACHE
// CACHE: cache.yaml:2:9: error: device 'core' has no key 'cache_bandwidth'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/cores.yaml 2>&1 | FileCheck %s --check-prefix=CORES
// CORES: cores.yaml:4:27: error: 'cores' must be a positive integer, found '0'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/text.yaml 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: text.yaml:3:6: error: not valid YAML:
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=cluster=%t/absent.yaml 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: absent.yaml:1:1: error: cannot read the cluster file

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
//--- near.yaml
name: one node of two
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core, per_node: 2, link: shm}
links:
  shm: {latency: 7us, bandwidth: 12GB/s}
//--- far.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {count: 2, device: core}
network: modem
links:
  modem: {latency: 100ms, bandwidth: 5KB/s}
//--- key.yaml
devices:
  core: {target: cpu,  memroy: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core}
//--- unit.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth:  10GB, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core}
//--- peak.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak:  {fp64: 200GFLOPS}}
nodes:
  - {device: core}
//--- link.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core, per_node: 2, link: nvlink}
//--- network.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core}
  - {device: core}
//--- device.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: gpu}
//--- count.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {count: two, device: core}
//--- vector.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}, vector:        30GB/s}
nodes:
  - {device: core}
//--- call.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}, call:        0us}
nodes:
  - {device: core}
//--- cache.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}, cache: 1MiB}
nodes:
  - {device: core}
//--- cores.yaml
devices:
  core: {target: cpu, memory: 4GiB, bandwidth: 10GB/s, peak: {fp32: 200GFLOPS}}
nodes:
  - {device: core, cores: 0}
//--- text.yaml
devices:
  core: {target: cpu, memory: 4GiB
nodes: 3
