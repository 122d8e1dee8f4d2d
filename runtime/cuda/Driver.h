//===- Driver.h - the entry points of the CUDA driver ---------------------===//
//
// As the driver API's public ABI has them (CUDA 12 and later). A status that is
// not 0 becomes a Failure (ExitDevice) that names the call.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_DRIVER_H
#define CLEAVE_RUNTIME_CUDA_DRIVER_H

#include "runtime/cuda/Library.h"
#include "runtime/support/Error.h"

#include <cstddef>

namespace cleave::rt::cuda {

using Status = int;
using DeviceNumber = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct CUctx_st *;
using ModuleHandle = struct CUmod_st *;
using FunctionHandle = struct CUfunc_st *;
using StreamHandle = struct CUstream_st *;
using EventHandle = struct CUevent_st *;
using GraphHandle = struct CUgraph_st *;
using GraphExecHandle = struct CUgraphExec_st *;

enum DeviceAttribute {
  AttributeMajor = 75, ///< of the compute capability
  AttributeMinor = 76,
};

enum : Status { StatusDone = 0, StatusNoBinary = 209, StatusNotReady = 600 };
enum : unsigned {
  StreamNonBlocking = 1,
  EventWithoutTiming = 2,
  CaptureRelaxed = 2,
};

/// CUDA_MEMCPY2D_v2: rows of bytes that lie `pitch` bytes apart.
struct Copy2D {
  size_t srcXInBytes, srcY;
  unsigned srcMemoryType;
  const void *srcHost;
  DevicePointer srcDevice;
  void *srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  unsigned dstMemoryType;
  void *dstHost;
  DevicePointer dstDevice;
  void *dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};
inline constexpr unsigned MemoryOnDevice = 2;

#define CLEAVE_DRIVER_ENTRIES(X)                                               \
  X(Status, cuInit, (unsigned))                                                \
  X(Status, cuGetErrorString, (Status, const char **))                         \
  X(Status, cuDeviceGetCount, (int *))                                         \
  X(Status, cuDeviceGet, (DeviceNumber *, int))                                \
  X(Status, cuDeviceGetName, (char *, int, DeviceNumber))                      \
  X(Status, cuDeviceGetAttribute, (int *, int, DeviceNumber))                  \
  X(Status, cuDevicePrimaryCtxRetain, (ContextHandle *, DeviceNumber))         \
  X(Status, cuDevicePrimaryCtxRelease_v2, (DeviceNumber))                      \
  X(Status, cuCtxSetCurrent, (ContextHandle))                                  \
  X(Status, cuMemGetInfo_v2, (size_t *, size_t *))                             \
  X(Status, cuMemAlloc_v2, (DevicePointer *, size_t))                          \
  X(Status, cuMemFree_v2, (DevicePointer))                                     \
  X(Status, cuMemAllocHost_v2, (void **, size_t))                              \
  X(Status, cuMemFreeHost, (void *))                                           \
  X(Status, cuMemcpyHtoDAsync_v2,                                              \
    (DevicePointer, const void *, size_t, StreamHandle))                       \
  X(Status, cuMemcpyDtoHAsync_v2,                                              \
    (void *, DevicePointer, size_t, StreamHandle))                             \
  X(Status, cuMemcpyDtoDAsync_v2,                                              \
    (DevicePointer, DevicePointer, size_t, StreamHandle))                      \
  X(Status, cuMemcpy2DAsync_v2, (const Copy2D *, StreamHandle))                \
  X(Status, cuMemsetD8Async,                                                   \
    (DevicePointer, unsigned char, size_t, StreamHandle))                      \
  X(Status, cuMemsetD32Async, (DevicePointer, unsigned, size_t, StreamHandle)) \
  X(Status, cuStreamCreate, (StreamHandle *, unsigned))                        \
  X(Status, cuStreamDestroy_v2, (StreamHandle))                                \
  X(Status, cuStreamQuery, (StreamHandle))                                     \
  X(Status, cuStreamSynchronize, (StreamHandle))                               \
  X(Status, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned))          \
  X(Status, cuEventCreate, (EventHandle *, unsigned))                          \
  X(Status, cuEventRecord, (EventHandle, StreamHandle))                        \
  X(Status, cuEventQuery, (EventHandle))                                       \
  X(Status, cuEventDestroy_v2, (EventHandle))                                  \
  X(Status, cuModuleLoadData, (ModuleHandle *, const void *))                  \
  X(Status, cuModuleUnload, (ModuleHandle))                                    \
  X(Status, cuModuleGetFunction,                                               \
    (FunctionHandle *, ModuleHandle, const char *))                            \
  X(Status, cuLaunchKernel,                                                    \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,         \
     unsigned, unsigned, StreamHandle, void **, void **))                      \
  X(Status, cuStreamBeginCapture_v2, (StreamHandle, unsigned))                 \
  X(Status, cuStreamEndCapture, (StreamHandle, GraphHandle *))                 \
  X(Status, cuGraphInstantiateWithFlags,                                       \
    (GraphExecHandle *, GraphHandle, unsigned long long))                      \
  X(Status, cuGraphLaunch, (GraphExecHandle, StreamHandle))                    \
  X(Status, cuGraphExecDestroy, (GraphExecHandle))                             \
  X(Status, cuGraphDestroy, (GraphHandle))

struct Driver {
  /// Loads and starts the driver. Throws Failure (ExitDevice).
  Driver();

  CLEAVE_DRIVER_ENTRIES(CLEAVE_DECLARE_ENTRY)

  /// Throws a Failure that names the call, unless `status` is StatusDone.
  void check(Status status, const char *call) const;

private:
  Library library;
};

/// Loaded at first use, for all ranks of the process.
const Driver &driver();

inline DevicePointer toDevice(const void *address) {
  return reinterpret_cast<DevicePointer>(address);
}

} // namespace cleave::rt::cuda

/// Calls an entry point of the driver.
#define CLEAVE_DRIVER(name, ...)                                               \
  ::cleave::rt::cuda::driver().check(                                          \
      ::cleave::rt::cuda::driver().name(__VA_ARGS__), #name)

#endif
