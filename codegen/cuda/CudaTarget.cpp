//===- CudaTarget.cpp - programs for CUDA devices -------------------------===//
//
// All kernels of a program are one module, in each of its forms. Constants that
// kernels read are one block of memory.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/CudaTarget.h"

#include "codegen/Buffers.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/host/Collectives.h"
#include "codegen/kernels/Template.h"
#include "runtime/Abi.h"

#include <cstring>
#include <set>

using namespace cleave;
using namespace mlir;

//===-- Kernels -----------------------------------------------------------===//

FailureOr<size_t> CudaTarget::getFunction(KernelOp kernel, StringRef what,
                                          ArrayRef<BufferAttr> operands,
                                          ArrayRef<BufferAttr> results) {
  auto [entry, isNew] = byKey.try_emplace(
      cuda::getKernelKey(kernel, operands, results), functions.size());
  if (!isNew)
    return entry->second;
  std::string name = (what + "_" + Twine(functions.size())).str();
  FailureOr<cuda::LaunchPlan> plan =
      cuda::buildKernel(kernel, operands, results, name, *kernels);
  if (failed(plan))
    return failure();
  functions.push_back({name, *plan});
  return functions.size() - 1;
}

LogicalResult CudaTarget::add(KernelOp kernel) {
  FailureOr<SmallVector<BufferAttr>> operands = getBuffers(kernel.getInputs());
  FailureOr<SmallVector<BufferAttr>> results = getBuffers(kernel.getResults());
  if (failed(operands) || failed(results))
    return failure();
  FailureOr<size_t> function = getFunction(
      kernel, stringifyKernelKind(kernel.getKind()), *operands, *results);
  if (failed(function))
    return failure();
  uses[kernel] = *function;
  return success();
}

static int64_t countOps(KernelOp library, const LibraryCall &call) {
  if (library.getKind() != KernelKind::Matmul)
    return 0;
  CleaveMatmulDesc desc;
  std::memcpy(&desc, call.descriptor.data(), sizeof(desc));
  return countFusedOps(desc);
}

LogicalResult CudaTarget::addPost(KernelOp library) {
  FailureOr<LibraryCall> call = readLibraryCall(library);
  if (failed(call))
    return failure();
  int64_t fused = countOps(library, *call);
  if (fused == static_cast<int64_t>(call->post.size()))
    return success();
  FailureOr<PostKernel> post = makePostKernel(library, fused);
  if (failed(post))
    return failure();
  FailureOr<size_t> function =
      getFunction(post->kernel, "post", post->operands, post->results);
  if (failed(function))
    return failure();
  rests[library] = {*function, post->reads};
  return success();
}

LogicalResult CudaTarget::buildKernels(func::FuncOp stage, ModuleOp program) {
  kernels = ModuleOp::create(stage.getLoc(), "kernels");
  WalkResult walk = stage.walk([&](KernelOp kernel) {
    LogicalResult added =
        isGenerated(kernel.getKind()) ? add(kernel) : addPost(kernel);
    return failed(added) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return cuda::lowerKernels(*kernels);
}

//===-- Host code ---------------------------------------------------------===//

void CudaTarget::launch(StepBuilder &step, size_t number,
                        ArrayRef<Value> pointers, Location loc) {
  const auto &[name, plan] = functions[number];
  if (plan.grid == 0)
    return;
  CleaveLaunchDesc desc = {};
  desc.kernel = static_cast<int32_t>(number);
  desc.argCount = static_cast<int32_t>(pointers.size());
  desc.grid = static_cast<int32_t>(plan.grid);
  desc.block = static_cast<int32_t>(plan.block);
  desc.cell = plan.mayFail ? cells++ : -1;
  ++figures.launches;
  StringRef bytes(reinterpret_cast<const char *>(&desc), sizeof(desc));
  step.call("cleaveLaunch",
            {step.constant(bytes), step.array(pointers),
             step.text(getNodeName(loc)),
             plan.mayFail ? step.text(plan.failMessage) : step.null()});
}

void CudaTarget::emitCall(StepBuilder &step, KernelOp kernel,
                          ArrayRef<Value> pointers) {
  launch(step, uses.lookup(kernel), pointers, kernel.getLoc());
}

FailureOr<LibraryCall> CudaTarget::readLibrary(KernelOp library) {
  FailureOr<LibraryCall> call = readLibraryCall(library);
  if (failed(call))
    return failure();
  int64_t fused = countOps(library, *call);
  call->post.truncate(fused);
  auto setCount = [&](auto desc) {
    std::memcpy(&desc, call->descriptor.data(), sizeof(desc));
    for (int64_t i = fused; i < desc.postOpCount; ++i)
      desc.postOps[i] = {};
    desc.postOpCount = static_cast<int32_t>(fused);
    std::memcpy(call->descriptor.data(), &desc, sizeof(desc));
  };
  if (library.getKind() == KernelKind::Matmul)
    setCount(CleaveMatmulDesc());
  else
    setCount(CleaveConvDesc());
  return call;
}

LogicalResult CudaTarget::finishLibrary(StepBuilder &step, KernelOp library,
                                        Value result, Address address) {
  auto rest = rests.find(library);
  if (rest == rests.end())
    return success();
  SmallVector<Value> pointers{result};
  for (const LibraryOperand &operand : rest->second.reads) {
    FailureOr<Value> pointer = address(operand);
    if (failed(pointer))
      return failure();
    pointers.push_back(*pointer);
  }
  pointers.push_back(result);
  launch(step, rest->second.function, pointers, library.getLoc());
  return success();
}

Value CudaTarget::addConstant(StepBuilder &step, StringRef bytes) {
  auto [entry, isNew] = constantPlaces.try_emplace(bytes, 0);
  if (isNew) {
    constants.resize(llvm::alignTo(constants.size(), cuda::BaseAlignment));
    entry->second = static_cast<int64_t>(constants.size());
    constants.append(bytes.begin(), bytes.end());
  }
  return step.deviceConstant(entry->second);
}

void CudaTarget::storeIndex(StepBuilder &step, Value index, Value address) {
  step.call("cleaveStoreIndex", {address, index});
}

//===-- Device code -------------------------------------------------------===//

FailureOr<std::string> CudaTarget::addDeviceCode(ModuleOp program) {
  MLIRContext *context = program.getContext();
  std::set<int64_t> archs, ptxArchs;
  for (const std::string &arch : options.archs) {
    archs.insert(*parseArch(arch));
    ptxArchs.insert(getPtxArch(*parseArch(arch)));
  }
  for (int64_t arch : ptxArchs) {
    FailureOr<std::string> text = emitPtx(*kernels, arch);
    if (failed(text))
      return failure();
    ptx.push_back({arch, *text});
  }
  if (options.ptxOnly)
    return std::string();
  FailureOr<std::string> ptxas = findPtxas(context, options.cudaPath);
  if (failed(ptxas))
    return failure();
  llvm::StringMap<std::string> narrowLoads;
  for (const Function &function : functions)
    narrowLoads[function.name] = function.plan.narrowLoads;
  SmallVector<DeviceImage> images;
  for (int64_t arch : archs) {
    for (const auto &[ptxArch, text] : ptx) {
      if (ptxArch != getPtxArch(arch))
        continue;
      std::string name = "sm_" + std::to_string(arch);
      FailureOr<Cubin> cubin = assemblePtx(context, *ptxas, text, name);
      if (failed(cubin))
        return failure();
      for (KernelFigures &kernel : cubin->kernels)
        kernel.narrowLoads = narrowLoads.lookup(kernel.name);
      figures.binaries.push_back({name, cubin->kernels});
      images.push_back({arch, /*isBinary=*/true, cubin->bytes});
    }
  }
  for (const auto &[arch, text] : ptx)
    images.push_back({arch, /*isBinary=*/false, text + std::string(1, '\0')});
  SmallVector<std::string> names;
  for (const Function &function : functions)
    names.push_back(function.name);
  return addDeviceSymbols(program, names, images, constants, cells);
}

std::string CudaTarget::getPtx() const {
  std::string all;
  for (const auto &[arch, text] : ptx)
    all += text;
  return all;
}
