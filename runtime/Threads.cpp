//===- Threads.cpp - one thread team per rank -----------------------------===//
//
// The declarations are libgomp's ABI, as GCC emits calls to it. Clang emits
// calls to libomp instead, which would be a second pool; hence by hand.
//
//===----------------------------------------------------------------------===//

#include "runtime/Threads.h"

#include <sched.h>
#include <thread>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

extern "C" {
void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads,
                   unsigned flags);
int omp_get_thread_num(void);
void omp_set_num_threads(int);
void omp_set_dynamic(int);
}

namespace cleave::rt {

/// Results near zero are zero: denormals are slow and no model relies on them.
static void flushDenormals(void *) {
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040); // FTZ and DAZ
#endif
}

void startThreads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(count);
  runThreads(count, flushDenormals, nullptr);
}

void runThreads(int count, void (*fn)(void *), void *data) {
  if (count == 1)
    return fn(data);
  GOMP_parallel(fn, data, static_cast<unsigned>(count), 0);
}

int threadIndex() { return omp_get_thread_num(); }

int allowedCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

} // namespace cleave::rt
