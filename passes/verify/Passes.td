//===- Passes.td - read-only contracts between phases ---------------------===//
#ifndef CLEAVE_PASSES_VERIFY_PASSES
#define CLEAVE_PASSES_VERIFY_PASSES

include "mlir/Pass/PassBase.td"

def VerifyShardingsPass : Pass<"cleave-verify-shardings", "::mlir::ModuleOp"> {
  let summary = "checks that a planned program is sharded completely and rightly";
  let description = [{
    Read-only; for `@main` after plan. Checks that
    * every value, and every param that is loaded or stored, has a sharding;
    * each sharding fits its mesh and type (axes exist, are used once; blocks divide);
    * a value lies on the mesh of its op's stage;
    * a load has the sharding of its param;
    * with `resharded`: the operands of each op have the layout that it needs.

    ```mlir
    %y = cleave.unary exp %x : tensor<4xf32>     // error: result 0 has no sharding
    ```
    The IR is the same after it.
  }];
  let options = [Option<"resharded", "resharded", "bool", "false",
                        "also check that no reshard is missing">];
}

def VerifyLocalPass : Pass<"cleave-verify-local", "::mlir::ModuleOp"> {
  let summary = "checks that rank programs are local";
  let description = [{
    Read-only; for the functions after partition. Checks that
    * each function has the mesh of a stage (`cleave.mesh`);
    * no op has shardings, none is a reshard;
    * each collective and axis_index is on the mesh of its function;
    * each param that it loads or stores is sharded over that mesh.

    ```mlir
    %r = cleave.reshard %x <@m, [{} ]> : tensor<4xf32>     // error: is left in a rank program
    ```
    The IR is the same after it.
  }];
}

def VerifyCollectivesPass : Pass<"cleave-verify-collectives", "::mlir::ModuleOp"> {
  let summary = "proves that no rank waits for ever";
  let description = [{
    Read-only; for the functions after partition, and after schedule. Plays the
    communication of all ranks of all stages to its end: a collective is passed when
    all ranks of its group stand at it, a send at once (the runtime copies), a recv
    when its message was sent; ranks, tag and type must agree. With `rendezvous` a
    send waits for its receiver, as where nothing is buffered: programs of partition
    pass that too, 1F1B schedules cannot. What each rank does has no branch, and
    what can be passed stays so, so one play that ends proves that every run does.
    When ranks are left, the error names what each waits for.

    ```mlir
    // rank 0: recv then send; rank 1: recv then send      error: is never passed
    ```
    The IR is the same after it.
  }];
  let options = [Option<"rendezvous", "rendezvous", "bool", "false",
                        "a send waits for its receiver">];
}

#endif
