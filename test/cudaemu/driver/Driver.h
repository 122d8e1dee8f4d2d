//===- Driver.h - what the entry points have in common --------------------===//
#pragma once

#include "abi/Cuda.h"
#include "device/Module.h"
#include "device/Stream.h"

#include <set>

namespace cudaemu {

struct CudaGraph {
  std::shared_ptr<Graph> graph;
  explicit CudaGraph(std::shared_ptr<Graph> graph) : graph(std::move(graph)) {}
};

/// What a program made and has not ended, by handle.
template <class T> using Owned = std::map<const T *, std::unique_ptr<T>>;

struct CudaContext {
  Context context;
  Streams streams{context};
  Owned<Module> modules;
  Owned<Event> events;
  Owned<CudaGraph> graphs;
  Owned<GraphExec> execs;
  std::set<void *> ownedHost; ///< cuMemAllocHost
  int retained = 0;

  explicit CudaContext(int device);
  ~CudaContext();
};

/// Keeps a new object; its handle.
template <class T> T *keep(Owned<T> &owned, std::unique_ptr<T> made) {
  T *handle = made.get();
  owned[handle] = std::move(made);
  return handle;
}

/// The current context of the thread; null when there is none any more.
CudaContext *currentContext();
bool isAlive(const CudaContext *context);
bool isInitialised();

/// The stream of a handle: null, 1 and 2 are the null stream.
Stream &streamOf(CudaContext &current, Stream *handle);

/// Reports a wrong argument of `function`: InvalidValue.
int refuse(const char *function, const std::string &what);

/// Runs `f` with the current context, unless the driver has an error to tell.
template <class F> int withContext(F f) {
  if (!isInitialised())
    return cuda::NotInitialized;
  CudaContext *current = currentContext();
  if (!current)
    return cuda::InvalidContext;
  if (int error = current->context.error())
    return error;
  std::lock_guard<std::mutex> lock(current->context.api);
  return f(*current);
}

/// The same for what must not be called while a stream is captured.
template <class F> int outsideCapture(F f) {
  return withContext([&](CudaContext &current) -> int {
    if (current.context.captures)
      return cuda::CaptureUnsupported;
    return f(current);
  });
}

/// Runs `f`, which gives the work to wait for, and waits without the lock.
template <class F> int waitWithContext(F f) {
  std::vector<WorkPtr> works;
  if (int error = withContext(
          [&](CudaContext &current) -> int { return f(current, works); }))
    return error;
  CudaContext *current = currentContext();
  if (!current)
    return cuda::InvalidContext;
  Context &context = current->context;
  for (const WorkPtr &work : works)
    if (int error = context.wait(work))
      return error;
  return context.error();
}

/// Waits for all that is on the streams; none may be captured.
int waitForAll();

} // namespace cudaemu
