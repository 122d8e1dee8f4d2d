//===- Movement.td - ops that move elements -------------------------------===//
#ifndef CLEAVE_MOVEMENT
#define CLEAVE_MOVEMENT

include "OpBase.td"

def ReshapeOp : Cleave_ShapedTensorOp<"reshape", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    Constraints:
    * element types agree; element counts agree.
  }];
  let arguments = (ins StaticTensor:$x);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TransposeOp : Cleave_TensorOp<"transpose", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "result dim i is operand dim perm[i]";
  let description = [{
    Constraints:
    * perm is a permutation of the dims.
  }];
  let arguments = (ins StaticTensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
}

def BroadcastOp : Cleave_ShapedTensorOp<"broadcast", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "operand dim i becomes result dim dims[i]; all else is repeated";
  let description = [{
    Constraints:
    * dims has one entry per operand dim, strictly increasing, in range;
    * an operand dim has the size of its result dim, or 1.
  }];
  let arguments = (ins StaticTensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def SliceOp : Cleave_Op<"slice", [Pure,
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["localize"]>,
    DeclareOpInterfaceMethods<WorkOpInterface>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "sizes[d] elements of dim d from starts[d] on, strides[d] apart";
  let description = [{
    Constraints:
    * one start, size and stride per dim; strides are positive;
    * the last element taken exists.
  }];
  let arguments = (ins StaticTensor:$x, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$strides);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
}

def PadOp : Cleave_TensorOp<"pad", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "adds low[d] and high[d] elements of `value` around dim d";
  let description = [{
    Constraints:
    * low and high have one entry per dim, not negative.
  }];
  let arguments = (ins StaticTensor:$x, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, F64Attr:$value);
  let results = (outs StaticTensor:$result);
}

def ConcatOp : Cleave_TensorOp<"concat", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "joins the operands along dim";
  let description = [{
    Constraints:
    * at least one operand; dim is in range; all other dims and types agree.
  }];
  let arguments = (ins Variadic<StaticTensor>:$inputs, I64Attr:$dim);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
}

def GatherOp : Cleave_TensorOp<"gather", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "takes slices x[..., indices[j...], ...] along dim";
  let description = [{
    The result has the dims of `indices` in place of `dim`. Indices count from the
    end when negative; out of range stops the step with an error. The first
    `batch_dims` dims are common to x and indices: result[b..., ..., j..., ...] =
    x[b..., ..., indices[b..., j...], ...].
    Constraints:
    * dim is in range; indices are i32 or i64;
    * 0 <= batch_dims <= dim; x and indices have the same first batch_dims sizes.
  }];
  let arguments = (ins StaticTensor:$x, StaticTensor:$indices, I64Attr:$dim,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
}

def GatherGradOp : Cleave_ShapedTensorOp<"gather_grad"> {
  let summary = "gradient of a gather: zeros, and dresult added up at the indices";
  let description = [{
    Of `gather %x, %indices` with the same attributes, where `dresult` is the gradient of
    its result; the type of x is that of the result.

    `%dx = cleave.gather_grad %dy, %i {dim = 0 : i64}
       : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<9x4xf32>`

    Constraints:
    * dim, indices and batch_dims as for a gather of a tensor like the result;
    * dresult has the type of the gather's result; elements are numbers.
  }];
  let arguments = (ins StaticTensor:$dresult, StaticTensor:$indices, I64Attr:$dim,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs StaticTensor:$result);
  let hasVerifier = 1;
}

def ScatterOp : Cleave_TensorOp<"scatter", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface, ["getMissingGradient"]>]> {
  let summary = "x with x[..., indices[j...], ...] replaced by, or combined with, updates";
  let description = [{
    The reverse of a gather: `updates` has the shape of what a gather of x by these
    indices gives. Without `combine` an update takes the element's place, the last one
    where indices repeat. Indices as for a gather.

    `%y = cleave.scatter %x, %i, %u {dim = 0 : i64, combine = #cleave<reduce_kind sum>}
       : (tensor<9x4xf32>, tensor<2xi64>, tensor<2x4xf32>) -> tensor<9x4xf32>`

    Constraints:
    * dim, indices and batch_dims as for a gather;
    * updates have the type of the gather's result.
  }];
  let arguments = (ins StaticTensor:$x, StaticTensor:$indices, StaticTensor:$updates,
                       I64Attr:$dim, DefaultValuedAttr<I64Attr, "0">:$batch_dims,
                       OptionalAttr<ReduceKindAttr>:$combine);
  let results = (outs StaticTensor:$result);
}

def IotaOp : Cleave_Op<"iota", [Pure,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "result[..., i, ...] = i along dim";
  let description = [{
    Constraints:
    * dim is in range; the result is no tensor of bools.
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def ResizeOp : Cleave_ShapedTensorOp<"resize", [
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "interpolates spatial dims to the size of the result";
  let description = [{
    As ONNX Resize. `coordinates` is the ONNX coordinate_transformation_mode:
    "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"; `nearest_mode` its name too.
    `scales`: one per dim (output coordinates map by them, as ONNX says).
    Constraints:
    * operand and result have the same rank and element type, a float one unless nearest;
    * there is one positive scale per dim; both modes are among those named above.
  }];
  let arguments = (ins StaticTensor:$x, ResizeKindAttr:$kind, DenseF64ArrayAttr:$scales,
                       StrAttr:$coordinates, DefaultValuedStrAttr<StrAttr, "round_prefer_floor">:$nearest_mode,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Dims whose elements are not just those of the operand.
    ::llvm::SmallVector<int64_t> getResizedDims();
  }];
}

#endif
