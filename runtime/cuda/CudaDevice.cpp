//===- CudaDevice.cpp - one rank's CUDA device ----------------------------===//
//
// The first step is queued call by call: libraries choose their algorithms and
// working memory grows. The second is captured as a graph, which the later ones
// replay.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaDevice.h"

#include "runtime/support/Log.h"

#include <algorithm>

namespace cleave::rt::cuda {

DeviceContext::DeviceContext(int localRank) {
  int count = 0;
  CLEAVE_DRIVER(cuDeviceGetCount, &count);
  if (count == 0)
    fail(ExitDevice, "CUDA: there is no device");
  CLEAVE_DRIVER(cuDeviceGet, &number, localRank % count);
  ContextHandle handle = nullptr;
  CLEAVE_DRIVER(cuDevicePrimaryCtxRetain, &handle, number);
  CLEAVE_DRIVER(cuCtxSetCurrent, handle);
  char name[128] = "";
  driver().cuDeviceGetName(name, sizeof(name), number);
  logf(LogLevel::Debug, "local rank {} uses device {}: {}", localRank, number,
       static_cast<const char *>(name));
}

DeviceContext::~DeviceContext() {
  driver().cuDevicePrimaryCtxRelease_v2(number);
}

CudaDevice::CudaDevice(const DeviceOptions &options)
    : context(options.transport->localRank()),
      code(*options.program->device, context.number),
      products(memory, options.program->slotCount, options.tf32),
      convolutions(memory, options.program->slotCount, options.tf32),
      communication(memory, stream, *options.transport, options.deadlines),
      cells(options.program->device->cellCount), usesGraph(options.graph) {
  const CleaveDeviceCode &own = *options.program->device;
  constantBase = memory.allocate(own.constantBytes, "the constants");
  if (own.constantBytes)
    upload(constantBase, own.constants, own.constantBytes);
  if (cells.empty())
    return;
  size_t bytes = cells.size() * sizeof(int64_t);
  deviceCells = static_cast<int64_t *>(memory.allocate(bytes, "error cells"));
  hostCells = reinterpret_cast<int64_t *>(memory.allocateHost(bytes));
  fill(deviceCells, bytes, 0);
}

CudaDevice::~CudaDevice() {
  if (graph)
    driver().cuGraphExecDestroy(graph);
}

//===-- Memory ------------------------------------------------------------===//

void CudaDevice::upload(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return;
  CLEAVE_DRIVER(cuMemcpyHtoDAsync_v2, toDevice(to), from, bytes, stream.handle);
  CLEAVE_DRIVER(cuStreamSynchronize, stream.handle);
}

void CudaDevice::download(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return;
  CLEAVE_DRIVER(cuMemcpyDtoHAsync_v2, to, toDevice(from), bytes, stream.handle);
  CLEAVE_DRIVER(cuStreamSynchronize, stream.handle);
}

void CudaDevice::copy(void *to, const void *from, size_t bytes) {
  CLEAVE_DRIVER(cuMemcpyDtoDAsync_v2, toDevice(to), toDevice(from), bytes,
                stream.handle);
}

void CudaDevice::fill(void *to, size_t bytes, int value) {
  CLEAVE_DRIVER(cuMemsetD8Async, toDevice(to),
                static_cast<unsigned char>(value), bytes, stream.handle);
}

/// The value is part of the call, so that a captured step keeps it.
void CudaDevice::storeIndex(void *to, int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  DevicePointer low = toDevice(to), high = low + sizeof(uint32_t);
  CLEAVE_DRIVER(cuMemsetD32Async, low, static_cast<unsigned>(bits), 1,
                stream.handle);
  CLEAVE_DRIVER(cuMemsetD32Async, high, static_cast<unsigned>(bits >> 32), 1,
                stream.handle);
}

//===-- Kernels and libraries ---------------------------------------------===//

void CudaDevice::launch(const CleaveLaunchDesc &desc, void *const *args,
                        const char *op, const char *failMessage) {
  std::vector<void *> addresses(args, args + desc.argCount);
  if (desc.cell >= 0) {
    cells[desc.cell] = {op, failMessage};
    addresses.push_back(deviceCells + desc.cell);
  }
  std::vector<void *> parameters;
  for (void *&address : addresses)
    parameters.push_back(&address);
  Status status = driver().cuLaunchKernel(
      code.kernel(desc.kernel), desc.grid, 1, 1, desc.block, 1, 1, 0,
      stream.handle, parameters.data(), nullptr);
  if (status != StatusDone)
    driver().check(status, fmt::format("the kernel of node '{}'", op).c_str());
}

void CudaDevice::matmul(int slot, const CleaveMatmulDesc &desc, const void *a,
                        const void *b, void *c, const void *const *post) {
  products.run(slot, desc, a, b, c, post, stream.handle);
}

void CudaDevice::conv(int slot, const CleaveConvDesc &desc, const void *input,
                      const void *weight, void *output,
                      const void *const *post) {
  convolutions.run(slot, desc, input, weight, output, stream.handle);
}

void CudaDevice::convWeightGrad(int slot, const CleaveConvDesc &desc,
                                const void *input, const void *doutput,
                                void *dweight) {
  convolutions.runWeightGrad(slot, desc, input, doutput, dweight,
                             stream.handle);
}

void CudaDevice::connect(const GroupTable &groups,
                         const ChannelTable &channels) {
  communication.connect(groups, channels);
}

//===-- Steps -------------------------------------------------------------===//

void CudaDevice::queueStep(const std::function<void()> &queue) {
  queue();
  communication.join();
  if (!cells.empty())
    CLEAVE_DRIVER(cuMemcpyDtoHAsync_v2, hostCells, toDevice(deviceCells),
                  cells.size() * sizeof(int64_t), stream.handle);
}

void CudaDevice::capture(const std::function<void()> &queue) {
  CLEAVE_DRIVER(cuStreamBeginCapture_v2, stream.handle, CaptureRelaxed);
  GraphHandle captured = nullptr;
  try {
    queueStep(queue);
  } catch (...) {
    driver().cuStreamEndCapture(stream.handle, &captured);
    throw;
  }
  CLEAVE_DRIVER(cuStreamEndCapture, stream.handle, &captured);
  Status status = driver().cuGraphInstantiateWithFlags(&graph, captured, 0);
  driver().cuGraphDestroy(captured);
  driver().check(status, "cuGraphInstantiateWithFlags");
}

void CudaDevice::checkCells() {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!hostCells[i])
      continue;
    fill(deviceCells, cells.size() * sizeof(int64_t), 0);
    fail(ExitMismatch, "node '{}': {}", cells[i].op, cells[i].message);
  }
}

void CudaDevice::runOnce(const std::function<void()> &queue) {
  queueStep(queue);
  communication.wait();
  checkCells();
}

void CudaDevice::run(const std::function<void()> &queue) {
  if (!usesGraph || steps++ == 0)
    return runOnce(queue);
  if (!graph)
    capture(queue);
  CLEAVE_DRIVER(cuGraphLaunch, graph, stream.handle);
  communication.wait();
  checkCells();
}

} // namespace cleave::rt::cuda

extern "C" cleave::rt::Device *
cleaveMakeCudaDevice(const cleave::rt::DeviceOptions &options) {
  return new cleave::rt::cuda::CudaDevice(options);
}
