//===- Program.td - kernels and schedules of rank programs ----------------===//
#ifndef CLEAVE_PROGRAM
#define CLEAVE_PROGRAM

include "OpBase.td"

def KernelOp : Cleave_Op<"kernel", [IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "a group of ops that runs as one kernel or library call";
  let description = [{
    The region gets the operands as block arguments and ends in `cleave.yield`. The
    body stays in tensor ops: `codegen` turns it into code by `kind`. `workspace`:
    bytes of scratch per thread.

    ```mlir
    %r = cleave.kernel loop (%a, %b) {workspace = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %s = cleave.binary add %x, %y : tensor<4xf32>
      cleave.yield %s : tensor<4xf32>
    }
    ```
    Constraints:
    * block arguments have the types of the operands, the yield those of the results.
  }];
  let arguments = (ins KernelKindAttr:$kind, Variadic<StaticTensor>:$inputs,
                       DefaultValuedAttr<I64Attr, "0">:$workspace);
  let results = (outs Variadic<StaticTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def YieldOp : Cleave_Op<"yield", [Pure, Terminator]> {
  let summary = "ends a kernel and gives its results";
  let arguments = (ins Variadic<StaticTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def CopyOp : Cleave_Op<"copy", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "a dense copy of a strided view";
  let arguments = (ins StaticTensor:$x);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}

#endif
