//===- BuildKernel.cpp - the function around a kernel's code --------------===//
//
// Makes the function, whose arguments are the addresses, and lets the template
// of the kernel's kind write the rest.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Loads.h"
#include "codegen/cuda/kernels/Templates.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

static FailureOr<LaunchPlan> build(Template &kernel) {
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

/// Bytes that the address of a buffer is a multiple of.
static int64_t getAlignment(BufferAttr buffer) {
  int64_t slot = buffer.getSlots() > 1 ? buffer.getSlotBytes() : 0;
  return std::gcd(std::gcd(BaseAlignment, buffer.getOffset()), slot);
}

static void setAlignments(Template &kernel, ArrayRef<BufferAttr> operands,
                          ArrayRef<BufferAttr> results) {
  Block &body = kernel.op.getBody().front();
  for (auto [argument, buffer] : llvm::zip(body.getArguments(), operands))
    kernel.views[argument].alignment = getAlignment(buffer);
  for (auto [view, buffer] : llvm::zip(kernel.results, results))
    view.alignment = getAlignment(buffer);
}

FailureOr<LaunchPlan> cuda::buildKernel(KernelOp op,
                                        ArrayRef<BufferAttr> operands,
                                        ArrayRef<BufferAttr> results,
                                        StringRef name, ModuleOp target) {
  if (failed(verifyTypes(op)))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(target.getBody());
  b.getContext()
      ->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, arith::ArithDialect,
                    math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  std::string message = getFailMessage(op);
  SmallVector<Type> types(operands.size() + results.size() + !message.empty(),
                          LLVM::LLVMPointerType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), types);
  auto function = b.create<LLVM::LLVMFuncOp>(op.getLoc(), name, type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Code code(b, op.getLoc());
  Template kernel(op, code);
  SmallVector<Value> addresses(entry->getArguments());
  if (!message.empty())
    kernel.errorCell = addresses.pop_back_val();
  makeViews(kernel, addresses, operands, results);
  setAlignments(kernel, operands, results);
  FailureOr<LaunchPlan> plan = build(kernel);
  b.create<LLVM::ReturnOp>(op.getLoc(), ValueRange());
  if (failed(plan)) {
    function.erase();
    return failure();
  }
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr(static_cast<int32_t>(plan->block)));
  if (hasWideLoads(function))
    plan->narrowLoads.clear();
  else if (op.getKind() == KernelKind::Loop && plan->narrowLoads.empty())
    plan->narrowLoads = explainNarrowLoads(function).str();
  plan->mayFail = !message.empty();
  plan->failMessage = message;
  return plan;
}

std::string cuda::getKernelKey(KernelOp op, ArrayRef<BufferAttr> operands,
                               ArrayRef<BufferAttr> results) {
  std::string key = cleave::getKernelKey(op, operands, results);
  for (ArrayRef<BufferAttr> buffers : {operands, results})
    for (BufferAttr buffer : buffers)
      key += "@" + std::to_string(std::min<int64_t>(getAlignment(buffer), 16));
  return key;
}
