//===- Operations.cpp - the ABI's kernels, memory, errors and trace -------===//
//
// Called by generated code. With one thread, or too little work for two, a
// kernel is called directly. A context with a device hands calls to it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"
#include "runtime/Threads.h"

#include <algorithm>
#include <cstring>

using namespace cleave::rt;

namespace {
/// What the threads of one cleaveParallelFor share.
struct KernelCall {
  CleaveKernelFn fn;
  void *const *args;
  int64_t extent;
  std::byte *scratch;
  int64_t scratchBytes;
  int threads;
};
} // namespace

/// The part of one thread.
static void runPart(void *data) {
  const auto &call = *static_cast<const KernelCall *>(data);
  int index = threadIndex();
  ThreadRange range = threadRange(call.extent, index, call.threads);
  call.fn(call.args, range.begin, range.end,
          call.scratch ? call.scratch + index * call.scratchBytes : nullptr);
}

void cleaveParallelFor(CleaveContext *context, CleaveKernelFn fn,
                       void *const *args, int64_t extent, int64_t grain,
                       void *scratch, int64_t scratchBytes) {
  if (context->failed() || extent <= 0)
    return;
  int64_t useful = extent / std::max<int64_t>(grain, 1);
  auto threads =
      static_cast<int>(std::clamp<int64_t>(useful, 1, context->threads));
  guarded(context, [&] {
    auto *memory = static_cast<std::byte *>(scratch);
    if (!memory && scratchBytes > 0) {
      scratchBytes = (scratchBytes + 63) / 64 * 64;
      memory = context->kernelScratch(threads * scratchBytes);
    }
    if (threads == 1)
      return fn(args, 0, extent, memory);
    KernelCall call{fn, args, extent, memory, scratchBytes, threads};
    runThreads(threads, runPart, &call);
  });
}

void cleaveCopy(CleaveContext *context, void *to, const void *from,
                int64_t bytes) {
  if (context->failed() || bytes <= 0)
    return;
  if (context->device)
    return guarded(context, [&] { context->device->copy(to, from, bytes); });
  std::memmove(to, from, bytes);
}

void cleaveFill(CleaveContext *context, void *to, int64_t bytes,
                int32_t byteValue) {
  if (context->failed() || bytes <= 0)
    return;
  if (context->device)
    return guarded(context,
                   [&] { context->device->fill(to, bytes, byteValue); });
  std::memset(to, byteValue, bytes);
}

void cleaveLaunch(CleaveContext *context, const CleaveLaunchDesc *desc,
                  void *const *args, const char *op, const char *failMessage) {
  guarded(context,
          [&] { context->device->launch(*desc, args, op, failMessage); });
}

void cleaveStoreIndex(CleaveContext *context, void *to, int64_t value) {
  guarded(context, [&] { context->device->storeIndex(to, value); });
}

void cleaveConstant(CleaveContext *context, const void *begin, int64_t bytes) {
  context->addConstant(begin, bytes);
}

void cleaveFail(CleaveContext *context, const char *op, const char *message) {
  context->setError(
      Failure(ExitMismatch, fmt::format("node '{}': {}", op, message)));
}

void cleaveTrace(CleaveContext *context, const char *name,
                 const char *category) {
  if (context->trace)
    context->trace->operation(name, category);
}
