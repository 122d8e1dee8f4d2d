//===- Contraction.td - products and convolutions -------------------------===//
#ifndef CLEAVE_CONTRACTION
#define CLEAVE_CONTRACTION

include "OpBase.td"

def DotOp : Cleave_TensorOp<"dot", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "generalised product: batch, contracting and free dims";
  let description = [{
    result[batch..., lhs free..., rhs free...] = sum over the contracting dims.
    Batch dims are listed pairwise, contracting dims too; what is not listed is
    free and keeps its order. No broadcast.

    `%y = cleave.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>,
       lhs_contract = array<i64: 2>, rhs_contract = array<i64: 0>}
       : (tensor<1x197x384xf32>, tensor<384x6x64xf32>) -> tensor<1x197x6x64xf32>`

    Constraints:
    * element types agree;
    * the lists of a pair have the same length, unique dims in range, and equal sizes.
  }];
  let arguments = (ins StaticTensor:$lhs, StaticTensor:$rhs,
      DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
      DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract);
  let results = (outs StaticTensor:$result);
  let extraClassDeclaration = [{
    /// Dims of an operand that are neither batch nor contracting, in order.
    ::llvm::SmallVector<int64_t> getLhsFree();
    ::llvm::SmallVector<int64_t> getRhsFree();
  }];
}

def ConvOp : Cleave_TensorOp<"conv", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "convolution or transposed convolution over [N, C, spatial...]";
  let description = [{
    As ONNX Conv and ConvTranspose. weight: [O, I / groups, k...], transposed: [I, O / groups, k...].
    `pads` has low pads, then high pads. `output_padding` counts when transposed.

    Constraints:
    * 1 to 3 spatial dims; strides, dilations, output_padding one a spatial dim, pads two;
    * strides, dilations and kernel dims are positive, pads and output_padding not negative;
    * the kernel is no larger than the padded input;
    * channels divide into groups; weight and input channels agree.
  }];
  let arguments = (ins StaticTensor:$input, StaticTensor:$weight,
      DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding,
      DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$transposed);
  let results = (outs StaticTensor:$result);
}

def ConvWeightGradOp : Cleave_TensorOp<"conv_weight_grad"> {
  let summary = "gradient of a convolution's weight: input and dresult, correlated";
  let description = [{
    Of `conv %input, %weight` that is not transposed, where `dresult` [N, O, spatial...]
    is the gradient of its result. The result is [O, I / groups, kernel...]. (The
    weight of a transposed convolution has the gradient of the convolution that leads
    back: dresult and input change places.)

    `%dw = cleave.conv_weight_grad %x, %dy {kernel = array<i64: 3, 3>,
       strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
       : (tensor<2x4x9x9xf32>, tensor<2x5x9x9xf32>) -> tensor<5x4x3x3xf32>`

    Constraints:
    * 1 to 3 spatial dims; kernel, strides, dilations one a spatial dim, pads two;
    * dresult has the type of the result of such a convolution.
  }];
  let arguments = (ins StaticTensor:$input, StaticTensor:$dresult,
      DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs StaticTensor:$result);
}

#endif
