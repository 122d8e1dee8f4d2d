//===- Reduction.td - reductions of dims, prefixes and windows ------------===//
#ifndef CLEAVE_REDUCTION
#define CLEAVE_REDUCTION

include "OpBase.td"

def ReduceOp : Cleave_TensorOp<"reduce", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "reduces dims away by sum, max, min or product";
  let description = [{
    `%y = cleave.reduce sum %x {dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>`

    An empty dim gives the neutral element.
    Constraints:
    * dims are sorted, unique and in range.
  }];
  let arguments = (ins ReduceKindAttr:$kind, StaticTensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def CumulateOp : Cleave_TensorOp<"cumulate", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getMissingGradient"]>]> {
  let summary = "result[..., i, ...] = the reduction of x[..., 0 to i, ...] along dim";
  let description = [{
    `exclusive`: of 0 to i - 1, the neutral element first. `reverse`: from the end.

    `%y = cleave.cumulate sum %x {dim = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>`

    Constraints:
    * dim is in range; elements are no bools.
  }];
  let arguments = (ins ReduceKindAttr:$kind, StaticTensor:$x, I64Attr:$dim,
                       UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
}

def TopKOp : Cleave_TensorOp<"top_k"> {
  let summary = "indices of the k largest elements along dim, the largest first";
  let description = [{
    `least`: of the k smallest, the smallest first. Equal elements come in the order of
    their indices; NaN is larger than all numbers.

    `%i = cleave.top_k %x {dim = 1 : i64, k = 2 : i64} : (tensor<4x9xf32>) -> tensor<4x2xi64>`

    Constraints:
    * dim is in range; k is at least 0 and at most the size of dim.
  }];
  let arguments = (ins StaticTensor:$x, I64Attr:$dim, I64Attr:$k, UnitAttr:$least);
  let results = (outs StaticTensor:$result);
}

def PoolOp : Cleave_TensorOp<"pool", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "reduces each window of the spatial dims of [N, C, spatial...]";
  let description = [{
    As ONNX MaxPool and AveragePool; `pads` has low pads, then high pads. Padding is
    neutral. An average is over the elements of the window that exist, with
    `include_pad` over those of the padding too. `ceil`: a last window may stick out of
    the padded input, if it starts in the input or its low padding; what sticks out
    never counts.

    `%y = cleave.pool max %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
       pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
       : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>`

    Constraints:
    * 1 to 3 spatial dims; kernel, strides, dilations one a spatial dim, pads two;
    * kernel, strides and dilations are positive, pads not negative;
    * the kernel is no larger than the padded input;
    * elements are no bools; an average is of floats.
  }];
  let arguments = (ins PoolKindAttr:$kind, StaticTensor:$x, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
      UnitAttr:$include_pad, UnitAttr:$ceil);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// The windows along a spatial dim (2, 3, ...).
    ::cleave::PoolWindow getWindow(int64_t dim);
    /// The reduction of a window: an average is a sum, divided.
    ::cleave::ReduceKind getReduction();
  }];
}

def PoolGradOp : Cleave_ShapedTensorOp<"pool_grad"> {
  let summary = "gradient of a pooling: each window's share of dresult, added up";
  let description = [{
    Of `pool %x` with the same attributes, where `dresult` is the gradient of its result.
    The gradient of a largest element goes to the first one of its window. `x` is there
    for kind max only.

    `%dx = cleave.pool_grad max %dy, %x {kernel = array<i64: 2>, strides = array<i64: 2>,
       pads = array<i64: 0, 0>, dilations = array<i64: 1>}
       : (tensor<1x3x4xf32>, tensor<1x3x8xf32>) -> tensor<1x3x8xf32>`

    Constraints:
    * x is there if and only if the kind is max, and then has the type of the result;
    * dresult has the type of the result of such a pooling of floats.
  }];
  let arguments = (ins PoolKindAttr:$kind, StaticTensor:$dresult,
      Optional<StaticTensor>:$x, DenseI64ArrayAttr:$kernel,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
      UnitAttr:$include_pad, UnitAttr:$ceil);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The windows along a spatial dim (2, 3, ...).
    ::cleave::PoolWindow getWindow(int64_t dim);
  }];
}

#endif
