//===- Memory.cpp - memory of a device ------------------------------------===//

#include "runtime/cuda/Memory.h"

namespace cleave::rt::cuda {

Memory::~Memory() {
  for (DevicePointer pointer : onDevice)
    driver().cuMemFree_v2(pointer);
  for (void *pointer : onHost)
    driver().cuMemFreeHost(pointer);
}

void *Memory::allocate(size_t bytes, const char *what) {
  if (bytes == 0)
    return nullptr;
  DevicePointer pointer = 0;
  if (driver().cuMemAlloc_v2(&pointer, bytes) != StatusDone) {
    size_t available = 0, total = 0;
    driver().cuMemGetInfo_v2(&available, &total);
    fail(ExitDevice,
         "out of device memory: {} needs {} bytes, {} of {} are free", what,
         bytes, available, total);
  }
  onDevice.push_back(pointer);
  return reinterpret_cast<void *>(pointer);
}

std::byte *Memory::allocateHost(size_t bytes) {
  if (bytes == 0)
    return nullptr;
  void *pointer = nullptr;
  CLEAVE_DRIVER(cuMemAllocHost_v2, &pointer, bytes);
  onHost.push_back(pointer);
  return static_cast<std::byte *>(pointer);
}

} // namespace cleave::rt::cuda
