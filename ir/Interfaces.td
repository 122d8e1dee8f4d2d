//===- Interfaces.td - what the compiler must know of an op --------------===//
#ifndef CLEAVE_INTERFACES
#define CLEAVE_INTERFACES

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::cleave";
  let description = [{
    The einsum-like rule by which the planner may split an op, and how the op is
    rebuilt on local shapes. See ShardingRule.h.
  }];
  let methods = [
    InterfaceMethod<"The factors of this op.", "::cleave::ShardingRule", "getShardingRule">,
    InterfaceMethod<
      [{Builds this op on local operands. `resultTypes` are local types. The
        default clones the op; ops with sizes in attributes adjust them for the
        dims whose size differs.}],
      "::mlir::Operation *", "localize",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$resultTypes), [{}], [{
        return ::cleave::cloneWithTypes(builder, $_op, operands, resultTypes);
      }]>,
  ];
}

def WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::cleave";
  let description = "FLOPs and bytes of an op as functions of its (local) shapes.";
  let methods = [
    InterfaceMethod<"Work of one execution.", "::cleave::Work", "getWork">,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::cleave";
  let description = [{
    Builds the vector-Jacobian product from logical ops. Only operands and results
    that the product reads are kept.
  }];
  let methods = [
    InterfaceMethod<
      [{Gradients of the operands, given that of the result. An entry is null
        where the gradient is zero everywhere, or an operand has none. `needed[i]`
        says whether operand i's gradient is wanted. Needs an op that
        `getMissingGradient` says nothing about.}],
      "::llvm::SmallVector<::mlir::Value>", "buildGradients",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$resultGradient,
           "::llvm::ArrayRef<bool>":$needed)>,
    InterfaceMethod<
      [{What of this op has no gradient, as "of kind prod"; empty: nothing.}],
      "::std::string", "getMissingGradient", (ins), [{}], [{ return ""; }]>,
  ];
}

#endif
