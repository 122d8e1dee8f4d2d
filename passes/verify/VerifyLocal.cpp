//===- VerifyLocal.cpp - check that rank programs are local ---------------===//
//
// The contract between partition and what follows: no shardings or reshards are
// left, and everything in a function is on the function's mesh.
//
//===----------------------------------------------------------------------===//

#include "passes/verify/Passes.h"

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave {
#define GEN_PASS_DEF_VERIFYLOCALPASS
#include "passes/verify/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

static LogicalResult verifyParamUse(Operation *op, StringRef symbol,
                                    FlatSymbolRefAttr mesh,
                                    const SymbolTable &symbols) {
  auto param = symbols.lookup<ParamOp>(symbol);
  if (!param || !param.getSharding())
    return op->emitError() << "uses param @" << symbol
                           << ", which has no sharding";
  if (param.getSharding()->getMesh() != mesh) {
    InFlightDiagnostic error = op->emitError() << "uses a param of mesh "
                                               << param.getSharding()->getMesh()
                                               << " on " << mesh;
    error.attachNote(param.getLoc()) << "the param is here";
    return error;
  }
  return success();
}

static LogicalResult verifyOp(Operation *op, FlatSymbolRefAttr mesh,
                              const SymbolTable &symbols) {
  if (op->hasAttr(ShardingsAttrName))
    return op->emitError("has shardings in a rank program");
  if (isa<ReshardOp>(op))
    return op->emitError("is left in a rank program: localize makes it "
                         "collectives");
  auto own = op->getAttrOfType<FlatSymbolRefAttr>("mesh");
  if (own && own != mesh)
    return op->emitError() << "is on mesh " << own << ", its function on "
                           << mesh;
  if (auto load = dyn_cast<LoadOp>(op))
    return verifyParamUse(op, load.getSymbol(), mesh, symbols);
  if (auto store = dyn_cast<StoreOp>(op))
    return verifyParamUse(op, store.getSymbol(), mesh, symbols);
  return success();
}

static LogicalResult verifyFunction(func::FuncOp function,
                                    const SymbolTable &symbols) {
  auto mesh = function->getAttrOfType<FlatSymbolRefAttr>("cleave.mesh");
  if (!mesh || !symbols.lookup<MeshOp>(mesh.getAttr()))
    return function.emitError("has no mesh: it is not a rank program");
  WalkResult result = function.walk([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    return failed(verifyOp(op, mesh, symbols)) ? WalkResult::interrupt()
                                               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct VerifyLocalPass : cleave::impl::VerifyLocalPassBase<VerifyLocalPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(verifyFunction(function, symbols)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
