//===- Launch.cpp - launches of kernels and host functions ----------------===//

#include "device/Environment.h"
#include "driver/Driver.h"
#include "exec/Block.h"

using namespace cudaemu;

namespace {
/// Marks in `extra`.
enum LaunchParam : uintptr_t { End = 0, Buffer = 1, BufferBytes = 2 };
} // namespace

/// The parameters as the kernel has them; false when there are too few.
static bool gather(const Program &program, void **params, void **extra,
                   std::vector<char> &into) {
  size_t bytes = 0;
  for (const Program::Param &p : program.params)
    bytes = p.offset + p.bytes;
  into.assign(bytes, 0);
  if (params) {
    for (size_t k = 0; k < program.params.size(); ++k)
      std::memcpy(into.data() + program.params[k].offset, params[k],
                  program.params[k].bytes);
    return true;
  }
  if (!extra)
    return program.params.empty();
  const void *buffer = nullptr;
  size_t given = 0;
  for (; reinterpret_cast<uintptr_t>(*extra) != End; extra += 2) {
    if (reinterpret_cast<uintptr_t>(*extra) == Buffer)
      buffer = extra[1];
    if (reinterpret_cast<uintptr_t>(*extra) == BufferBytes)
      given = *static_cast<size_t *>(extra[1]);
  }
  if (given < bytes)
    return false;
  std::memcpy(into.data(), buffer, bytes);
  return true;
}

/// What is wrong with the dimensions, or an empty text.
static std::string problem(const cuda::LaunchConfig &c, const Kernel &kernel) {
  const Program &program = kernel.program;
  uint64_t threads = 1ull * c.blockX * c.blockY * c.blockZ;
  if (!threads || !c.gridX || !c.gridY || !c.gridZ)
    return "a dimension is 0";
  if (c.blockX > 1024 || c.blockY > 1024 || c.blockZ > 64 || threads > 1024)
    return std::to_string(threads) + " threads are too many for a block";
  if (c.gridX > 2147483647 || c.gridY > 65535 || c.gridZ > 65535)
    return "the grid is too large";
  if (threads > program.maxThreads)
    return std::to_string(threads) + " threads, compiled for at most " +
           std::to_string(program.maxThreads);
  const unsigned *required = program.requiredThreads;
  if (required[0] && (required[0] != c.blockX || required[1] != c.blockY ||
                      required[2] != c.blockZ))
    return "the block is not of the size that it is compiled for";
  if (static_cast<int64_t>(c.sharedBytes) > kernel.maxDynamicShared)
    return std::to_string(c.sharedBytes) +
           " bytes of dynamic shared memory, allowed are " +
           std::to_string(kernel.maxDynamicShared);
  return "";
}

extern "C" {

int cuLaunchKernelEx(const cuda::LaunchConfig *config, cuda::FunctionHandle f,
                     void **params, void **extra) {
  return withContext([&](CudaContext &current) -> int {
    if (!f)
      return cuda::InvalidHandle;
    const cuda::LaunchConfig &c = *config;
    std::string name = "kernel '" + f->program.name + "'";
    std::string wrong = problem(c, *f);
    Launch launch;
    if (wrong.empty() && !gather(f->program, params, extra, launch.params))
      wrong = "parameters are missing";
    if (!wrong.empty())
      return refuse("cuLaunchKernel", name + ": " + wrong);
    launch.program = &f->program;
    unsigned grid[3] = {c.gridX, c.gridY, c.gridZ};
    unsigned block[3] = {c.blockX, c.blockY, c.blockZ};
    std::memcpy(launch.grid, grid, sizeof grid);
    std::memcpy(launch.block, block, sizeof block);
    launch.dynamicShared = c.sharedBytes;
    launch.memory = &current.context.memory;
    launch.order = &current.context.order;
    current.streams.put(streamOf(current, c.stream), name,
                        [launch](Work &work) {
                          Launch run = launch;
                          run.item = work.item;
                          run.started = std::chrono::steady_clock::now();
                          runLaunch(run, environment().threads);
                          return true;
                        });
    return cuda::Success;
  });
}

int cuLaunchKernel(cuda::FunctionHandle f, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes,
                   cuda::StreamHandle stream, void **params, void **extra) {
  cuda::LaunchConfig config{gridX,  gridY,       gridZ,  blockX,  blockY,
                            blockZ, sharedBytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, f, params, extra);
}

int cuLaunchHostFunc(cuda::StreamHandle stream, cuda::HostFunction function,
                     void *data) {
  return withContext([&](CudaContext &current) {
    current.streams.put(streamOf(current, stream), "host function",
                        [=](Work &) {
                          function(data);
                          return true;
                        });
    return cuda::Success;
  });
}
}
