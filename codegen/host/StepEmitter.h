//===- StepEmitter.h - emit the ops of a stage function -------------------===//

#ifndef CLEAVE_CODEGEN_HOST_STEPEMITTER_H
#define CLEAVE_CODEGEN_HOST_STEPEMITTER_H

#include "codegen/host/HostStep.h"
#include "codegen/host/Target.h"

namespace cleave {

/// What the functions of a program share.
struct StepScope {
  const RankModule &ranks;
  const Program &program;
  ProgramTarget &target;
  ConstantPool &constants;
  int32_t slotCount = 0; ///< library operations so far
};

/// Emits a block, the body of the stage function, a chunk or a prepare, as one
/// function.
class StepEmitter {
public:
  StepEmitter(StepScope &scope, llvm::StringRef name, ChunkOp chunk = {});
  [[nodiscard]] mlir::LogicalResult emit(mlir::Block &block);

private:
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitKernel(KernelOp kernel);
  mlir::LogicalResult emitGenerated(KernelOp kernel);
  mlir::LogicalResult emitLibrary(KernelOp kernel);
  mlir::LogicalResult emitAxisIndex(AxisIndexOp op);
  mlir::LogicalResult emitReturn(mlir::func::ReturnOp op);
  mlir::LogicalResult emitStores();
  mlir::LogicalResult emitCopy(CopyOp op);
  mlir::LogicalResult emitChunk(ChunkOp op);
  mlir::LogicalResult emitSchedule(ScheduleOp op);
  mlir::LogicalResult emitYield(YieldOp op);
  mlir::LogicalResult emitPrepare(PrepareOp op);
  mlir::LogicalResult emitPrepared(PrepareOp op, YieldOp yield);
  /// Copies a dense value unless it lies there already.
  mlir::LogicalResult moveTo(mlir::Operation *user, mlir::Value value,
                             BufferAttr to);

  /// The coordinate along an axis of the stage's mesh, in memory.
  BufferAttr getCoords(int64_t position);
  /// This rank's index along an axis; in time, the micro-batch.
  mlir::Value getCoord(llvm::StringRef axis);
  mlir::FailureOr<mlir::Value> address(mlir::Value value);
  mlir::FailureOr<mlir::Value> address(KernelOp kernel,
                                       const LibraryOperand &operand);
  void trace(mlir::Operation *op, llvm::StringRef category);

  StepScope &scope;
  mlir::func::FuncOp stage;
  ChunkOp chunk; ///< null outside of chunks
  StepBuilder step;
  llvm::SmallVector<StoreOp> stores;
};

} // namespace cleave

#endif
