// plan.json: written, replayed, edited, and compared with the model.
// RUN: split-file %s %t

// Tests that a plan is written with sorted keys, and that its replay gives the same
// attributes and the same file.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="tp=3 pp=2 output=%t/a.json" -o %t/a.mlir
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="plan=%t/a.json output=%t/b.json" -o %t/b.mlir
// RUN: diff %t/a.json %t/b.json
// RUN: diff %t/a.mlir %t/b.mlir
// RUN: FileCheck %s --check-prefix=WRITTEN --input-file=%t/a.json
// WRITTEN:      "axes": {
// WRITTEN-NEXT:   "tp": 3
// WRITTEN:      "inputs": {
// WRITTEN-NEXT:   "x": "-,-"
// WRITTEN:      "params": {
// WRITTEN-NEXT:   "down": "tp,-",
// WRITTEN-NEXT:   "up": "-,tp"
// WRITTEN:      "stages": [
// WRITTEN:          "fc1"
// WRITTEN:          3,
// WRITTEN-NEXT:     4,
// WRITTEN-NEXT:     5
// WRITTEN:      "values": {
// WRITTEN-NEXT:   "act": "-,tp",
// WRITTEN-NEXT:   "fc1": "-,tp",
// WRITTEN-NEXT:   "fc2": "-,-; sum over tp"
// WRITTEN:      "version": 1

// Tests that what a plan leaves out is found, here everything but one parameter.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/part.json | FileCheck %s --check-prefix=PART
// PART: cleave.param @up : {{.*}}<@stage0, [{}, {"tp"}:512]>
// PART: cleave.param @down : {{.*}}<@stage0, [{"tp"}:512, {}]>

// Tests that a plan and flags must agree.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="plan=%t/part.json tp=2" 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: error: --tp 2 contradicts plan '{{.*}}part.json', which has tp=3

// Tests that a plan keeps the order of micro-batches, that its replay has the same,
// and that a flag may not say another.
// RUN: cleave-opt %t/mlp.mlir --cleave-plan="pp=2 microbatches=2 schedule=gpipe output=%t/order.json"
// RUN: FileCheck %s --check-prefix=ORDER --input-file=%t/order.json
// ORDER: "schedule": "gpipe"
// RUN: cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/order.json | FileCheck %s --check-prefix=REPLAY
// REPLAY: module attributes {{.*}}cleave.schedule_kind = "gpipe"
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan="plan=%t/order.json schedule=1f1b" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: --schedule 1f1b contradicts plan '{{.*}}order.json', which has gpipe
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=schedule=zigzag 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: schedule must be gpipe or 1f1b, found 'zigzag'
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/schedule.json 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: schedule.json:1:1: error: 'schedule' must be gpipe or 1f1b

// Tests that a plan that does not fit names what does not.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/param.json 2>&1 | FileCheck %s --check-prefix=PARAM
// PARAM: error: plan '{{.*}}param.json' names 'w' in 'params', which the model does not have
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/node.json 2>&1 | FileCheck %s --check-prefix=NODE
// NODE: error: plan '{{.*}}node.json' puts node 'fc9' in stage 0, but the model has no such node
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/twice.json 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: mlp.onnx:1:1: error: plan '{{.*}}twice.json' puts node 'fc1' in stage 1, another pin puts it in stage 0
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/dims.json 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: error: plan '{{.*}}dims.json': layout '-,-,tp' has 3 dims, but param 'up' is 'tensor<512x2048xf32>'

// Tests files that are no plans.
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.json:1:1: error: cannot read the plan
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/broken.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: broken.json:1:1: error: not valid JSON: [2:0
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/version.json 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: version.json:1:1: error: plan has another version, expected 1
// RUN: not cleave-opt %t/mlp.mlir --cleave-plan=plan=%t/key.json 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: key.json:1:1: error: unknown key 'axis', expected one of version, axes, microbatches, schedule, stages, inputs, params, values, predictions

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
//--- part.json
{"version": 1, "axes": {"tp": 3}, "stages": [{}], "params": {"up": "-,tp:512", "down": "tp:512,-"}}
//--- param.json
{"version": 1, "axes": {"tp": 2}, "stages": [{}], "params": {"w": "-,tp"}}
//--- node.json
{"version": 1, "axes": {"tp": 2}, "stages": [{"nodes": ["fc9"]}]}
//--- twice.json
{"version": 1, "stages": [{"nodes": ["fc1"]}, {"nodes": ["fc1", "fc2"]}]}
//--- dims.json
{"version": 1, "axes": {"tp": 2}, "stages": [{}], "params": {"up": "-,-,tp"}}
//--- broken.json
{"version": 1
//--- version.json
{"version": 2}
//--- schedule.json
{"version": 1, "schedule": 2, "stages": [{"nodes": []}]}

//--- key.json
{"version": 1, "axis": {"tp": 2}}
