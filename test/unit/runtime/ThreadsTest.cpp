//===- ThreadsTest.cpp - the thread team and cleaveParallelFor ------------===//

#include "runtime/Threads.h"
#include "runtime/Context.h"
#include "runtime/library/Dnnl.h"

#include <gtest/gtest.h>

#include <atomic>

using namespace cleave::rt;

// Tests that ranges cover the extent, in order, with sizes at most one apart.
TEST(Threads, RangesAreBalanced) {
  for (int64_t extent : {0, 1, 5, 197, 1000})
    for (int count : {1, 2, 3, 7}) {
      int64_t next = 0;
      for (int t = 0; t < count; ++t) {
        ThreadRange range = threadRange(extent, t, count);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.end - range.begin, extent / count + 1);
        EXPECT_GE(range.end - range.begin, extent / count);
        next = range.end;
      }
      EXPECT_EQ(next, extent);
    }
}

static void countItems(void *const *args, int64_t begin, int64_t end,
                       void *scratch) {
  auto *hits = static_cast<std::atomic<int> *>(args[0]);
  auto *calls = static_cast<std::atomic<int> *>(args[1]);
  for (int64_t i = begin; i < end; ++i)
    ++hits[i];
  ++*calls;
  if (scratch)
    static_cast<char *>(scratch)[0] = 1;
}

/// Calls made for `extent` items; each item must be done once.
static int callsFor(int threads, int64_t extent, int64_t grain, char *scratch) {
  CleaveContext context(nullptr, 0, threads);
  std::vector<std::atomic<int>> hits(extent);
  std::atomic<int> calls{0};
  void *args[] = {hits.data(), &calls};
  cleaveParallelFor(&context, countItems, args, extent, grain, scratch, 64);
  for (auto &hit : hits)
    EXPECT_EQ(hit, 1);
  return calls;
}

// Tests that every item is done once, on as many threads as the grain allows.
TEST(Threads, ParallelForCoversTheExtent) {
  EXPECT_EQ(callsFor(1, 100, 1, nullptr), 1);
  EXPECT_EQ(callsFor(3, 100, 1, nullptr), 3);
  EXPECT_EQ(callsFor(3, 100, 60, nullptr), 1);
  EXPECT_EQ(callsFor(3, 100, 50, nullptr), 2);
  EXPECT_EQ(callsFor(3, 0, 1, nullptr), 0);
}

// Tests that each thread gets its own part of the scratch memory.
TEST(Threads, ScratchIsPerThread) {
  alignas(64) char scratch[3 * 64] = {};
  callsFor(3, 9, 1, scratch);
  EXPECT_EQ(scratch[0] + scratch[64] + scratch[128], 3);
}

static void noteScratch(void *const *args, int64_t begin, int64_t,
                        void *scratch) {
  static_cast<void **>(args[0])[begin] = scratch;
}

// Tests that the runtime supplies scratch memory where the caller has none.
TEST(Threads, ScratchIsSupplied) {
  for (int threads : {1, 3}) {
    CleaveContext context(nullptr, 0, threads);
    void *seen[3] = {};
    void *args[] = {seen};
    cleaveParallelFor(&context, noteScratch, args, 3, 1, nullptr, 100);
    for (int i = 0; i < threads; ++i) {
      ASSERT_NE(seen[i], nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(seen[i]) % 64, 0u);
      EXPECT_EQ(static_cast<char *>(seen[i]) - static_cast<char *>(seen[0]),
                i * 128);
    }
  }
}

// Tests that results too small for normal numbers become zero.
TEST(Threads, DenormalsAreFlushed) {
  startThreads(1);
  volatile float tiny = 1e-30f;
  EXPECT_EQ(tiny * tiny * 1e20f, 0.f);
  volatile float denormal = 1e-38f;
  EXPECT_EQ(denormal * 0.1f, 0.f);
}

// Tests that the first error stays, and that nothing runs after it.
TEST(Threads, ErrorsAreSticky) {
  CleaveContext context(nullptr, 0, 1);
  cleaveFail(&context, "embed", "id 7 is out of range, there are 5 rows");
  cleaveFail(&context, "other", "a consequence");
  int value = 1, other = 2;
  cleaveCopy(&context, &value, &other, sizeof(int));
  EXPECT_EQ(value, 1);
  try {
    context.throwIfFailed();
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_STREQ(failure.what(),
                 "node 'embed': id 7 is out of range, there are 5 rows");
  }
}
