// RUN: not cleave-opt %s --cleave-freeze=freeze=head.* 2>&1 | FileCheck %s

// Tests that a pattern has to match.

// CHECK: error: no parameter is named like 'head.*'
cleave.param @fc.weight : tensor<2xf32>
