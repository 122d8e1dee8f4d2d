//===- Program.td - kernels and schedules of rank programs ----------------===//
#ifndef CLEAVE_PROGRAM
#define CLEAVE_PROGRAM

include "OpBase.td"

def KernelOp : Cleave_Op<"kernel", [IsolatedFromAbove, SingleBlock,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "a group of ops that runs as one kernel or library call";
  let description = [{
    The region gets the operands as block arguments and ends in `cleave.yield`. The
    body stays in tensor ops: `codegen` turns it into code by `kind`.

    ```mlir
    %r = cleave.kernel loop (%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %s = cleave.binary add %x, %y : tensor<4xf32>
      cleave.yield %s : tensor<4xf32>
    }
    ```
    Constraints:
    * block arguments have the types of the operands, the yield those of the results.
  }];
  let arguments = (ins KernelKindAttr:$kind, Variadic<StaticTensor>:$inputs);
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

def ChunkOp : Cleave_Op<"chunk", [SingleBlock]> {
  let summary = "the part of a step that runs once a micro-batch";
  let description = [{
    Does nothing where it stands: `cleave.schedule` calls it by name. The region
    gets the carried values, which start as `inits` and go from call to call (sums
    over micro-batches). It yields the new carried values; then values that
    other chunks read for the same micro-batch, kept for `slots` micro-batches in
    flight; then `stacked` values, whose results have one more leading dim, the
    micro-batch. Results are there after the schedule. `axis_index` along "mb" is
    the number of the micro-batch.

    ```mlir
    %sum, %act = cleave.chunk "forward"(%zero) {slots = 2 : i64} : (tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
    ^bb0(%acc: tensor<f32>):
      ...
      cleave.yield %new, %a : tensor<f32>, tensor<4xf32>
    }
    ```
    Constraints:
    * the region's arguments have the types of `inits`, and so do the first results;
    * the yield has the types of the results, less the leading dim where stacked.
  }];
  let arguments = (ins StrAttr:$name, Variadic<StaticTensor>:$inits,
                       DefaultValuedAttr<I64Attr, "1">:$slots,
                       DefaultValuedAttr<I64Attr, "0">:$stacked);
  let results = (outs Variadic<StaticTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `(` $inits `)` attr-dict `:` functional-type($inits, $results) $body";
  let hasVerifier = 1;
}

def ScheduleOp : Cleave_Op<"schedule", [ParentOneOf<["::mlir::func::FuncOp"]>]> {
  let summary = "runs the chunks of the function: loops in order";
  let description = [{
    `cleave.schedule [#cleave.loop<1 x ["forward" 0]>, #cleave.loop<3 x ["forward" 1, "backward" 0]>]`

    Constraints:
    * every call names a chunk of the function;
    * every chunk is called once for each micro-batch, in rising order.
  }];
  let arguments = (ins TypedArrayAttrBase<LoopAttr, "loops">:$loops);
  let assemblyFormat = "$loops attr-dict";
  let hasVerifier = 1;
}

def PrepareOp : Cleave_Op<"prepare", [SingleBlock]> {
  let summary = "what needs no input: runs once, before the first step";
  let description = [{
    The region reads states that no step writes, and nothing from outside. Its
    results stay where they are from step to step.

    ```mlir
    %wide = cleave.prepare : tensor<8x6xf32> {
      %w = cleave.load @w : tensor<8x6xf16>
      %k = cleave.kernel loop(%w) : (tensor<8x6xf16>) -> tensor<8x6xf32> {...}
      cleave.yield %k : tensor<8x6xf32>
    }
    ```
    Constraints:
    * the region has no arguments and yields the types of the results;
    * no op in it stores, communicates, or reads a value from outside.
  }];
  let results = (outs Variadic<StaticTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`:` type($results)^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def CopyOp : Cleave_Op<"copy", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "a dense copy of a strided view";
  let arguments = (ins StaticTensor:$x);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($result)";
}

#endif
