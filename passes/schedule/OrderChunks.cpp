//===- OrderChunks.cpp - write the order in which a stage runs its chunks -===//
//
// Stages are the functions of the module in order. Needs chunks; adds one
// schedule op behind the last chunk of each function and sets the slots of its
// chunks.
//
//===----------------------------------------------------------------------===//

#include "passes/schedule/Passes.h"

#include "ir/Cleave.h"
#include "ir/ScheduleKind.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

namespace cleave {
#define GEN_PASS_DEF_ORDERCHUNKSPASS
#include "passes/schedule/Passes.h.inc"
} // namespace cleave

namespace {
struct Order {
  SmallVector<Attribute> loops;
  int64_t inFlight = 1;
};
} // namespace

static void addLoop(Builder &builder, Order &order, int64_t count,
                    ArrayRef<std::pair<StringRef, int64_t>> calls) {
  if (count == 0)
    return;
  SmallVector<ChunkCallAttr> attrs;
  for (auto [chunk, first] : calls)
    attrs.push_back(ChunkCallAttr::get(builder.getContext(), chunk, first));
  order.loops.push_back(LoopAttr::get(builder.getContext(), count, attrs));
}

/// Warm-up, steady and drain loops for `warmUp` forward calls ahead.
static Order makeOrder(Builder &builder, int64_t microBatches, int64_t warmUp) {
  Order order;
  addLoop(builder, order, warmUp, {{"forward", 0}});
  addLoop(builder, order, microBatches - warmUp,
          {{"forward", warmUp}, {"backward", 0}});
  addLoop(builder, order, warmUp, {{"backward", microBatches - warmUp}});
  order.inFlight = std::min(microBatches, warmUp + 1);
  return order;
}

static Order chooseOrder(Builder &builder, StringRef kind, bool trains,
                         int64_t microBatches, int64_t stagesBehind) {
  if (!trains) {
    Order order;
    addLoop(builder, order, microBatches, {{"forward", 0}});
    return order;
  }
  int64_t warmUp =
      kind == "gpipe" ? microBatches : std::min(microBatches, stagesBehind);
  return makeOrder(builder, microBatches, warmUp);
}

namespace {
struct OrderChunksPass : cleave::impl::OrderChunksPassBase<OrderChunksPass> {
  using OrderChunksPassBase::OrderChunksPassBase;
  void runOnOperation() override {
    auto said = getOperation()->getAttrOfType<StringAttr>(ScheduleAttrName);
    if (said && !isSchedule(said)) {
      getOperation().emitError()
          << "unknown schedule " << said << "; expected gpipe or 1f1b";
      return signalPassFailure();
    }
    StringRef kind = said ? said.getValue() : "1f1b";
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (auto [stage, function] : llvm::enumerate(functions))
      order(function, kind, functions.size() - 1 - stage);
  }

  void order(func::FuncOp function, StringRef kind, int64_t stagesBehind) {
    auto chunks = llvm::to_vector(function.getOps<ChunkOp>());
    if (chunks.empty())
      return;
    auto symbol = function->getAttrOfType<FlatSymbolRefAttr>("cleave.mesh");
    MeshAttr mesh =
        getOperation().lookupSymbol<MeshOp>(symbol.getValue()).getMesh();
    OpBuilder builder(chunks.back());
    builder.setInsertionPointAfter(chunks.back());
    Order order = chooseOrder(builder, kind, chunks.size() > 1,
                              mesh.getMicroBatches(), stagesBehind);
    builder.create<ScheduleOp>(function.getLoc(),
                               builder.getArrayAttr(order.loops));
    for (ChunkOp chunk : chunks)
      chunk.setSlots(order.inFlight);
  }
};
} // namespace
