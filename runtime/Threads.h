//===- Threads.h - one thread team per rank -------------------------------===//
//
// Debian's oneDNN runs on libgomp. The runtime calls libgomp's own entry
// points, so that kernels and oneDNN share one team of threads and never run
// two pools against each other.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_THREADS_H
#define CLEAVE_RUNTIME_THREADS_H

#include <cstdint>

namespace cleave::rt {

/// Makes the calling thread the leader of `count` threads, for oneDNN too, and
/// turns denormals to zero on all of them.
void startThreads(int count);

/// Calls fn(data) on `count` threads, the caller among them.
void runThreads(int count, void (*fn)(void *), void *data);

/// Index of the calling thread in `runThreads`, from 0.
int threadIndex();

/// The part of [0, extent) of thread `index` of `count`: contiguous, and sizes
/// differ by at most one.
struct ThreadRange {
  int64_t begin, end;
};
inline ThreadRange threadRange(int64_t extent, int index, int count) {
  int64_t size = extent / count, rest = extent % count;
  int64_t begin = index * size + (index < rest ? index : rest);
  return {begin, begin + size + (index < rest ? 1 : 0)};
}

/// Cores that this process may run on.
int allowedCores();

} // namespace cleave::rt

#endif
