//===- Device.cpp - devices and contexts ----------------------------------===//

#include "device/Environment.h"
#include "driver/Driver.h"

#include <array>
#include <cstring>

using namespace cudaemu;

namespace {
/// Never destroyed: contexts have threads, which must not end after main.
struct Driver {
  std::mutex mutex;
  bool isInitialised = false;
  std::map<int, std::unique_ptr<CudaContext>> primary;
  std::mutex aliveMutex;
  std::set<const CudaContext *> alive;
};
} // namespace

static Driver &driver() {
  static auto *made = new Driver;
  return *made;
}

static thread_local std::vector<CudaContext *> stack;

CudaContext *cudaemu::currentContext() {
  return !stack.empty() && isAlive(stack.back()) ? stack.back() : nullptr;
}

bool cudaemu::isAlive(const CudaContext *context) {
  std::lock_guard<std::mutex> lock(driver().aliveMutex);
  return driver().alive.count(context) != 0;
}

bool cudaemu::isInitialised() { return driver().isInitialised; }

CudaContext::CudaContext(int device) : context(device) {
  std::lock_guard<std::mutex> lock(driver().aliveMutex);
  driver().alive.insert(this);
}

CudaContext::~CudaContext() {
  {
    std::lock_guard<std::mutex> lock(driver().aliveMutex);
    driver().alive.erase(this);
  }
  context.stop(); // what runs uses the modules and the memory
  for (void *memory : ownedHost)
    free(memory);
}

int cudaemu::refuse(const char *function, const std::string &what) {
  report(std::string(function) + ": " + what);
  return cuda::InvalidValue;
}

static bool isDevice(int device) {
  return device >= 0 && device < environment().devices;
}

extern "C" {

int cuInit(unsigned flags) {
  if (flags)
    return cuda::InvalidValue;
  if (environment().devices == 0)
    return cuda::NoDevice;
  driver().isInitialised = true;
  return cuda::Success;
}

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return cuda::Success;
}

int cuDeviceGetCount(int *count) {
  if (!isInitialised())
    return cuda::NotInitialized;
  *count = environment().devices;
  return cuda::Success;
}

int cuDeviceGet(cuda::Device *device, int ordinal) {
  if (!isInitialised())
    return cuda::NotInitialized;
  if (!isDevice(ordinal))
    return cuda::InvalidDevice;
  *device = ordinal;
  return cuda::Success;
}

int cuDeviceGetName(char *name, int length, cuda::Device device) {
  if (!isDevice(device))
    return cuda::InvalidDevice;
  snprintf(name, length, "emulated device %d", device);
  return cuda::Success;
}

int cuDeviceTotalMem_v2(size_t *bytes, cuda::Device device) {
  if (!isDevice(device))
    return cuda::InvalidDevice;
  *bytes = environment().memory;
  return cuda::Success;
}

int cuDeviceGetUuid_v2(char *uuid, cuda::Device device) {
  if (!isDevice(device))
    return cuda::InvalidDevice;
  std::memset(uuid, 0, 16);
  uuid[15] = static_cast<char>(device);
  return cuda::Success;
}

int cuDeviceGetPCIBusId(char *id, int length, cuda::Device device) {
  if (!isDevice(device))
    return cuda::InvalidDevice;
  snprintf(id, length, "0000:%02x:00.0", device);
  return cuda::Success;
}

int cuDeviceGetAttribute(int *value, int attribute, cuda::Device device) {
  if (!isDevice(device))
    return cuda::InvalidDevice;
  static const std::map<int, int> values = {
      {1, 1024},                               // threads of a block
      {2, 1024},       {3, 1024},  {4, 64},    // its dimensions
      {5, 2147483647}, {6, 65535}, {7, 65535}, // the grid's
      {8, 49152},                              // shared memory of a block
      {9, 65536},                              // constant memory
      {10, 32},                                // lanes of a warp
      {12, 65536},                             // registers of a block
      {13, 1000000},                           // kHz
      {15, 1},                                 // copies beside kernels
      {16, 16},                                // multiprocessors
      {19, 1},         // host memory in its address space
      {31, 1},         // concurrent kernels
      {36, 1000000},   // kHz of the memory
      {37, 4096},      // bits of its bus
      {38, 4 << 20},   // bytes of the second-level cache
      {39, 2048},      // threads of a multiprocessor
      {40, 2},         // copy engines
      {41, 1},         // unified addresses
      {78, 1},         // stream priorities
      {81, 228 << 10}, // shared memory of a multiprocessor
      {82, 65536},     // its registers
      {97, 227 << 10}, // shared memory of a block on request
      {115, 1},        // memory pools
  };
  auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  if (attribute == 33)
    *value = device; // PCI bus
  if (attribute == 75)
    *value = environment().major;
  if (attribute == 76)
    *value = environment().minor;
  return cuda::Success;
}

int cuDevicePrimaryCtxRetain(cuda::ContextHandle *context,
                             cuda::Device device) {
  if (!isInitialised())
    return cuda::NotInitialized;
  if (!isDevice(device))
    return cuda::InvalidDevice;
  std::lock_guard<std::mutex> lock(driver().mutex);
  std::unique_ptr<CudaContext> &primary = driver().primary[device];
  if (!primary)
    primary = std::make_unique<CudaContext>(device);
  ++primary->retained;
  *context = primary.get();
  return cuda::Success;
}

int cuDevicePrimaryCtxRelease_v2(cuda::Device device) {
  std::lock_guard<std::mutex> lock(driver().mutex);
  auto found = driver().primary.find(device);
  if (found == driver().primary.end() || !found->second)
    return cuda::InvalidContext;
  if (--found->second->retained == 0)
    driver().primary.erase(found);
  return cuda::Success;
}

/// Ends the context, with a fault that it may have, and all that it holds.
int cuDevicePrimaryCtxReset_v2(cuda::Device device) {
  std::lock_guard<std::mutex> lock(driver().mutex);
  driver().primary.erase(device);
  return cuda::Success;
}

int cuDevicePrimaryCtxSetFlags_v2(cuda::Device, unsigned) {
  return cuda::Success;
}

int cuDevicePrimaryCtxGetState(cuda::Device device, unsigned *flags,
                               int *active) {
  std::lock_guard<std::mutex> lock(driver().mutex);
  *flags = 0;
  *active = driver().primary.count(device) != 0;
  return cuda::Success;
}

int cuCtxSetCurrent(cuda::ContextHandle context) {
  if (stack.empty())
    stack.push_back(context);
  else
    stack.back() = context;
  return cuda::Success;
}

int cuCtxGetCurrent(cuda::ContextHandle *context) {
  *context = currentContext();
  return cuda::Success;
}

int cuCtxPushCurrent_v2(cuda::ContextHandle context) {
  stack.push_back(context);
  return cuda::Success;
}

int cuCtxPopCurrent_v2(cuda::ContextHandle *context) {
  if (stack.empty())
    return cuda::InvalidContext;
  if (context)
    *context = stack.back();
  stack.pop_back();
  return cuda::Success;
}

int cuCtxGetDevice(cuda::Device *device) {
  CudaContext *current = currentContext();
  if (!current)
    return cuda::InvalidContext;
  *device = current->context.device;
  return cuda::Success;
}

int cuCtxSetLimit(int, size_t) { return cuda::Success; }

int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  *least = 0;
  *greatest = -5;
  return cuda::Success;
}

int cuCtxSynchronize() { return waitForAll(); }
}
