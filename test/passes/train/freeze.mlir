// RUN: cleave-opt %s --cleave-freeze=freeze=*.bias | FileCheck %s
// RUN: cleave-opt %s --cleave-freeze="only=fc.*;conv.bias" | FileCheck %s --check-prefix=ONLY

// Tests that params are frozen by the patterns of their names, or all but those that match.

// CHECK: cleave.param @fc.weight : tensor<2xf32>{{$}}
// CHECK: cleave.param @fc.bias : tensor<2xf32> {frozen}
// CHECK: cleave.param @conv.weight : tensor<2xf32>{{$}}
// CHECK: cleave.param @conv.bias : tensor<2xf32> {frozen}
// ONLY: cleave.param @fc.weight : tensor<2xf32>{{$}}
// ONLY: cleave.param @fc.bias : tensor<2xf32>{{$}}
// ONLY: cleave.param @conv.weight : tensor<2xf32> {frozen}
// ONLY: cleave.param @conv.bias : tensor<2xf32>{{$}}
cleave.param @fc.weight : tensor<2xf32>
cleave.param @fc.bias : tensor<2xf32>
cleave.param @conv.weight : tensor<2xf32>
cleave.param @conv.bias : tensor<2xf32>
