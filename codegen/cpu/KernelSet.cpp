//===- KernelSet.cpp - generate each distinct kernel once -----------------===//
//
// A model of twelve equal blocks has the kernels of one: the key of a kernel
// is its body and strides, without places and locations.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/KernelSet.h"

#include "codegen/Buffers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace cleave;
using namespace mlir;

LogicalResult KernelSet::add(KernelOp kernel, ModuleOp target) {
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
      buildKernel(kernel, *operands, *results, name, target);
  if (failed(plan))
    return failure();
  functions.push_back({name, *plan});
  return success();
}

LogicalResult KernelSet::build(func::FuncOp stage, ModuleOp target) {
  WalkResult walk = stage.walk([&](KernelOp kernel) {
    if (isGenerated(kernel.getKind()) && failed(add(kernel, target)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || failed(lowerKernels(target)))
    return failure();
  for (const KernelFunction &function : functions)
    target.lookupSymbol<LLVM::LLVMFuncOp>(function.name)
        .setLinkage(LLVM::Linkage::Internal);
  return success();
}
