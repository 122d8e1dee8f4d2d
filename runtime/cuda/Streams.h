//===- Streams.h - streams and events that end with their owner -----------===//

#ifndef CLEAVE_RUNTIME_CUDA_STREAMS_H
#define CLEAVE_RUNTIME_CUDA_STREAMS_H

#include "runtime/cuda/Driver.h"

namespace cleave::rt::cuda {

class Event {
public:
  Event() { CLEAVE_DRIVER(cuEventCreate, &handle, EventWithoutTiming); }
  ~Event() { driver().cuEventDestroy_v2(handle); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;

  EventHandle handle = nullptr;
};

class Stream {
public:
  Stream() { CLEAVE_DRIVER(cuStreamCreate, &handle, StreamNonBlocking); }
  ~Stream() { driver().cuStreamDestroy_v2(handle); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  /// What is queued here from now on waits for what `other` has so far.
  void follow(const Stream &other) {
    CLEAVE_DRIVER(cuEventRecord, reached.handle, other.handle);
    CLEAVE_DRIVER(cuStreamWaitEvent, handle, reached.handle, 0);
  }

  StreamHandle handle = nullptr;

private:
  Event reached; ///< by the other stream
};

} // namespace cleave::rt::cuda

#endif
