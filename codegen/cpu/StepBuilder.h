//===- StepBuilder.h - write the body of a step function ------------------===//
//
// A thin layer over LLVM dialect ops: `void step(CleaveContext *, const
// CleaveStep *)` and the calls that it makes. See runtime/Abi.h.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CPU_STEPBUILDER_H
#define CLEAVE_CODEGEN_CPU_STEPBUILDER_H

#include "ir/Cleave.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace cleave {

class StepBuilder {
public:
  /// Adds the function `name` to `target` and stands in its body.
  StepBuilder(mlir::ModuleOp target, llvm::StringRef name);

  void setLoc(mlir::Location location) { loc = location; }
  mlir::Value context() { return function.getArgument(0); }
  mlir::Value i32(int32_t value);
  mlir::Value i64(int64_t value);
  mlir::Value null();
  /// Address of a string that ends in 0.
  mlir::Value text(llvm::StringRef text);
  /// Address of constant bytes, 64-byte aligned; equal bytes are one constant.
  mlir::Value constant(llvm::StringRef bytes);
  /// Address of the function or constant `symbol` of the module.
  mlir::Value symbol(llvm::StringRef symbol);
  /// Address in a buffer's space, `bytes` behind the buffer's own offset.
  /// Coordinates and inputs, outputs, states are found by the buffer's index.
  mlir::Value address(BufferAttr buffer, int64_t bytes = 0);
  mlir::Value offset(mlir::Value address, int64_t bytes);
  /// Address in the arena.
  mlir::Value arena(int64_t bytes);
  /// Stores the pointers in an array on the stack, valid until the next call.
  mlir::Value array(mlir::ValueRange pointers);
  /// A cell on the stack that holds 0.
  mlir::Value cell();
  /// Calls `name(context, arguments...)` of the runtime.
  void call(llvm::StringRef name, mlir::ValueRange arguments);
  /// `body` runs when the i64 at `cell` is not 0.
  void ifNotZero(mlir::Value cell, llvm::function_ref<void()> body);
  mlir::Value load(mlir::Type type, mlir::Value address);
  void store(mlir::Value value, mlir::Value address);
  /// value * factor + other, in i64.
  mlir::Value multiplyAdd(mlir::Value value, int64_t factor, mlir::Value other);
  void finish();

private:
  /// Base address of a space: from CleaveStep, once per function.
  mlir::Value base(BufferSpace space, int64_t index);
  mlir::Value global(llvm::StringRef name, llvm::StringRef bytes,
                     int64_t alignment);
  mlir::Value stackSlot(int64_t words);
  /// Runs `build` with the builder in the function's prologue.
  mlir::Value inPrologue(llvm::function_ref<mlir::Value()> build);

  mlir::ModuleOp target;
  mlir::Location loc;
  mlir::OpBuilder b;
  mlir::LLVM::LLVMPointerType pointer;
  mlir::LLVM::LLVMFuncOp function;
  /// The prologue is what stands before this op, in the entry block.
  mlir::Operation *prologueEnd = nullptr;
  llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> bases;
  llvm::StringMap<std::string> globals;
  mlir::LLVM::AllocaOp pointerArray, errorCell;
};

} // namespace cleave

#endif
