//===- Cuda.h - the part of the driver API that the emulator has ----------===//
//
// Declared from the public ABI, so that no toolkit is needed; AbiCheck.cpp
// compares with cuda.h where there is one. Handles are opaque, results are
// those of CUresult.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudaemu {
struct Kernel;
struct Module;
struct Stream;
struct Event;
struct GraphExec;
struct CudaContext;
struct CudaGraph;
} // namespace cudaemu

namespace cuda {

using Device = int;
using DevicePtr = unsigned long long;
using ContextHandle = cudaemu::CudaContext *;
using ModuleHandle = cudaemu::Module *;
using FunctionHandle = cudaemu::Kernel *;
using StreamHandle = cudaemu::Stream *;
using EventHandle = cudaemu::Event *;
using GraphHandle = cudaemu::CudaGraph *;
using GraphExecHandle = cudaemu::GraphExec *;
using HostFunction = void (*)(void *);

enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  InvalidPtx = 218,
  UnsupportedPtx = 222,
  FileNotFound = 301,
  InvalidHandle = 400,
  IllegalState = 401,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  MisalignedAddress = 716,
  InvalidPc = 718,
  LaunchFailed = 719,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
  CaptureMerge = 902,
  CaptureUnmatched = 903,
  CaptureUnjoined = 904,
};

enum EventFlag { EventDisableTiming = 2 };
enum StreamFlag { StreamNonBlocking = 1 };
enum CaptureMode {
  CaptureGlobal = 0,
  CaptureThreadLocal = 1,
  CaptureRelaxed = 2
};
enum CaptureStatus { CaptureNone = 0, CaptureActive = 1, CaptureBroken = 2 };
enum FunctionAttribute {
  FunctionMaxThreads = 0,
  FunctionSharedBytes = 1,
  FunctionConstBytes = 2,
  FunctionLocalBytes = 3,
  FunctionRegisters = 4,
  FunctionPtxVersion = 5,
  FunctionBinaryVersion = 6,
  FunctionMaxDynamicShared = 8,
  FunctionSharedCarveout = 9,
};

struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  StreamHandle stream;
  void *attributes;
  unsigned attributeCount;
};

enum MemoryType { HostMemory = 1, DeviceMemory = 2 };
/// CUDA_MEMCPY2D: `rows` rows of `bytes` bytes.
struct Copy2D {
  size_t fromX, fromY;
  unsigned fromType;
  const void *fromHost;
  DevicePtr fromDevice;
  void *fromArray;
  size_t fromPitch;
  size_t toX, toY;
  unsigned toType;
  void *toHost;
  DevicePtr toDevice;
  void *toArray;
  size_t toPitch;
  size_t bytes, rows;
};

} // namespace cuda

#ifndef CUDAEMU_TYPES_ONLY // the headers of a toolkit have the rest
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);
int cuGetProcAddress_v2(const char *symbol, void **function, int version,
                        uint64_t flags, int *status);

int cuDeviceGet(cuda::Device *device, int ordinal);
int cuDeviceGetCount(int *count);
int cuDeviceGetName(char *name, int length, cuda::Device device);
int cuDeviceGetAttribute(int *value, int attribute, cuda::Device device);
int cuDeviceTotalMem_v2(size_t *bytes, cuda::Device device);

int cuDevicePrimaryCtxRetain(cuda::ContextHandle *context, cuda::Device);
int cuDevicePrimaryCtxRelease_v2(cuda::Device device);
int cuDevicePrimaryCtxReset_v2(cuda::Device device);
int cuCtxSetCurrent(cuda::ContextHandle context);
int cuCtxGetCurrent(cuda::ContextHandle *context);
int cuCtxPushCurrent_v2(cuda::ContextHandle context);
int cuCtxPopCurrent_v2(cuda::ContextHandle *context);
int cuCtxGetDevice(cuda::Device *device);
int cuCtxSynchronize();

int cuModuleLoadData(cuda::ModuleHandle *module, const void *image);
int cuModuleLoadDataEx(cuda::ModuleHandle *module, const void *image,
                       unsigned count, int *options, void **values);
int cuModuleUnload(cuda::ModuleHandle module);
int cuModuleGetFunction(cuda::FunctionHandle *function,
                        cuda::ModuleHandle module, const char *name);
int cuModuleGetGlobal_v2(cuda::DevicePtr *pointer, size_t *bytes,
                         cuda::ModuleHandle module, const char *name);
int cuFuncGetAttribute(int *value, int attribute, cuda::FunctionHandle);
int cuFuncSetAttribute(cuda::FunctionHandle, int attribute, int value);
int cuLaunchKernel(cuda::FunctionHandle, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, cuda::StreamHandle,
                   void **params, void **extra);
int cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::FunctionHandle,
                     void **params, void **extra);
int cuLaunchHostFunc(cuda::StreamHandle, cuda::HostFunction, void *data);

int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemAlloc_v2(cuda::DevicePtr *pointer, size_t bytes);
int cuMemFree_v2(cuda::DevicePtr pointer);
int cuMemAllocAsync(cuda::DevicePtr *pointer, size_t bytes, cuda::StreamHandle);
int cuMemFreeAsync(cuda::DevicePtr pointer, cuda::StreamHandle);
int cuMemAllocHost_v2(void **pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemHostGetDevicePointer_v2(cuda::DevicePtr *, void *, unsigned flags);
int cuMemcpyHtoD_v2(cuda::DevicePtr to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, cuda::DevicePtr from, size_t bytes);
int cuMemcpyDtoD_v2(cuda::DevicePtr to, cuda::DevicePtr from, size_t bytes);
int cuMemcpyHtoDAsync_v2(cuda::DevicePtr to, const void *from, size_t bytes,
                         cuda::StreamHandle);
int cuMemcpyDtoHAsync_v2(void *to, cuda::DevicePtr from, size_t bytes,
                         cuda::StreamHandle);
int cuMemcpyDtoDAsync_v2(cuda::DevicePtr to, cuda::DevicePtr from, size_t bytes,
                         cuda::StreamHandle);
int cuMemcpy(cuda::DevicePtr to, cuda::DevicePtr from, size_t bytes);
int cuMemcpyAsync(cuda::DevicePtr to, cuda::DevicePtr from, size_t bytes,
                  cuda::StreamHandle);
int cuMemcpy2D_v2(const cuda::Copy2D *copy);
int cuMemcpy2DAsync_v2(const cuda::Copy2D *copy, cuda::StreamHandle);
int cuMemsetD8_v2(cuda::DevicePtr to, unsigned char value, size_t count);
int cuMemsetD32_v2(cuda::DevicePtr to, unsigned value, size_t count);
int cuMemsetD8Async(cuda::DevicePtr, unsigned char, size_t, cuda::StreamHandle);
int cuMemsetD16Async(cuda::DevicePtr, unsigned short, size_t,
                     cuda::StreamHandle);
int cuMemsetD32Async(cuda::DevicePtr, unsigned, size_t, cuda::StreamHandle);

int cuStreamCreate(cuda::StreamHandle *stream, unsigned flags);
int cuStreamCreateWithPriority(cuda::StreamHandle *, unsigned flags, int);
int cuStreamDestroy_v2(cuda::StreamHandle stream);
int cuStreamSynchronize(cuda::StreamHandle stream);
int cuStreamQuery(cuda::StreamHandle stream);
int cuStreamWaitEvent(cuda::StreamHandle stream, cuda::EventHandle event,
                      unsigned flags);
int cuEventCreate(cuda::EventHandle *event, unsigned flags);
int cuEventDestroy_v2(cuda::EventHandle event);
int cuEventRecord(cuda::EventHandle event, cuda::StreamHandle stream);
int cuEventSynchronize(cuda::EventHandle event);
int cuEventQuery(cuda::EventHandle event);
int cuEventElapsedTime_v2(float *milliseconds, cuda::EventHandle start,
                          cuda::EventHandle end);

int cuStreamBeginCapture_v2(cuda::StreamHandle stream, int mode);
int cuStreamEndCapture(cuda::StreamHandle stream, cuda::GraphHandle *graph);
int cuStreamIsCapturing(cuda::StreamHandle stream, int *status);
int cuGraphInstantiateWithFlags(cuda::GraphExecHandle *exec,
                                cuda::GraphHandle graph, uint64_t flags);
int cuGraphLaunch(cuda::GraphExecHandle exec, cuda::StreamHandle stream);
int cuGraphUpload(cuda::GraphExecHandle exec, cuda::StreamHandle stream);
int cuGraphExecDestroy(cuda::GraphExecHandle exec);
int cuGraphDestroy(cuda::GraphHandle graph);
int cuGraphGetNodes(cuda::GraphHandle graph, void **nodes, size_t *count);
// NOLINTEND(readability-identifier-naming)
}
#endif
