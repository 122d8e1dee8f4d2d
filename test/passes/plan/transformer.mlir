// Two transformer blocks as normalisation leaves them (ViT-S: 197 tokens, 6 heads of
// 64, width 384, hidden 1536). The planner knows nothing of them.

// Tests that two ranks need two reductions a block, and nothing else: one after the
// attention's projection, one after the second product of the MLP.
// RUN: cleave-opt %s --cleave-plan=tp=2 -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=TP2
// TP2-DAG: exchanges = 0 : i64, gathers = 0 : i64, {{.*}}reductions = 4 : i64, search = "exact"
// TP2-COUNT-4: cleave.dot {{.*}}partial<sum, {"tp"}>{{.*}} loc("b{{[01]}}.{{proj|fc2}}")
// TP2-NOT: partial

// Tests that heads stay whole where the ranks do not divide them: 6 over 4 ranks are
// 2, 2, 2, 0; weights of the MLP are split in four, all evenly.
// RUN: cleave-opt %s --cleave-plan=tp=4 | FileCheck %s --check-prefix=TP4
// TP4-DAG: gathers = 0 : i64, {{.*}}reductions = 4 : i64, search = "exact"
// TP4: cleave.mesh @stage0 = <["tp"=4], ranks = [0, 1, 2, 3]>
// TP4: cleave.param @b0.qkv.weight : tensor<384x3x6x64xf32> sharding <@stage0, [{}, {}, {"tp"}, {}]>
// TP4: cleave.param @b0.proj.weight : tensor<6x64x384xf32> sharding <@stage0, [{"tp"}, {}, {}]>
// TP4: cleave.param @b0.fc1.weight : tensor<384x1536xf32> sharding <@stage0, [{}, {"tp"}]>
// TP4: cleave.param @b0.fc2.weight : tensor<1536x384xf32> sharding <@stage0, [{"tp"}, {}]>
// TP4: cleave.attention {{.*}}<@stage0, [{}, {"tp"}, {}, {}]>

// Tests the same on three ranks, two heads each.
// RUN: cleave-opt %s --cleave-plan=tp=3 | FileCheck %s --check-prefix=TP3
// TP3-DAG: gathers = 0 : i64, {{.*}}reductions = 4 : i64, search = "exact"
// TP3: cleave.attention {{.*}}<@stage0, [{}, {"tp"}, {}, {}]>

// Tests that two stages take a block each, and three stages about a third of the work.
// RUN: cleave-opt %s --cleave-plan=pp=2 -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=PP2
// PP2: cleave.dot {{.*}}cleave.stage = 0 {{.*}}loc("b0.fc2")
// PP2: cleave.dot {{.*}}cleave.stage = 1 {{.*}}loc("b1.qkv")

// Tests that every weight matrix is split whatever the model's size: see the
// patterns of plan-file.mlir for how to leave one whole.
// RUN: cleave-opt %s --cleave-plan="tp=2 shards=b0.fc*.weight=-,-" | FileCheck %s --check-prefix=WHOLE
// WHOLE-DAG: reductions = 3 : i64
// WHOLE: cleave.param @b0.fc1.weight : {{.*}}<@stage0, [{}, {}]>
// WHOLE: cleave.param @b0.fc2.weight : {{.*}}<@stage0, [{}, {}]>
// WHOLE: cleave.param @b1.fc1.weight : {{.*}}<@stage0, [{}, {"tp"}]>

cleave.param @b0.norm1.scale : tensor<384xf32>
cleave.param @b0.norm1.bias : tensor<384xf32>
cleave.param @b0.qkv.weight : tensor<384x3x6x64xf32>
cleave.param @b0.qkv.bias : tensor<3x6x64xf32>
cleave.param @b0.proj.weight : tensor<6x64x384xf32>
cleave.param @b0.proj.bias : tensor<384xf32>
cleave.param @b0.norm2.scale : tensor<384xf32>
cleave.param @b0.norm2.bias : tensor<384xf32>
cleave.param @b0.fc1.weight : tensor<384x1536xf32>
cleave.param @b0.fc1.bias : tensor<1536xf32>
cleave.param @b0.fc2.weight : tensor<1536x384xf32>
cleave.param @b0.fc2.bias : tensor<384xf32>
cleave.param @b1.norm1.scale : tensor<384xf32>
cleave.param @b1.norm1.bias : tensor<384xf32>
cleave.param @b1.qkv.weight : tensor<384x3x6x64xf32>
cleave.param @b1.qkv.bias : tensor<3x6x64xf32>
cleave.param @b1.proj.weight : tensor<6x64x384xf32>
cleave.param @b1.proj.bias : tensor<384xf32>
cleave.param @b1.norm2.scale : tensor<384xf32>
cleave.param @b1.norm2.bias : tensor<384xf32>
cleave.param @b1.fc1.weight : tensor<384x1536xf32>
cleave.param @b1.fc1.bias : tensor<1536xf32>
cleave.param @b1.fc2.weight : tensor<1536x384xf32>
cleave.param @b1.fc2.bias : tensor<384xf32>
func.func @main(%x: tensor<1x197x384xf32> {cleave.name = "x"}) -> (tensor<1x197x384xf32> {cleave.name = "y"}) {
  %n0s = cleave.load @b0.norm1.scale : tensor<384xf32> loc("b0.norm1.scale")
  %n0b = cleave.load @b0.norm1.bias : tensor<384xf32> loc("b0.norm1.bias")
  %n0 = cleave.norm layer %x, %n0s, %n0b {axis = 2 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<1x197x384xf32> loc("b0.norm1")
  %wqkv0 = cleave.load @b0.qkv.weight : tensor<384x3x6x64xf32> loc("b0.qkv.weight")
  %qkv0 = cleave.dot %n0, %wqkv0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x197x384xf32>, tensor<384x3x6x64xf32>) -> tensor<1x197x3x6x64xf32> loc("b0.qkv")
  %qkvb0_b = cleave.load @b0.qkv.bias : tensor<3x6x64xf32> loc("b0.qkv.bias")
  %qkvb0_bb = cleave.broadcast %qkvb0_b {dims = array<i64: 2, 3, 4>} : (tensor<3x6x64xf32>) -> tensor<1x197x3x6x64xf32> loc("b0.qkv.add")
  %qkvb0 = cleave.binary add %qkv0, %qkvb0_bb : tensor<1x197x3x6x64xf32> loc("b0.qkv.add")
  %qs0 = cleave.slice %qkvb0 {starts = array<i64: 0, 0, 0, 0, 0>, sizes = array<i64: 1, 197, 1, 6, 64>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x197x3x6x64xf32>) -> tensor<1x197x1x6x64xf32> loc("b0.q")
  %qr0 = cleave.reshape %qs0 : (tensor<1x197x1x6x64xf32>) -> tensor<1x197x6x64xf32> loc("b0.q")
  %q0 = cleave.transpose %qr0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x197x6x64xf32>) -> tensor<1x6x197x64xf32> loc("b0.q")
  %ks0 = cleave.slice %qkvb0 {starts = array<i64: 0, 0, 1, 0, 0>, sizes = array<i64: 1, 197, 1, 6, 64>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x197x3x6x64xf32>) -> tensor<1x197x1x6x64xf32> loc("b0.k")
  %kr0 = cleave.reshape %ks0 : (tensor<1x197x1x6x64xf32>) -> tensor<1x197x6x64xf32> loc("b0.k")
  %k0 = cleave.transpose %kr0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x197x6x64xf32>) -> tensor<1x6x197x64xf32> loc("b0.k")
  %vs0 = cleave.slice %qkvb0 {starts = array<i64: 0, 0, 2, 0, 0>, sizes = array<i64: 1, 197, 1, 6, 64>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x197x3x6x64xf32>) -> tensor<1x197x1x6x64xf32> loc("b0.v")
  %vr0 = cleave.reshape %vs0 : (tensor<1x197x1x6x64xf32>) -> tensor<1x197x6x64xf32> loc("b0.v")
  %v0 = cleave.transpose %vr0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x197x6x64xf32>) -> tensor<1x6x197x64xf32> loc("b0.v")
  %a0 = cleave.attention %q0, %k0, %v0 {scale = 0.125 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>) -> tensor<1x6x197x64xf32> loc("b0.attention")
  %at0 = cleave.transpose %a0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x6x197x64xf32>) -> tensor<1x197x6x64xf32> loc("b0.merge")
  %wp0 = cleave.load @b0.proj.weight : tensor<6x64x384xf32> loc("b0.proj.weight")
  %p0 = cleave.dot %at0, %wp0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2, 3>, rhs_contract = array<i64: 0, 1>} : (tensor<1x197x6x64xf32>, tensor<6x64x384xf32>) -> tensor<1x197x384xf32> loc("b0.proj")
  %pb0_b = cleave.load @b0.proj.bias : tensor<384xf32> loc("b0.proj.bias")
  %pb0_bb = cleave.broadcast %pb0_b {dims = array<i64: 2>} : (tensor<384xf32>) -> tensor<1x197x384xf32> loc("b0.proj.add")
  %pb0 = cleave.binary add %p0, %pb0_bb : tensor<1x197x384xf32> loc("b0.proj.add")
  %r0 = cleave.binary add %x, %pb0 : tensor<1x197x384xf32> loc("b0.residual1")
  %m0s = cleave.load @b0.norm2.scale : tensor<384xf32> loc("b0.norm2.scale")
  %m0b = cleave.load @b0.norm2.bias : tensor<384xf32> loc("b0.norm2.bias")
  %m0 = cleave.norm layer %r0, %m0s, %m0b {axis = 2 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<1x197x384xf32> loc("b0.norm2")
  %w10 = cleave.load @b0.fc1.weight : tensor<384x1536xf32> loc("b0.fc1.weight")
  %f0 = cleave.dot %m0, %w10 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x197x384xf32>, tensor<384x1536xf32>) -> tensor<1x197x1536xf32> loc("b0.fc1")
  %fb0_b = cleave.load @b0.fc1.bias : tensor<1536xf32> loc("b0.fc1.bias")
  %fb0_bb = cleave.broadcast %fb0_b {dims = array<i64: 2>} : (tensor<1536xf32>) -> tensor<1x197x1536xf32> loc("b0.fc1.add")
  %fb0 = cleave.binary add %f0, %fb0_bb : tensor<1x197x1536xf32> loc("b0.fc1.add")
  %g0 = cleave.unary gelu_erf %fb0 : tensor<1x197x1536xf32> loc("b0.gelu")
  %w20 = cleave.load @b0.fc2.weight : tensor<1536x384xf32> loc("b0.fc2.weight")
  %d0 = cleave.dot %g0, %w20 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x197x1536xf32>, tensor<1536x384xf32>) -> tensor<1x197x384xf32> loc("b0.fc2")
  %db0_b = cleave.load @b0.fc2.bias : tensor<384xf32> loc("b0.fc2.bias")
  %db0_bb = cleave.broadcast %db0_b {dims = array<i64: 2>} : (tensor<384xf32>) -> tensor<1x197x384xf32> loc("b0.fc2.add")
  %db0 = cleave.binary add %d0, %db0_bb : tensor<1x197x384xf32> loc("b0.fc2.add")
  %o0 = cleave.binary add %r0, %db0 : tensor<1x197x384xf32> loc("b0.residual2")
  %n1s = cleave.load @b1.norm1.scale : tensor<384xf32> loc("b1.norm1.scale")
  %n1b = cleave.load @b1.norm1.bias : tensor<384xf32> loc("b1.norm1.bias")
  %n1 = cleave.norm layer %o0, %n1s, %n1b {axis = 2 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<1x197x384xf32> loc("b1.norm1")
  %wqkv1 = cleave.load @b1.qkv.weight : tensor<384x3x6x64xf32> loc("b1.qkv.weight")
  %qkv1 = cleave.dot %n1, %wqkv1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x197x384xf32>, tensor<384x3x6x64xf32>) -> tensor<1x197x3x6x64xf32> loc("b1.qkv")
  %qkvb1_b = cleave.load @b1.qkv.bias : tensor<3x6x64xf32> loc("b1.qkv.bias")
  %qkvb1_bb = cleave.broadcast %qkvb1_b {dims = array<i64: 2, 3, 4>} : (tensor<3x6x64xf32>) -> tensor<1x197x3x6x64xf32> loc("b1.qkv.add")
  %qkvb1 = cleave.binary add %qkv1, %qkvb1_bb : tensor<1x197x3x6x64xf32> loc("b1.qkv.add")
  %qs1 = cleave.slice %qkvb1 {starts = array<i64: 0, 0, 0, 0, 0>, sizes = array<i64: 1, 197, 1, 6, 64>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x197x3x6x64xf32>) -> tensor<1x197x1x6x64xf32> loc("b1.q")
  %qr1 = cleave.reshape %qs1 : (tensor<1x197x1x6x64xf32>) -> tensor<1x197x6x64xf32> loc("b1.q")
  %q1 = cleave.transpose %qr1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x197x6x64xf32>) -> tensor<1x6x197x64xf32> loc("b1.q")
  %ks1 = cleave.slice %qkvb1 {starts = array<i64: 0, 0, 1, 0, 0>, sizes = array<i64: 1, 197, 1, 6, 64>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x197x3x6x64xf32>) -> tensor<1x197x1x6x64xf32> loc("b1.k")
  %kr1 = cleave.reshape %ks1 : (tensor<1x197x1x6x64xf32>) -> tensor<1x197x6x64xf32> loc("b1.k")
  %k1 = cleave.transpose %kr1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x197x6x64xf32>) -> tensor<1x6x197x64xf32> loc("b1.k")
  %vs1 = cleave.slice %qkvb1 {starts = array<i64: 0, 0, 2, 0, 0>, sizes = array<i64: 1, 197, 1, 6, 64>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<1x197x3x6x64xf32>) -> tensor<1x197x1x6x64xf32> loc("b1.v")
  %vr1 = cleave.reshape %vs1 : (tensor<1x197x1x6x64xf32>) -> tensor<1x197x6x64xf32> loc("b1.v")
  %v1 = cleave.transpose %vr1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x197x6x64xf32>) -> tensor<1x6x197x64xf32> loc("b1.v")
  %a1 = cleave.attention %q1, %k1, %v1 {scale = 0.125 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>) -> tensor<1x6x197x64xf32> loc("b1.attention")
  %at1 = cleave.transpose %a1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x6x197x64xf32>) -> tensor<1x197x6x64xf32> loc("b1.merge")
  %wp1 = cleave.load @b1.proj.weight : tensor<6x64x384xf32> loc("b1.proj.weight")
  %p1 = cleave.dot %at1, %wp1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2, 3>, rhs_contract = array<i64: 0, 1>} : (tensor<1x197x6x64xf32>, tensor<6x64x384xf32>) -> tensor<1x197x384xf32> loc("b1.proj")
  %pb1_b = cleave.load @b1.proj.bias : tensor<384xf32> loc("b1.proj.bias")
  %pb1_bb = cleave.broadcast %pb1_b {dims = array<i64: 2>} : (tensor<384xf32>) -> tensor<1x197x384xf32> loc("b1.proj.add")
  %pb1 = cleave.binary add %p1, %pb1_bb : tensor<1x197x384xf32> loc("b1.proj.add")
  %r1 = cleave.binary add %o0, %pb1 : tensor<1x197x384xf32> loc("b1.residual1")
  %m1s = cleave.load @b1.norm2.scale : tensor<384xf32> loc("b1.norm2.scale")
  %m1b = cleave.load @b1.norm2.bias : tensor<384xf32> loc("b1.norm2.bias")
  %m1 = cleave.norm layer %r1, %m1s, %m1b {axis = 2 : i64, epsilon = 1.0e-6 : f64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<1x197x384xf32> loc("b1.norm2")
  %w11 = cleave.load @b1.fc1.weight : tensor<384x1536xf32> loc("b1.fc1.weight")
  %f1 = cleave.dot %m1, %w11 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x197x384xf32>, tensor<384x1536xf32>) -> tensor<1x197x1536xf32> loc("b1.fc1")
  %fb1_b = cleave.load @b1.fc1.bias : tensor<1536xf32> loc("b1.fc1.bias")
  %fb1_bb = cleave.broadcast %fb1_b {dims = array<i64: 2>} : (tensor<1536xf32>) -> tensor<1x197x1536xf32> loc("b1.fc1.add")
  %fb1 = cleave.binary add %f1, %fb1_bb : tensor<1x197x1536xf32> loc("b1.fc1.add")
  %g1 = cleave.unary gelu_erf %fb1 : tensor<1x197x1536xf32> loc("b1.gelu")
  %w21 = cleave.load @b1.fc2.weight : tensor<1536x384xf32> loc("b1.fc2.weight")
  %d1 = cleave.dot %g1, %w21 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>} : (tensor<1x197x1536xf32>, tensor<1536x384xf32>) -> tensor<1x197x384xf32> loc("b1.fc2")
  %db1_b = cleave.load @b1.fc2.bias : tensor<384xf32> loc("b1.fc2.bias")
  %db1_bb = cleave.broadcast %db1_b {dims = array<i64: 2>} : (tensor<384xf32>) -> tensor<1x197x384xf32> loc("b1.fc2.add")
  %db1 = cleave.binary add %d1, %db1_bb : tensor<1x197x384xf32> loc("b1.fc2.add")
  %o1 = cleave.binary add %r1, %db1 : tensor<1x197x384xf32> loc("b1.residual2")
  return %o1 : tensor<1x197x384xf32>
}
