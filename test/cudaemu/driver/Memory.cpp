//===- Memory.cpp - allocations -------------------------------------------===//

#include "driver/Driver.h"

#include <cstdlib>

using namespace cudaemu;

static int allocate(CudaContext &current, cuda::DevicePtr *pointer,
                    size_t bytes) {
  if (bytes == 0)
    return cuda::InvalidValue;
  const Allocation *made =
      current.context.memory.allocate(bytes, 512, "an allocation");
  if (!made)
    return cuda::OutOfMemory;
  *pointer = made->begin;
  return cuda::Success;
}

/// Page-locked memory of the host: the device has it at the same address.
static int allocateHost(void **pointer, size_t bytes) {
  return outsideCapture([&](CudaContext &current) -> int {
    size_t pages = (bytes + 4095) / 4096 * 4096;
    *pointer = aligned_alloc(4096, pages);
    if (!*pointer)
      return cuda::OutOfMemory;
    std::memset(*pointer, 0xff, pages);
    current.ownedHost.insert(*pointer);
    current.context.memory.addHost(*pointer, bytes, "pinned host memory");
    return cuda::Success;
  });
}

extern "C" {

int cuMemGetInfo_v2(size_t *free, size_t *total) {
  return withContext([&](CudaContext &current) {
    *total = current.context.memory.capacity();
    *free = *total - current.context.memory.used();
    return cuda::Success;
  });
}

int cuMemAlloc_v2(cuda::DevicePtr *pointer, size_t bytes) {
  return outsideCapture(
      [&](CudaContext &current) { return allocate(current, pointer, bytes); });
}

int cuMemFree_v2(cuda::DevicePtr pointer) {
  if (!pointer)
    return cuda::Success;
  if (int error = waitForAll())
    return error;
  return outsideCapture([&](CudaContext &current) -> int {
    if (!current.context.memory.release(pointer))
      return refuse("cuMemFree", "not the begin of an allocation");
    return cuda::Success;
  });
}

int cuMemAllocAsync(cuda::DevicePtr *pointer, size_t bytes,
                    cuda::StreamHandle) {
  return outsideCapture(
      [&](CudaContext &current) { return allocate(current, pointer, bytes); });
}

int cuMemFreeAsync(cuda::DevicePtr pointer, cuda::StreamHandle stream) {
  return outsideCapture([&](CudaContext &current) {
    Memory &memory = current.context.memory;
    current.streams.put(streamOf(current, stream), "cuMemFreeAsync",
                        [&memory, pointer](Work &) {
                          if (!memory.release(pointer))
                            throw Fault{cuda::InvalidValue,
                                        "cuMemFreeAsync: not the begin of an "
                                        "allocation"};
                          return true;
                        });
    return cuda::Success;
  });
}

int cuMemAllocHost_v2(void **pointer, size_t bytes) {
  return allocateHost(pointer, bytes);
}

int cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  return allocateHost(pointer, bytes);
}

int cuMemFreeHost(void *pointer) {
  if (int error = waitForAll())
    return error;
  return outsideCapture([&](CudaContext &current) -> int {
    if (!current.ownedHost.erase(pointer))
      return refuse("cuMemFreeHost", "not memory of cuMemAllocHost");
    current.context.memory.release(reinterpret_cast<uint64_t>(pointer));
    free(pointer);
    return cuda::Success;
  });
}

int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned) {
  return outsideCapture([&](CudaContext &current) -> int {
    if (current.context.memory.find(reinterpret_cast<uint64_t>(pointer)))
      return 712; // already registered
    current.context.memory.addHost(pointer, bytes, "registered host memory");
    return cuda::Success;
  });
}

int cuMemHostUnregister(void *pointer) {
  if (int error = waitForAll())
    return error;
  return outsideCapture([&](CudaContext &current) -> int {
    if (!current.context.memory.release(reinterpret_cast<uint64_t>(pointer)))
      return 713; // not registered
    return cuda::Success;
  });
}

int cuMemHostGetDevicePointer_v2(cuda::DevicePtr *device, void *pointer,
                                 unsigned) {
  return withContext([&](CudaContext &current) -> int {
    auto address = reinterpret_cast<uint64_t>(pointer);
    if (!current.context.memory.find(address))
      return cuda::InvalidValue;
    *device = address;
    return cuda::Success;
  });
}

int cuMemGetAddressRange_v2(cuda::DevicePtr *begin, size_t *bytes,
                            cuda::DevicePtr pointer) {
  return withContext([&](CudaContext &current) -> int {
    const Allocation *found = current.context.memory.find(pointer);
    if (!found)
      return cuda::NotFound;
    if (begin)
      *begin = found->begin;
    if (bytes)
      *bytes = found->bytes;
    return cuda::Success;
  });
}
}
