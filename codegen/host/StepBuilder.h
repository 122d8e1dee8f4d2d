//===- StepBuilder.h - write the body of a step function ------------------===//
//
// A thin layer over LLVM dialect ops: `void step(CleaveContext *, const
// CleaveStep *)` and the calls that it makes. See runtime/Abi.h.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_HOST_STEPBUILDER_H
#define CLEAVE_CODEGEN_HOST_STEPBUILDER_H

#include "ir/Cleave.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace cleave {

/// Constants of a module; equal bytes are one global.
class ConstantPool {
public:
  explicit ConstantPool(mlir::ModuleOp target) : target(target) {}
  mlir::ModuleOp getModule() const { return target; }
  /// Symbol of a global that holds `bytes`.
  llvm::StringRef add(llvm::StringRef prefix, llvm::StringRef bytes,
                      int64_t alignment);

private:
  mlir::ModuleOp target;
  llvm::StringMap<std::string> names;
};

class StepBuilder {
public:
  /// Adds the function `name` to the pool's module and stands in its body. That
  /// of a chunk has one more argument, the number of the micro-batch.
  StepBuilder(ConstantPool &pool, llvm::StringRef name, bool isChunk = false);

  void setLoc(mlir::Location location) { loc = location; }
  mlir::Value context() { return function.getArgument(0); }
  /// Number of the micro-batch in a chunk, null elsewhere.
  mlir::Value microBatch();
  mlir::Value i32(int32_t value);
  mlir::Value i64(int64_t value);
  mlir::Value null();
  /// Address of a string that ends in 0.
  mlir::Value text(llvm::StringRef text);
  /// Address of constant bytes, 64-byte aligned; equal bytes are one constant.
  mlir::Value constant(llvm::StringRef bytes);
  /// Address of the function or constant `symbol` of the module.
  mlir::Value symbol(llvm::StringRef symbol);
  /// Address of a buffer. Coordinates, inputs, outputs and states are found by
  /// its index; of a ring, in a chunk, the place of the micro-batch.
  mlir::Value address(BufferAttr buffer);
  mlir::Value offset(mlir::Value address, int64_t bytes);
  mlir::Value offset(mlir::Value address, mlir::Value bytes);
  /// Address among the constants of a device.
  mlir::Value deviceConstant(int64_t bytes);
  /// This rank's coordinate along axis `axis` of the world.
  mlir::Value coord(int64_t axis);
  /// Stores the pointers in an array on the stack, valid until the next call.
  mlir::Value array(mlir::ValueRange pointers);
  /// A cell on the stack that holds 0.
  mlir::Value cell();
  /// Calls `name(context, arguments...)` of the runtime.
  void call(llvm::StringRef name, mlir::ValueRange arguments);
  /// Calls the function of a chunk.
  void callChunk(llvm::StringRef name, mlir::Value microBatch);
  /// `body` runs for 0 to count - 1.
  void loop(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  /// `body` runs when the i64 at `cell` is not 0.
  void ifNotZero(mlir::Value cell, llvm::function_ref<void()> body);
  mlir::Value load(mlir::Type type, mlir::Value address);
  void store(mlir::Value value, mlir::Value address);
  mlir::Value add(mlir::Value value, int64_t other);
  /// value * factor + other, in i64.
  mlir::Value multiplyAdd(mlir::Value value, int64_t factor, mlir::Value other);
  void finish();

private:
  /// Base address of a space: from CleaveStep, once per function.
  mlir::Value base(BufferSpace space, int64_t index);
  /// Runs `build` with the builder in the function's prologue.
  mlir::Value inPrologue(llvm::function_ref<mlir::Value()> build);

  ConstantPool &pool;
  mlir::ModuleOp target;
  mlir::Location loc;
  mlir::OpBuilder b;
  mlir::LLVM::LLVMPointerType pointer;
  mlir::LLVM::LLVMFuncOp function;
  /// The prologue is what stands before this op, in the entry block.
  mlir::Operation *prologueEnd = nullptr;
  llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> bases;
  mlir::LLVM::AllocaOp pointerArray, errorCell;
};

} // namespace cleave

#endif
