//===- ItemKernel.cpp - independent walks, a thread each ------------------===//
//
// For ops whose templates take items one by one (cumulate, top-k, scatter). The
// working memory of an item is the thread's own.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

/// Working memory that a thread may have.
static constexpr int64_t MostScratch = 16384;

static FailureOr<KernelPlan> build(Template &kernel, Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<KernelPlan>>(op)
      .Case([&](CumulateOp op) { return buildCumulateKernel(kernel, op); })
      .Case([&](TopKOp op) { return buildTopKKernel(kernel, op); })
      .Case([&](ScatterOp op) { return buildScatterKernel(kernel, op); })
      .Case([&](GatherGradOp op) { return buildGatherGradKernel(kernel, op); })
      .Case([&](PoolGradOp op) { return buildPoolGradKernel(kernel, op); });
}

static void setConstant(Value constant, int64_t value) {
  auto op = constant.getDefiningOp<arith::ConstantOp>();
  op.setValueAttr(IntegerAttr::get(constant.getType(), value));
}

FailureOr<LaunchPlan> cuda::buildItemKernel(Template &kernel, Operation *op) {
  Code &code = kernel.code;
  OpBuilder &b = code.b;
  // How many items there are and what they need is known once they are written.
  Value bytes = code.index(1), extent = code.index(0), step = code.index(1);
  kernel.lanes = 1;
  kernel.scratch = b.create<LLVM::AllocaOp>(code.loc, code.pointerType(),
                                            b.getI8Type(), bytes, 16);
  Value self = code.add(code.mul(getBlock(code), BlockSize), getThread(code));
  FailureOr<KernelPlan> plan = failure();
  auto loop = b.create<scf::ForOp>(code.loc, self, extent, step);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    kernel.begin = loop.getInductionVar();
    kernel.end = code.add(kernel.begin, 1);
    plan = build(kernel, op);
  }
  if (failed(plan))
    return failure();
  if (plan->scratchBytesPerThread > MostScratch)
    return op->emitOpError() << "needs " << plan->scratchBytesPerThread
                             << " bytes a thread; at most " << MostScratch
                             << " are there on CUDA";
  LaunchPlan launch;
  launch.grid =
      std::min<int64_t>(llvm::divideCeil(plan->extent, BlockSize), MostBlocks);
  launch.block = BlockSize;
  launch.narrowLoads = "a thread has a walk of its own";
  setConstant(bytes, std::max<int64_t>(plan->scratchBytesPerThread, 1));
  setConstant(extent, plan->extent);
  setConstant(step, std::max<int64_t>(launch.grid * BlockSize, 1));
  return launch;
}
