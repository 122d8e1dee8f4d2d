//===- Stream.cpp - streams, events and graphs ----------------------------===//

#include "driver/Driver.h"

using namespace cudaemu;

Stream &cudaemu::streamOf(CudaContext &current, Stream *handle) {
  return reinterpret_cast<uintptr_t>(handle) <= 2 ? current.streams.null()
                                                  : *handle;
}

int cudaemu::waitForAll() {
  return waitWithContext([](CudaContext &current,
                            std::vector<WorkPtr> &works) -> int {
    works = current.streams.lasts();
    return current.context.captures ? cuda::CaptureUnsupported : cuda::Success;
  });
}

/// A call that a captured stream does not allow: the capture is lost.
static int breakCapture(Stream &stream) {
  stream.capture->isInvalid = true;
  return cuda::CaptureUnsupported;
}

extern "C" {

int cuStreamCreateWithPriority(cuda::StreamHandle *stream, unsigned flags,
                               int) {
  return withContext([&](CudaContext &current) {
    *stream = &current.streams.add(!(flags & cuda::StreamNonBlocking));
    return cuda::Success;
  });
}

int cuStreamCreate(cuda::StreamHandle *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

int cuStreamDestroy_v2(cuda::StreamHandle stream) {
  return withContext([&](CudaContext &current) {
    // What is on it still runs: its work does not need the stream.
    current.streams.remove(*stream);
    return cuda::Success;
  });
}

int cuStreamSynchronize(cuda::StreamHandle handle) {
  return waitWithContext(
      [&](CudaContext &current, std::vector<WorkPtr> &works) -> int {
        Stream &stream = streamOf(current, handle);
        if (stream.capture)
          return breakCapture(stream);
        works = {stream.last};
        return cuda::Success;
      });
}

int cuStreamQuery(cuda::StreamHandle handle) {
  return withContext([&](CudaContext &current) -> int {
    Stream &stream = streamOf(current, handle);
    if (stream.capture)
      return breakCapture(stream);
    return current.context.isDone(stream.last) ? cuda::Success : cuda::NotReady;
  });
}

int cuStreamWaitEvent(cuda::StreamHandle stream, cuda::EventHandle event,
                      unsigned) {
  return withContext([&](CudaContext &current) {
    return waitFor(current.streams, streamOf(current, stream), *event);
  });
}

int cuStreamGetCtx(cuda::StreamHandle, cuda::ContextHandle *context) {
  return withContext([&](CudaContext &current) {
    *context = &current;
    return cuda::Success;
  });
}

int cuEventCreate(cuda::EventHandle *event, unsigned flags) {
  return withContext([&](CudaContext &current) {
    bool hasTime = !(flags & cuda::EventDisableTiming);
    *event =
        keep(current.events, std::make_unique<Event>(current.context, hasTime));
    return cuda::Success;
  });
}

int cuEventDestroy_v2(cuda::EventHandle event) {
  return withContext([&](CudaContext &current) -> int {
    return current.events.erase(event) ? cuda::Success : cuda::InvalidHandle;
  });
}

int cuEventRecord(cuda::EventHandle event, cuda::StreamHandle stream) {
  return withContext([&](CudaContext &current) {
    return record(current.streams, *event, streamOf(current, stream));
  });
}

int cuEventRecordWithFlags(cuda::EventHandle event, cuda::StreamHandle stream,
                           unsigned) {
  return cuEventRecord(event, stream);
}

int cuEventSynchronize(cuda::EventHandle event) {
  return waitWithContext(
      [&](CudaContext &, std::vector<WorkPtr> &works) -> int {
        works = {event->work};
        return event->capture ? cuda::CaptureUnsupported : cuda::Success;
      });
}

int cuEventQuery(cuda::EventHandle event) {
  return withContext([&](CudaContext &current) -> int {
    if (event->capture)
      return cuda::CaptureUnsupported;
    return current.context.isDone(event->work) ? cuda::Success : cuda::NotReady;
  });
}

int cuEventElapsedTime_v2(float *milliseconds, cuda::EventHandle start,
                          cuda::EventHandle end) {
  return withContext([&](CudaContext &current) -> int {
    if (!start->hasTime || !end->hasTime || !start->work || !end->work)
      return cuda::InvalidHandle;
    if (!current.context.isDone(start->work) ||
        !current.context.isDone(end->work))
      return cuda::NotReady;
    std::chrono::duration<float, std::milli> time =
        end->work->finished - start->work->finished;
    *milliseconds = time.count();
    return cuda::Success;
  });
}

int cuEventElapsedTime(float *milliseconds, cuda::EventHandle start,
                       cuda::EventHandle end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

int cuStreamBeginCapture_v2(cuda::StreamHandle stream, int mode) {
  return withContext([&](CudaContext &current) -> int {
    if (reinterpret_cast<uintptr_t>(stream) <= 1)
      return cuda::CaptureUnsupported; // the null stream cannot be captured
    return beginCapture(streamOf(current, stream), mode == cuda::CaptureGlobal);
  });
}

int cuStreamEndCapture(cuda::StreamHandle stream, cuda::GraphHandle *graph) {
  return withContext([&](CudaContext &current) {
    std::shared_ptr<Graph> made;
    *graph = nullptr;
    int error = endCapture(streamOf(current, stream), made);
    if (!error)
      *graph = keep(current.graphs, std::make_unique<CudaGraph>(made));
    return error;
  });
}

int cuStreamIsCapturing(cuda::StreamHandle handle, int *status) {
  return withContext([&](CudaContext &current) {
    Stream &stream = streamOf(current, handle);
    *status = !stream.capture             ? cuda::CaptureNone
              : stream.capture->isInvalid ? cuda::CaptureBroken
                                          : cuda::CaptureActive;
    return cuda::Success;
  });
}

int cuGraphInstantiateWithFlags(cuda::GraphExecHandle *exec,
                                cuda::GraphHandle graph, uint64_t) {
  return withContext([&](CudaContext &current) {
    *exec = keep(current.execs,
                 std::make_unique<GraphExec>(current.context, graph->graph));
    return cuda::Success;
  });
}

int cuGraphLaunch(cuda::GraphExecHandle exec, cuda::StreamHandle stream) {
  return withContext([&](CudaContext &current) -> int {
    Stream &on = streamOf(current, stream);
    if (on.capture)
      return breakCapture(on);
    launch(current.streams, *exec, on);
    return cuda::Success;
  });
}

int cuGraphUpload(cuda::GraphExecHandle, cuda::StreamHandle) {
  return withContext([](CudaContext &) { return cuda::Success; });
}

int cuGraphExecDestroy(cuda::GraphExecHandle exec) {
  return withContext([&](CudaContext &current) -> int {
    return current.execs.erase(exec) ? cuda::Success : cuda::InvalidHandle;
  });
}

int cuGraphDestroy(cuda::GraphHandle graph) {
  return withContext([&](CudaContext &current) -> int {
    return current.graphs.erase(graph) ? cuda::Success : cuda::InvalidHandle;
  });
}

/// The handles of nodes serve to count and compare them.
int cuGraphGetNodes(cuda::GraphHandle graph, void **nodes, size_t *count) {
  size_t found = graph->graph->nodes.size();
  if (nodes)
    for (size_t k = 0; k < std::min(*count, found); ++k)
      nodes[k] = &graph->graph->nodes[k];
  *count = found;
  return cuda::Success;
}
}
