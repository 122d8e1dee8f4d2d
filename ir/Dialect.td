//===- Dialect.td - the cleave dialect ----------------------------------===//
#ifndef CLEAVE_DIALECT
#define CLEAVE_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CleaveDialect : Dialect {
  let name = "cleave";
  let cppNamespace = "::cleave";
  let summary = "Logical and per-rank tensor programs, and how one becomes the other";
  let description = [{
    One dialect on builtin ranked tensors with static shapes serves both levels.
    A LOGICAL program sees one big device and whole tensors; decisions (sharding,
    stage) are attributes on it. A RANK program has local tensors, explicit
    collectives and explicit buffers.

    Discardable attributes that passes agree on:
    * `cleave.shardings`: array of `#cleave.sharding`, one per result of an op.
    * `cleave.sharding` on function arguments and results: their sharding.
    * `cleave.name` on function arguments and results: the user's name.
    * `cleave.stage`: i64, the pipeline stage of a logical op.
    * `cleave.schedule_kind` of the module: gpipe or 1f1b.
    * `cleave.buffer`: where the result of a rank op lives (see BufferAttr).
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

/// Static ranked tensors only: symbolic dims are bound at import.
def StaticTensor : Type<
    And<[RankedTensorOf<[AnyType]>.predicate,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">]>,
    "ranked tensor with static shape", "::mlir::RankedTensorType">;

#endif
