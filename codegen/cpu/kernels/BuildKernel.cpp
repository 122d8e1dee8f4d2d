//===- BuildKernel.cpp - the function around a kernel's code --------------===//
//
// Makes the function, loads the addresses of operands and results, and lets the
// template of the kernel's kind write the rest.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Templates.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

static FailureOr<KernelPlan> build(Template &kernel) {
  switch (kernel.op.getKind()) {
  case KernelKind::Loop:
    return buildLoopKernel(kernel);
  case KernelKind::Row:
    return buildRowKernel(kernel);
  case KernelKind::Reduce:
    return buildReduceKernel(kernel);
  case KernelKind::Attention:
    return buildAttentionKernel(kernel);
  case KernelKind::Matmul:
  case KernelKind::Conv:
  case KernelKind::ConvWeightGrad:
    break;
  }
  return kernel.op.emitOpError()
         << "of kind " << stringifyKernelKind(kernel.op.getKind())
         << " is a library call and has no generated code";
}

/// Pointer `number` of a kernel function's arguments.
static Value loadArgument(Code &code, Value arguments, int64_t number) {
  Type pointer = code.pointerType();
  Value slot = code.address(arguments, pointer, code.index(number));
  return code.b.create<LLVM::LoadOp>(code.loc, pointer, slot, 8);
}

FailureOr<KernelPlan> cleave::buildKernel(KernelOp op,
                                          ArrayRef<BufferAttr> operands,
                                          ArrayRef<BufferAttr> results,
                                          StringRef name, ModuleOp target) {
  if (operands.size() != op.getNumOperands() ||
      results.size() != op.getNumResults())
    return op.emitOpError()
           << "has " << op.getNumOperands() << " operands and "
           << op.getNumResults() << " results, found " << operands.size()
           << " and " << results.size() << " buffers";
  if (failed(verifyTypes(op)))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(target.getBody());
  b.getContext()
      ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  Location loc = op.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64, pointer});
  auto function = b.create<LLVM::LLVMFuncOp>(loc, name, type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Code code(b, loc);
  Template kernel(op, code);
  kernel.begin = entry->getArgument(1);
  kernel.end = entry->getArgument(2);
  kernel.scratch = entry->getArgument(3);
  std::string message = getFailMessage(op);
  SmallVector<Value> addresses;
  for (size_t i = 0, e = operands.size() + results.size(); i < e; ++i)
    addresses.push_back(loadArgument(code, entry->getArgument(0), i));
  makeViews(kernel, addresses, operands, results);
  if (!message.empty())
    kernel.errorCell =
        loadArgument(code, entry->getArgument(0), addresses.size());
  FailureOr<KernelPlan> plan = build(kernel);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  if (failed(plan)) {
    function.erase();
    return failure();
  }
  plan->mayFail = !message.empty();
  plan->failMessage = message;
  return plan;
}
