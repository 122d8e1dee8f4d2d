//===- Elementwise.td - one op per class, with a kind ---------------------===//
#ifndef CLEAVE_ELEMENTWISE
#define CLEAVE_ELEMENTWISE

include "OpBase.td"

def UnaryOp : Cleave_ShapedTensorOp<"unary", [Elementwise, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "y[i] = kind(x[i])";
  let description = [{
    ElementwiseTable.h lists the kinds: ONNX name, scalar code, derivative, cost.

    `%y = cleave.unary exp %x : tensor<4xf32>`

    Constraints:
    * operand and result have the same type;
    * the kind exists for the element type.
  }];
  let arguments = (ins UnaryKindAttr:$kind, StaticTensor:$x);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def BinaryOp : Cleave_ShapedTensorOp<"binary", [Elementwise, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "y[i] = kind(a[i], b[i]); shapes agree (broadcast is its own op)";
  let description = [{
    `%y = cleave.binary add %a, %b : tensor<4xf32>`

    Constraints:
    * operands and result have the same type;
    * the kind exists for the element type.
  }];
  let arguments = (ins BinaryKindAttr:$kind, StaticTensor:$lhs, StaticTensor:$rhs);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def CompareOp : Cleave_TensorOp<"compare", [Elementwise, SameTypeOperands]> {
  let summary = "y[i] = a[i] kind b[i], as i1";
  let arguments = (ins CompareKindAttr:$kind, StaticTensor:$lhs, StaticTensor:$rhs);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def SelectOp : Cleave_TensorOp<"select", [Elementwise,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "y[i] = condition[i] ? a[i] : b[i]";
  let description = [{
    Constraints:
    * all shapes agree; the condition is i1; both values have one type.
  }];
  let arguments = (ins StaticTensor:$condition, StaticTensor:$onTrue, StaticTensor:$onFalse);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
}

def CastOp : Cleave_ShapedTensorOp<"cast", [Elementwise,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>]> {
  let summary = "y[i] = (type)x[i]; to i1: x[i] != 0; float to integer truncates";
  let arguments = (ins StaticTensor:$x);
  let results = (outs StaticTensor:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}

def ConstantOp : Cleave_Op<"constant", [Pure, ConstantLike,
    InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["localize"]>,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "a small constant, or a splat of any size";
  let description = [{
    Large initializers are `param` symbols. `%c = cleave.constant dense<1.0> : tensor<4xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

#endif
