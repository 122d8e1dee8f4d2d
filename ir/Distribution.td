//===- Distribution.td - meshes, reshards, collectives --------------------===//
#ifndef CLEAVE_DISTRIBUTION
#define CLEAVE_DISTRIBUTION

include "OpBase.td"

def MeshOp : Cleave_Op<"mesh", [Symbol]> {
  let summary = "a named mesh of ranks; one per pipeline stage";
  let description = [{
    `cleave.mesh @stage0 = #cleave.mesh_shape<["tp"=2], ranks = [0, 1]>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, MeshAttr:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def ReshardOp : Cleave_Op<"reshard", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the same logical value under another sharding";
  let description = [{
    Logical level. When the meshes differ it is an edge between stages.
    Constraints:
    * the sharding fits mesh and type; it is not partial.
  }];
  let arguments = (ins StaticTensor:$x, ShardingAttr:$sharding);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$x $sharding attr-dict `:` type($result)";
}

// A collective with `asynchronous` is only started where it stands; its one user
// is the `cleave.done` that waits for it.
class Cleave_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Cleave_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<WorkOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;

def AllReduceOp : Cleave_CollectiveOp<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "reduces over the ranks along `axes`; all get the result";
  let arguments = (ins ReduceKindAttr:$kind, StaticTensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, UnitAttr:$asynchronous);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x $mesh $axes attr-dict `:` type($result)";
}

def AllGatherOp : Cleave_CollectiveOp<"all_gather"> {
  let summary = "joins the shards of the ranks along `axes` in dim";
  let arguments = (ins StaticTensor:$x, I64Attr:$dim, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, UnitAttr:$asynchronous);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$x $mesh $axes attr-dict `:` functional-type(operands, results)";
}

def ReduceScatterOp : Cleave_CollectiveOp<"reduce_scatter"> {
  let summary = "reduces, and leaves each rank its chunk of dim";
  let arguments = (ins ReduceKindAttr:$kind, StaticTensor:$x, I64Attr:$dim, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, UnitAttr:$asynchronous);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$kind $x $mesh $axes attr-dict `:` functional-type(operands, results)";
}

def AllToAllOp : Cleave_CollectiveOp<"all_to_all"> {
  let summary = "splits dim 0 (of size k, one part per rank) and exchanges the parts";
  let description = [{
    x: [k, ...] -> [k, ...]: result[j] is what rank j held for this rank. Resharding
    from one dim to another is this op between two transposing copies.
  }];
  let arguments = (ins StaticTensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, UnitAttr:$asynchronous);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$x $mesh $axes attr-dict `:` functional-type(operands, results)";
}

def DoneOp : Cleave_Op<"done", [AllTypesMatch<["started", "result"]>]> {
  let summary = "waits for an asynchronous collective and gives its result";
  let description = [{
    `x` is what the collective takes: it stays as it is until then.

    ```mlir
    %0 = cleave.all_reduce sum %x @stage0 ["tp"] {asynchronous} : tensor<4xf32>
    %r = cleave.done %0, %x : tensor<4xf32>, tensor<4xf32>
    ```
    Constraints:
    * `started` is the result of an asynchronous collective of `x`, and nothing else reads it.
  }];
  let arguments = (ins StaticTensor:$started, StaticTensor:$x);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$started `,` $x attr-dict `:` type($started) `,` type($x)";
  let hasVerifier = 1;
}

def SendOp : Cleave_CollectiveOp<"send"> {
  let summary = "sends to another rank, which receives under the same pairs and tag";
  let description = [{
    `pairs` lists from rank, to rank, from rank, to rank ... (global ranks); a rank that is not listed as sender does nothing.
  }];
  let arguments = (ins StaticTensor:$x, DenseI64ArrayAttr:$pairs, I64Attr:$tag);
  let assemblyFormat = "$x `pairs` $pairs `tag` $tag attr-dict `:` type($x)";
}

def RecvOp : Cleave_CollectiveOp<"recv"> {
  let summary = "receives what a send of the same pairs and tag sent";
  let description = [{
    A rank that is not listed as receiver leaves the result undefined.
  }];
  let arguments = (ins DenseI64ArrayAttr:$pairs, I64Attr:$tag);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "`pairs` $pairs `tag` $tag attr-dict `:` type($result)";
}

def AxisIndexOp : Cleave_Op<"axis_index", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "this rank's index along the axes (mixed radix, outer first)";
  let description = [{
    Constraints:
    * the mesh has the axes, each named once; the result is tensor<i64>.
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs StaticTensor:$result);
  let assemblyFormat = "$mesh $axes attr-dict `:` type($result)";
}

def TakeShardOp : Cleave_Op<"take_shard", [Pure, DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "this rank's chunk of dim: x[index * chunk, ...), zero where x ends";
  let description = [{
    Local level. x is whole in `dim`, `index` is an axis_index (tensor<i64>), the chunk
    is the size of the result in `dim`.
    Constraints:
    * the shapes agree but for `dim`.
  }];
  let arguments = (ins StaticTensor:$x, StaticTensor:$index, I64Attr:$dim);
  let results = (outs StaticTensor:$result);
  let hasVerifier = 1;
}

def MaskOp : Cleave_Op<"mask", [Pure, AllTypesMatch<["x", "result"]>, DeclareOpInterfaceMethods<WorkOpInterface>]> {
  let summary = "replaces the padding of an uneven shard by `fill`";
  let description = [{
    Local level. With c the local size of `dim` and `index` this rank's axis_index,
    element p of dim is valid when index * c + p < size; the others become `fill`.
    Constraints:
    * index is tensor<i64>; dim is in range; size is not negative.
  }];
  let arguments = (ins StaticTensor:$x, StaticTensor:$index, I64Attr:$dim, I64Attr:$size, F64Attr:$fill);
  let results = (outs StaticTensor:$result);
  let hasVerifier = 1;
}

#endif
