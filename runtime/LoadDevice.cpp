//===- LoadDevice.cpp - find and load libcleave_cuda.so -------------------===//
//
// Beside libcleave_rt.so. It stays loaded to the end of the process.
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"
#include "runtime/Format.h"
#include "runtime/support/Error.h"
#include "runtime/support/OwnFolder.h"

#include <dlfcn.h>

namespace cleave::rt {

std::unique_ptr<Device> loadCudaDevice(const DeviceOptions &options) {
  std::string path = (ownFolder() / format::CudaLib).string();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(ExitDevice, "cannot load the CUDA runtime of cleave: {}", dlerror());
  auto *make =
      reinterpret_cast<MakeDeviceFn *>(dlsym(library, "cleaveMakeCudaDevice"));
  if (!make)
    fail(ExitDevice, "'{}' is not a CUDA runtime of cleave", path);
  return std::unique_ptr<Device>(make(options));
}

} // namespace cleave::rt
