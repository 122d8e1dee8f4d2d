//===- Names.cpp - errors and entry points by name ------------------------===//

#include "driver/Driver.h"

#include <dlfcn.h>

using namespace cudaemu;

namespace {
struct ErrorName {
  int code;
  const char *name, *text;
};
constexpr ErrorName errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device (the emulator "
     "runs PTX, no cubin)"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the launch timed out and was terminated"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {718, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
};
} // namespace

/// This library, however it was loaded.
static void *self() {
  static void *const handle = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&cuGetErrorName), &info);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return handle;
}

static const ErrorName *find(int error) {
  for (const ErrorName &row : errors)
    if (row.code == error)
      return &row;
  return nullptr;
}

extern "C" {

int cuGetErrorName(int error, const char **name) {
  const ErrorName *row = find(error);
  *name = row ? row->name : nullptr;
  return row ? cuda::Success : cuda::InvalidValue;
}

int cuGetErrorString(int error, const char **text) {
  const ErrorName *row = find(error);
  *text = row ? row->text : nullptr;
  return row ? cuda::Success : cuda::InvalidValue;
}

/// The newest variant of the entry point, as the headers map the name to it.
int cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t,
                        int *status) {
  *function = nullptr;
  for (const char *suffix : {"_v3", "_v2", "WithFlags", ""})
    if (!*function)
      *function = dlsym(self(), (std::string(symbol) + suffix).c_str());
  if (status)
    *status = *function ? 0 : 1;
  return *function ? cuda::Success : cuda::NotFound;
}

int cuGetProcAddress(const char *symbol, void **function, int version,
                     uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
}
