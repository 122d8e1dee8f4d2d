//===- NcclTests.cpp - collectives of ranks as threads and as processes ---===//

#include "abi/Nccl.h"

#include <gtest/gtest.h>

#include <bit>

#include <functional>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {
/// A rank on the device of its number, with a communicator of all.
struct Rank {
  int rank, size;
  nccl::CommHandle comm = nullptr;
  cuda::StreamHandle stream = nullptr;

  Rank(int rank, int size, const nccl::UniqueId &id, int device)
      : rank(rank), size(size) {
    cuda::ContextHandle context;
    EXPECT_EQ(cuInit(0), 0);
    EXPECT_EQ(cuDevicePrimaryCtxReset_v2(device), 0);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, device), 0);
    EXPECT_EQ(cuCtxSetCurrent(context), 0);
    EXPECT_EQ(cuStreamCreate(&stream, cuda::StreamNonBlocking), 0);
    EXPECT_EQ(ncclCommInitRank(&comm, size, id, rank), 0);
  }
  ~Rank() {
    if (comm)
      ncclCommDestroy(comm); // fails where the test made the device fail
  }
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;

  cuda::DevicePtr upload(const std::vector<float> &values) {
    cuda::DevicePtr made = 0;
    EXPECT_EQ(cuMemAlloc_v2(&made, values.size() * 4), 0);
    EXPECT_EQ(cuMemcpyHtoD_v2(made, values.data(), values.size() * 4), 0);
    return made;
  }
  std::vector<float> download(cuda::DevicePtr from, size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cuStreamSynchronize(stream), 0);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), from, count * 4), 0);
    return values;
  }
};

void *at(cuda::DevicePtr address) { return std::bit_cast<void *>(address); }

void runThreads(int size, const std::function<void(Rank &)> &body) {
  nccl::UniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  std::vector<std::thread> threads;
  for (int k = 0; k < size; ++k)
    threads.emplace_back([&, k] {
      Rank rank(k, size, id, k);
      body(rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

using Floats = std::vector<float>;

void allReduce(Rank &r) {
  auto x = r.upload({1.0f + r.rank, 10.0f * r.rank});
  EXPECT_EQ(ncclAllReduce(at(x), at(x), 2, nccl::Float32, nccl::Sum, r.comm,
                          r.stream),
            0);
  float n = r.size, sum = n * (n - 1) / 2;
  EXPECT_EQ(r.download(x, 2), (Floats{n + sum, 10 * sum}));
  EXPECT_EQ(ncclAllReduce(at(x), at(x), 2, nccl::Float32, nccl::Avg, r.comm,
                          r.stream),
            0);
  EXPECT_EQ(r.download(x, 2), (Floats{n + sum, 10 * sum}));
}
} // namespace

// Tests that processes reduce over shared memory.
TEST(Nccl, AllReduceOfProcesses) {
  nccl::UniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  std::vector<pid_t> children;
  for (int k = 0; k < 3; ++k) {
    pid_t child = fork();
    if (child == 0) {
      {
        Rank rank(k, 3, id, k);
        allReduce(rank);
      }
      _exit(testing::Test::HasFailure());
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(Nccl, AllReduceOfThreads) { runThreads(4, allReduce); }

// Tests gathers, scatters and roots, several in a row on one communicator.
TEST(Nccl, Collectives) {
  runThreads(3, [](Rank &r) {
    for (int round = 0; round < 5; ++round) {
      auto part = r.upload({1.0f * r.rank, 1.0f * round});
      auto all = r.upload(Floats(6, -1));
      EXPECT_EQ(
          ncclAllGather(at(part), at(all), 2, nccl::Float32, r.comm, r.stream),
          0);
      float k = round;
      EXPECT_EQ(r.download(all, 6), (Floats{0, k, 1, k, 2, k}));
      EXPECT_EQ(ncclReduceScatter(at(all), at(part), 2, nccl::Float32,
                                  nccl::Sum, r.comm, r.stream),
                0);
      EXPECT_EQ(r.download(part, 2), (Floats{3.0f * r.rank, 3 * k}));
      EXPECT_EQ(ncclBroadcast(at(part), at(part), 2, nccl::Float32, 2, r.comm,
                              r.stream),
                0);
      EXPECT_EQ(r.download(part, 2), (Floats{6, 3 * k}));
      EXPECT_EQ(ncclReduce(at(part), at(all), 1, nccl::Float32, nccl::Max, 1,
                           r.comm, r.stream),
                0);
      EXPECT_EQ(r.download(all, 1)[0], r.rank == 1 ? 6 : 0);
    }
  });
}

// Tests messages around a ring in a group, of which no one can be first.
TEST(Nccl, RingOfMessages) {
  runThreads(3, [](Rank &r) {
    auto mine = r.upload({5.0f * r.rank}), other = r.upload({-1});
    int next = (r.rank + 1) % 3, previous = (r.rank + 2) % 3;
    EXPECT_EQ(ncclGroupStart(), 0);
    EXPECT_EQ(ncclSend(at(mine), 1, nccl::Float32, next, r.comm, r.stream), 0);
    EXPECT_EQ(ncclRecv(at(other), 1, nccl::Float32, previous, r.comm, r.stream),
              0);
    EXPECT_EQ(ncclGroupEnd(), 0);
    EXPECT_EQ(r.download(other, 1)[0], 5.0f * previous);
  });
}

// Tests that a split has its own ranks, by key, and none without a color.
TEST(Nccl, Split) {
  runThreads(5, [](Rank &r) {
    nccl::CommHandle half = nullptr;
    int color = r.rank == 4 ? nccl::noColor : r.rank % 2;
    EXPECT_EQ(ncclCommSplit(r.comm, color, -r.rank, &half, nullptr), 0);
    EXPECT_EQ(half == nullptr, r.rank == 4);
    if (!half)
      return;
    int rank = -1, count = -1;
    EXPECT_EQ(ncclCommUserRank(half, &rank), 0);
    EXPECT_EQ(ncclCommCount(half, &count), 0);
    EXPECT_EQ(rank, r.rank < 2 ? 1 : 0);
    EXPECT_EQ(count, 2);
    auto x = r.upload({1.0f * r.rank});
    EXPECT_EQ(ncclAllReduce(at(x), at(x), 1, nccl::Float32, nccl::Sum, half,
                            r.stream),
              0);
    EXPECT_EQ(r.download(x, 1)[0], color == 0 ? 2 : 4);
    EXPECT_EQ(ncclCommDestroy(half), 0);
  });
}

// Tests that operations captured into a graph run at each launch.
TEST(Nccl, Graph) {
  runThreads(2, [](Rank &r) {
    auto x = r.upload({1}), y = r.upload({2});
    EXPECT_EQ(cuStreamBeginCapture_v2(r.stream, cuda::CaptureThreadLocal), 0);
    EXPECT_EQ(ncclAllReduce(at(x), at(x), 1, nccl::Float32, nccl::Sum, r.comm,
                            r.stream),
              0);
    EXPECT_EQ(ncclAllReduce(at(y), at(y), 1, nccl::Float32, nccl::Prod, r.comm,
                            r.stream),
              0);
    cuda::GraphHandle graph;
    cuda::GraphExecHandle exec;
    EXPECT_EQ(cuStreamEndCapture(r.stream, &graph), 0);
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(cuGraphLaunch(exec, r.stream), 0);
    EXPECT_EQ(r.download(x, 1)[0], 8);
    EXPECT_EQ(r.download(y, 1)[0], 256);
  });
}

// Tests that ranks that call different operations are told, not mixed.
TEST(Nccl, MismatchedCollective) {
  testing::internal::CaptureStderr();
  runThreads(2, [](Rank &r) {
    auto x = r.upload({1, 2});
    EXPECT_EQ(ncclAllReduce(at(x), at(x), 1 + r.rank, nccl::Float32, nccl::Sum,
                            r.comm, r.stream),
              0);
    EXPECT_EQ(cuStreamSynchronize(r.stream), cuda::LaunchFailed);
    int error = 0;
    EXPECT_EQ(ncclCommGetAsyncError(r.comm, &error), 0);
    EXPECT_EQ(error, nccl::InvalidUsage);
  });
  std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_NE(lines.find("cudaemu: nccl: rank 0: operation 1 of the communicator "
                       "is all_reduce of 1 float32 (sum), but on rank 1 it is "
                       "all_reduce of 2 float32 (sum)\n"),
            std::string::npos)
      << lines;
}

TEST(Nccl, MismatchedMessage) {
  testing::internal::CaptureStderr();
  runThreads(2, [](Rank &r) {
    auto x = r.upload({1, 2});
    if (r.rank == 0) {
      EXPECT_EQ(ncclSend(at(x), 1, nccl::Float32, 1, r.comm, r.stream), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_EQ(ncclCommAbort(std::exchange(r.comm, nullptr)), 0);
      return;
    }
    EXPECT_EQ(ncclRecv(at(x), 2, nccl::Float32, 0, r.comm, r.stream), 0);
    EXPECT_EQ(cuStreamSynchronize(r.stream), cuda::LaunchFailed);
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "recv of 2 float32 from rank 0, but that rank sends 1"),
            std::string::npos);
}

// Tests that a rank that stays away is named, and that others can give up.
TEST(Nccl, AbortEndsWhatWaits) {
  runThreads(2, [](Rank &r) {
    if (r.rank == 1)
      return;
    auto x = r.upload({1});
    EXPECT_EQ(ncclAllReduce(at(x), at(x), 1, nccl::Float32, nccl::Sum, r.comm,
                            r.stream),
              0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cuStreamQuery(r.stream), cuda::NotReady);
    EXPECT_EQ(ncclCommAbort(std::exchange(r.comm, nullptr)), 0);
    EXPECT_EQ(cuStreamSynchronize(r.stream), 0);
  });
}

TEST(Nccl, RefusesTwoRanksOnADevice) {
  testing::internal::CaptureStderr();
  nccl::UniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), 0);
  cuda::ContextHandle context;
  ASSERT_EQ(cuInit(0), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  auto init = [&](int rank) {
    nccl::CommHandle comm;
    EXPECT_EQ(cuCtxSetCurrent(context), 0);
    EXPECT_EQ(ncclCommInitRank(&comm, 2, id, rank), nccl::InvalidUsage);
  };
  std::thread other(init, 1);
  init(0);
  other.join();
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "ranks 0 and 1 both use device 0"),
            std::string::npos);
}
