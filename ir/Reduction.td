//===- Reduction.td - reductions ------------------------------------------===//
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

#endif
