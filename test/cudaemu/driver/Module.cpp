//===- Module.cpp - modules and their functions ---------------------------===//

#include "device/Environment.h"
#include "driver/Driver.h"
#include "ptx/Syntax.h"

#include <cstring>

using namespace cudaemu;

namespace {
/// Options of cuModuleLoadDataEx for the log of errors.
enum JitOption { ErrorLog = 5, ErrorLogBytes = 6 };
} // namespace

static int load(CudaContext &current, Module *&loaded, const void *image,
                std::string &error) {
  try {
    loaded = keep(current.modules, loadPtx(current.context, ptxOf(image)));
    return cuda::Success;
  } catch (const ptx::Error &wrong) {
    error = wrong.what();
    return cuda::InvalidPtx;
  } catch (const ImageError &wrong) {
    error = wrong.what();
    return wrong.code;
  }
}

extern "C" {

int cuModuleLoadDataEx(cuda::ModuleHandle *module, const void *image,
                       unsigned count, int *options, void **values) {
  return withContext([&](CudaContext &current) {
    std::string error;
    int result = load(current, *module, image, error);
    if (!result)
      return result;
    // Programs try a cubin and then go on with PTX: not worth a line.
    if (result != cuda::NoBinaryForGpu || environment().trace)
      report("module: " + error);
    char *log = nullptr;
    size_t bytes = 0;
    for (unsigned k = 0; k < count; ++k) {
      if (options[k] == ErrorLog)
        log = static_cast<char *>(values[k]);
      if (options[k] == ErrorLogBytes)
        bytes = reinterpret_cast<size_t>(values[k]);
    }
    if (log && bytes)
      snprintf(log, bytes, "%s", error.c_str());
    return result;
  });
}

int cuModuleLoadData(cuda::ModuleHandle *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

int cuModuleLoadFatBinary(cuda::ModuleHandle *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

int cuModuleUnload(cuda::ModuleHandle module) {
  if (int error = waitForAll())
    return error;
  return outsideCapture([&](CudaContext &current) -> int {
    auto found = current.modules.find(module);
    if (found == current.modules.end())
      return cuda::InvalidHandle;
    for (const auto &[name, global] : module->globals)
      current.context.memory.release(global.address);
    current.modules.erase(found);
    return cuda::Success;
  });
}

int cuModuleGetFunction(cuda::FunctionHandle *function,
                        cuda::ModuleHandle module, const char *name) {
  return withContext([&](CudaContext &) -> int {
    auto found = module->kernels.find(name);
    if (found == module->kernels.end() || !found->second.program.isEntry)
      return cuda::NotFound;
    *function = &found->second;
    return cuda::Success;
  });
}

int cuModuleGetGlobal_v2(cuda::DevicePtr *pointer, size_t *bytes,
                         cuda::ModuleHandle module, const char *name) {
  return withContext([&](CudaContext &) -> int {
    auto found = module->globals.find(name);
    if (found == module->globals.end())
      return cuda::NotFound;
    if (pointer)
      *pointer = found->second.address;
    if (bytes)
      *bytes = found->second.bytes;
    return cuda::Success;
  });
}

int cuFuncGetAttribute(int *value, int attribute, cuda::FunctionHandle f) {
  const Program &program = f->program;
  switch (attribute) {
  case cuda::FunctionMaxThreads:
    *value = static_cast<int>(program.maxThreads);
    break;
  case cuda::FunctionSharedBytes:
    *value = static_cast<int>(program.sharedBytes);
    break;
  case cuda::FunctionLocalBytes:
    *value = static_cast<int>(program.stackBytes);
    break;
  case cuda::FunctionRegisters:
    *value = 32; // what a device has of them is not emulated
    break;
  case cuda::FunctionPtxVersion:
  case cuda::FunctionBinaryVersion:
    *value = environment().major * 10 + environment().minor;
    break;
  case cuda::FunctionMaxDynamicShared:
    *value = f->maxDynamicShared;
    break;
  default:
    *value = 0;
  }
  return cuda::Success;
}

int cuFuncSetAttribute(cuda::FunctionHandle f, int attribute, int value) {
  if (attribute != cuda::FunctionMaxDynamicShared)
    return attribute == cuda::FunctionSharedCarveout ? cuda::Success
                                                     : cuda::InvalidValue;
  constexpr int most = 227 << 10;
  if (value < 0 || value + static_cast<int>(f->program.sharedBytes) > most)
    return refuse("cuFuncSetAttribute",
                  "kernel '" + f->program.name + "': " + std::to_string(value) +
                      " bytes of dynamic shared memory are more than the "
                      "device has");
  f->maxDynamicShared = value;
  return cuda::Success;
}

int cuFuncSetCacheConfig(cuda::FunctionHandle, int) { return cuda::Success; }

int cuFuncGetName(const char **name, cuda::FunctionHandle f) {
  *name = f->program.name.c_str();
  return cuda::Success;
}
}
