//===- Attributes.td - meshes, shardings, weights, buffers ----------------===//
#ifndef CLEAVE_ATTRIBUTES
#define CLEAVE_ATTRIBUTES

include "Dialect.td"

class Cleave_Attr<string name, string mnem> : AttrDef<CleaveDialect, name> {
  let mnemonic = mnem;
}

class Cleave_Enum<string name, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::cleave";
  let genSpecializedAttr = 0;
}
class Cleave_EnumAttr<EnumAttrInfo info, string mnem>
    : EnumAttr<CleaveDialect, info, mnem>;

//===-- Kinds: see ElementwiseTable.h for what each one means -------------===//

def UnaryKind : Cleave_Enum<"UnaryKind", [
  I32EnumAttrCase<"Neg", 0, "neg">, I32EnumAttrCase<"Abs", 1, "abs">,
  I32EnumAttrCase<"Exp", 2, "exp">, I32EnumAttrCase<"Log", 3, "log">,
  I32EnumAttrCase<"Sqrt", 4, "sqrt">, I32EnumAttrCase<"Rsqrt", 5, "rsqrt">,
  I32EnumAttrCase<"Reciprocal", 6, "reciprocal">, I32EnumAttrCase<"Tanh", 7, "tanh">,
  I32EnumAttrCase<"Sigmoid", 8, "sigmoid">, I32EnumAttrCase<"Relu", 9, "relu">,
  I32EnumAttrCase<"Erf", 10, "erf">, I32EnumAttrCase<"GeluErf", 11, "gelu_erf">,
  I32EnumAttrCase<"GeluTanh", 12, "gelu_tanh">, I32EnumAttrCase<"Silu", 13, "silu">,
  I32EnumAttrCase<"Sin", 14, "sin">, I32EnumAttrCase<"Cos", 15, "cos">,
  I32EnumAttrCase<"Floor", 16, "floor">, I32EnumAttrCase<"Ceil", 17, "ceil">,
  I32EnumAttrCase<"Not", 18, "not">, I32EnumAttrCase<"Tan", 19, "tan">,
  I32EnumAttrCase<"Asin", 20, "asin">, I32EnumAttrCase<"Acos", 21, "acos">,
  I32EnumAttrCase<"Atan", 22, "atan">, I32EnumAttrCase<"Sinh", 23, "sinh">,
  I32EnumAttrCase<"Cosh", 24, "cosh">, I32EnumAttrCase<"Asinh", 25, "asinh">,
  I32EnumAttrCase<"Acosh", 26, "acosh">, I32EnumAttrCase<"Atanh", 27, "atanh">,
  I32EnumAttrCase<"Round", 28, "round">]>;
def UnaryKindAttr : Cleave_EnumAttr<UnaryKind, "unary_kind">;

def BinaryKind : Cleave_Enum<"BinaryKind", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Pow", 4, "pow">, I32EnumAttrCase<"Max", 5, "max">,
  I32EnumAttrCase<"Min", 6, "min">, I32EnumAttrCase<"And", 7, "and">,
  I32EnumAttrCase<"Or", 8, "or">, I32EnumAttrCase<"Mod", 9, "mod">,
  I32EnumAttrCase<"Xor", 10, "xor">, I32EnumAttrCase<"ShiftLeft", 11, "shift_left">,
  I32EnumAttrCase<"ShiftRight", 12, "shift_right">]>;
def BinaryKindAttr : Cleave_EnumAttr<BinaryKind, "binary_kind">;

def CompareKind : Cleave_Enum<"CompareKind", [
  I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">, I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def CompareKindAttr : Cleave_EnumAttr<CompareKind, "compare_kind">;

def ReduceKind : Cleave_Enum<"ReduceKind", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">]>;
def ReduceKindAttr : Cleave_EnumAttr<ReduceKind, "reduce_kind">;

def PoolKind : Cleave_Enum<"PoolKind", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Average", 1, "average">,
  I32EnumAttrCase<"Sum", 2, "sum">]>;
def PoolKindAttr : Cleave_EnumAttr<PoolKind, "pool_kind">;

def NormKind : Cleave_Enum<"NormKind", [
  I32EnumAttrCase<"Layer", 0, "layer">, I32EnumAttrCase<"Rms", 1, "rms">]>;
def NormKindAttr : Cleave_EnumAttr<NormKind, "norm_kind">;

def ResizeKind : Cleave_Enum<"ResizeKind", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Cubic", 2, "cubic">]>;
def ResizeKindAttr : Cleave_EnumAttr<ResizeKind, "resize_kind">;

def KernelKind : Cleave_Enum<"KernelKind", [
  I32EnumAttrCase<"Loop", 0, "loop">, I32EnumAttrCase<"Row", 1, "row">,
  I32EnumAttrCase<"Attention", 2, "attention">, I32EnumAttrCase<"Matmul", 3, "matmul">,
  I32EnumAttrCase<"Conv", 4, "conv">, I32EnumAttrCase<"Reduce", 5, "reduce">,
  I32EnumAttrCase<"ConvWeightGrad", 6, "conv_weight_grad">]>;
def KernelKindAttr : Cleave_EnumAttr<KernelKind, "kernel_kind">;

//===-- Mesh ----------------------------------------------------------------===//

def MeshAxisAttr : Cleave_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "a named axis of a mesh and its size";
  let parameters = (ins StringRefParameter<"axis name">:$name, "int64_t":$size);
  let assemblyFormat = "$name `=` $size";
}

def MeshAttr : Cleave_Attr<"Mesh", "mesh_shape"> {
  let summary = "axes and ranks of a mesh";
  let description = [{
    `#cleave.mesh_shape<["dp"=2, "tp"=2], ranks = [0, 1, 2, 3]>`: ranks are listed
    in row-major order of the axes (the last axis varies fastest). With
    `micro_batches = 4` there is one more axis, "mb", of that size, in time: its
    parts are processed one after the other on the same ranks, so it has no
    position and no rank coordinate. It may split dims and be partial as any other.
    Constraints:
    * axis names are unique and not empty, and none is "mb";
    * axis sizes are positive;
    * there are as many ranks as the product of the sizes;
    * ranks are unique and not negative;
    * there is at least one micro-batch.
  }];
  let parameters = (ins ArrayRefParameter<"::cleave::MeshAxisAttr">:$axes,
                        ArrayRefParameter<"int64_t">:$ranks,
                        DefaultValuedParameter<"int64_t", "1">:$microBatches);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::cleave::MeshAxisAttr>":$axes,
                                   "::llvm::ArrayRef<int64_t>":$ranks), [{
    return $_get($_ctxt, axes, ranks, 1);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The axis in time.
    static constexpr ::llvm::StringLiteral MicroBatchAxis = "mb";
    /// Size of the axis, "mb" included; 0 if the mesh has no axis of this name.
    int64_t getAxisSize(::llvm::StringRef name) const;
    /// Position of the axis among those of the ranks, or -1.
    int64_t getAxisPosition(::llvm::StringRef name) const;
    /// Number of ranks.
    int64_t getSize() const { return getRanks().size(); }
    /// Coordinates of the rank at `position` of the rank list.
    ::llvm::SmallVector<int64_t> getCoords(int64_t position) const;
  }];
}

//===-- Sharding ------------------------------------------------------------===//

def DimShardingAttr : Cleave_Attr<"DimSharding", "dim_sharding"> {
  let summary = "how one dim is split: axes (outer first) and a block size";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        DefaultValuedParameter<"int64_t", "1">:$block);
  let hasCustomAssemblyFormat = 1;
}

def ShardingAttr : Cleave_Attr<"Sharding", "sharding"> {
  let summary = "how a tensor is laid over a mesh";
  let description = [{
    `#cleave.sharding<@mesh, [{"dp"}, {"tp"}:64], partial<sum, {"tp1"}>>`: per dim the
    axes that split it, outer first, and a block size; then the axes over which
    the value is partial and the reduction that completes it. A dim of size n
    with block b split over k ranks gives chunks of ceil(n / b / k) * b elements;
    the last ranks hold less, or nothing, and are padded to the chunk.
    Constraints (checked against mesh and type by `verifySharding`):
    * every axis exists in the mesh and is used at most once;
    * there are as many dims as the tensor's rank;
    * blocks are positive and divide their dim.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"::cleave::DimShardingAttr">:$dims,
                        "::cleave::ReduceKind":$partialKind,
                        ArrayRefParameter<"::mlir::StringAttr">:$partialAxes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    static ShardingAttr getReplicated(::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    bool isReplicated() const;
    bool isPartial() const { return !getPartialAxes().empty(); }
    /// Dim that `axis` splits, or -1.
    int64_t getDimOf(::mlir::StringAttr axis) const;
    bool isPartialOver(::mlir::StringAttr axis) const;
    ShardingAttr withoutPartial() const;
  }];
}

//===-- Weights and buffers -------------------------------------------------===//

def WeightsAttr : Cleave_Attr<"Weights", "weights"> {
  let summary = "bytes of a tensor in a file; never in the IR";
  let description = [{
    `#cleave.weights<"model.onnx", 1024, 4096>`: file, offset and length in bytes,
    dense little-endian row-major in the type of the symbol that carries it.
  }];
  let parameters = (ins StringRefParameter<"file path">:$file, "int64_t":$offset, "int64_t":$length);
  let assemblyFormat = "`<` $file `,` $offset `,` $length `>`";
}

def BufferSpace : Cleave_Enum<"BufferSpace", [
  I32EnumAttrCase<"Arena", 0, "arena">, I32EnumAttrCase<"Input", 1, "input">,
  I32EnumAttrCase<"Output", 2, "output">, I32EnumAttrCase<"State", 3, "state">,
  I32EnumAttrCase<"Coords", 4, "coords">, I32EnumAttrCase<"Constant", 5, "constant">]>;

def BufferAttr : Cleave_Attr<"Buffer", "buffer"> {
  let summary = "where a value of a rank program lives";
  let description = [{
    `#cleave.buffer<arena, 4096, [384, 1]>`: the space, the offset in bytes from its
    base (`index` numbers the input, output, state or constant), and strides in
    elements, one per dim. A view (transpose, slice, broadcast) has the space and
    index of its source. `ring = 2 x 4096`: one place for each of 2 micro-batches in
    flight, 4096 bytes apart; micro-batch m uses place m mod 2.
  }];
  let parameters = (ins EnumParameter<BufferSpace>:$space, "int64_t":$index,
                        "int64_t":$offset, OptionalArrayRefParameter<"int64_t">:$strides,
                        DefaultValuedParameter<"int64_t", "1">:$slots,
                        DefaultValuedParameter<"int64_t", "0">:$slotBytes);
  let builders = [AttrBuilder<(ins "::cleave::BufferSpace":$space, "int64_t":$index,
                                   "int64_t":$offset, "::llvm::ArrayRef<int64_t>":$strides), [{
    return $_get($_ctxt, space, index, offset, strides, 1, 0);
  }]>];
  let hasCustomAssemblyFormat = 1;
}

//===-- Schedules -----------------------------------------------------------===//

def ChunkCallAttr : Cleave_Attr<"ChunkCall", "chunk_call"> {
  let summary = "a call of a chunk in a loop: its micro-batch is `first` + the turn";
  let parameters = (ins StringRefParameter<"chunk">:$chunk, "int64_t":$first);
  let assemblyFormat = "`<` $chunk `,` $first `>`";
}

def LoopAttr : Cleave_Attr<"Loop", "loop"> {
  let summary = "a loop of chunk calls";
  let description = [{
    `#cleave.loop<3 x ["forward" 1, "backward" 0]>`: in turn t of 3, forward of
    micro-batch 1 + t, then backward of micro-batch t.
  }];
  let parameters = (ins "int64_t":$count, ArrayRefParameter<"::cleave::ChunkCallAttr">:$calls);
  let hasCustomAssemblyFormat = 1;
}

#endif
