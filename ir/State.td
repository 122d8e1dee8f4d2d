//===- State.td - parameters and other state ------------------------------===//
#ifndef CLEAVE_STATE
#define CLEAVE_STATE

include "OpBase.td"

def ParamOp : Cleave_Op<"param", [Symbol]> {
  let summary = "a state symbol: weights, optimizer state, running statistics";
  let description = [{
    `cleave.param @w : tensor<384x6x64xf32> = #cleave.weights<"m.onnx", 64, 589824>`
    `true_shape` is the shape that the user knows, when the compiler views the same
    bytes under another one; checkpoints use it. The sharding is authoritative for
    the storage of the symbol. What is `frozen` is not trained: running statistics,
    and what the user asks for.

    Constraints:
    * weights have the byte size of the type; a dense value has the type;
    * true_shape has as many elements as the type.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
                       OptionalAttr<AnyAttr>:$value,
                       OptionalAttr<DenseI64ArrayAttr>:$true_shape,
                       OptionalAttr<ShardingAttr>:$sharding,
                       UnitAttr:$frozen);
  let assemblyFormat = "$sym_name `:` $type (`=` $value^)? (`sharding` $sharding^)? attr-dict";
  let hasVerifier = 1;
}

def LoadOp : Cleave_Op<"load", [
    Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
    DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "the value of a state symbol at the start of the step";
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$symbol attr-dict `:` type($result)";
}

def StoreOp : Cleave_Op<"store", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gives a state symbol its value from the end of the step on";
  let description = [{
    Constraints:
    * the symbol is a param of the same type (its local type in a rank program);
    * each symbol has at most one store.
  }];
  let arguments = (ins StaticTensor:$value, FlatSymbolRefAttr:$symbol);
  let assemblyFormat = "$value `,` $symbol attr-dict `:` type($value)";
}

#endif
