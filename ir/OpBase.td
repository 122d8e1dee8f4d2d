//===- OpBase.td - base classes of all families ---------------------------===//
#ifndef CLEAVE_OP_BASE
#define CLEAVE_OP_BASE

include "Attributes.td"
include "Interfaces.td"

class Cleave_Op<string mnemonic, list<Trait> traits = []>
    : Op<CleaveDialect, mnemonic, traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// A pure tensor op of the logical level: result types are inferred, and the
/// planner and cost model can ask it what they need.
class Cleave_TensorOp<string mnemonic, list<Trait> traits = []>
    : Cleave_Op<mnemonic, !listconcat([Pure,
        InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
        DeclareOpInterfaceMethods<WorkOpInterface>], traits)>;

/// The same, with a result type that is given: by the op's verifier, or by a trait
/// that makes all types one.
class Cleave_ShapedTensorOp<string mnemonic, list<Trait> traits = []>
    : Cleave_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<ShardingRuleOpInterface>,
        DeclareOpInterfaceMethods<WorkOpInterface>], traits)>;

#endif
