//===- CpuTarget.cpp - programs for CPUs ----------------------------------===//
//
// A model of twelve equal blocks has the kernels of one: the key of a kernel
// is its body and strides, without places and locations.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuTarget.h"

#include "codegen/Buffers.h"
#include "codegen/host/Collectives.h"
#include "codegen/kernels/Template.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace cleave;
using namespace mlir;

LogicalResult CpuTarget::add(KernelOp kernel, ModuleOp program) {
  FailureOr<SmallVector<BufferAttr>> operands = getBuffers(kernel.getInputs());
  FailureOr<SmallVector<BufferAttr>> results = getBuffers(kernel.getResults());
  if (failed(operands) || failed(results))
    return failure();
  auto [entry, isNew] = byKey.try_emplace(
      getKernelKey(kernel, *operands, *results), functions.size());
  uses[kernel] = entry->second;
  if (!isNew)
    return success();
  std::string name =
      (stringifyKernelKind(kernel.getKind()) + "_" + Twine(functions.size()))
          .str();
  FailureOr<KernelPlan> plan =
      buildKernel(kernel, *operands, *results, name, program);
  if (failed(plan))
    return failure();
  functions.push_back({name, *plan});
  return success();
}

LogicalResult CpuTarget::buildKernels(func::FuncOp stage, ModuleOp program) {
  WalkResult walk = stage.walk([&](KernelOp kernel) {
    if (isGenerated(kernel.getKind()) && failed(add(kernel, program)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || failed(lowerKernels(program)))
    return failure();
  for (const Function &function : functions)
    program.lookupSymbol<LLVM::LLVMFuncOp>(function.name)
        .setLinkage(LLVM::Linkage::Internal);
  return success();
}

void CpuTarget::emitCall(StepBuilder &step, KernelOp kernel,
                         ArrayRef<Value> pointers) {
  const Function &function = functions[uses.lookup(kernel)];
  SmallVector<Value> arguments(pointers);
  if (function.plan.mayFail)
    arguments.push_back(step.cell());
  step.call("cleaveParallelFor",
            {step.symbol(function.name), step.array(arguments),
             step.i64(function.plan.extent), step.i64(function.plan.grain),
             step.null(), step.i64(function.plan.scratchBytesPerThread)});
  if (function.plan.mayFail)
    step.ifNotZero(arguments.back(), [&] {
      step.call("cleaveFail", {step.text(getNodeName(kernel.getLoc())),
                               step.text(function.plan.failMessage)});
    });
}

FailureOr<LibraryCall> CpuTarget::readLibrary(KernelOp kernel) {
  return readLibraryCall(kernel);
}

Value CpuTarget::addConstant(StepBuilder &step, StringRef bytes) {
  return step.constant(bytes);
}

void CpuTarget::storeIndex(StepBuilder &step, Value index, Value address) {
  step.store(index, address);
}
