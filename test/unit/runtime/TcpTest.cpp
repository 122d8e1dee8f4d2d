//===- TcpTest.cpp - the transports' suite on TCP -------------------------===//

#include "runtime/transport/Tcp.h"
#include "runtime/support/Error.h"
#include "runtime/transport/Socket.h"
#include "test/dist/Conformance.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <thread>

using namespace cleave::rt;

/// Runs `body` on `size` ranks that are threads; the messages of failures by
/// rank.
static std::vector<std::string>
runRanks(int size, Deadlines deadlines,
         const std::function<void(Transport &)> &body) {
  int port = Socket::listen(0).port(); // one that is free
  std::vector<std::string> failures(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      if (auto failure = catchFailure([&] {
            std::unique_ptr<Transport> transport = makeTcpTransport(
                {rank, size, rank, size, "127.0.0.1", port, deadlines});
            body(*transport);
          }))
        failures[rank] = failure->what();
    });
  for (std::thread &thread : threads)
    thread.join();
  return failures;
}

class Tcp : public testing::TestWithParam<int> {};

// Tests that all operations give exact results, many times in a row.
TEST_P(Tcp, Conforms) {
  std::mutex mutex;
  std::vector<std::string> failures =
      runRanks(GetParam(), {60, 60}, [&](Transport &transport) {
        std::vector<std::string> problems = conformance::check(transport, 50);
        std::lock_guard<std::mutex> lock(mutex);
        for (const std::string &problem : problems)
          ADD_FAILURE() << problem;
      });
  for (const std::string &failure : failures)
    EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, Tcp, testing::Values(2, 3, 4));

// Tests that a rank that stays away is named, with operation and time.
TEST(TcpDeadline, NamesTheMissingRank) {
  std::vector<std::string> failures = runRanks(2, {1, 60}, [](Transport &t) {
    conformance::missLastRank(t, std::chrono::seconds(3));
  });
  EXPECT_EQ(failures[0],
            "rank 1 did not arrive in all_reduce 'late' after 1 s");
}

// Tests that ranks which nobody joins say where they waited.
TEST(TcpDeadline, NamesThePlaceToMeet) {
  int port = Socket::listen(0).port();
  auto failure = catchFailure([&] {
    makeTcpTransport({1, 2, 1, 2, "127.0.0.1", port, {1, 0.2}});
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ExitPeer);
  EXPECT_EQ(failure->what(), "nobody answers at 127.0.0.1:" +
                                 std::to_string(port) + " after 0.2 s");
}

// Tests that an abort ends the waits of the other ranks at once.
TEST(TcpAbort, EndsWaits) {
  std::vector<std::string> failures = runRanks(3, {60, 60}, [](Transport &t) {
    char byte;
    if (t.rank() == 0)
      t.abort(ExitDevice, "out of memory");
    else
      t.recv(0, &byte, 1, 7, "wait");
  });
  EXPECT_EQ(failures[1], "another rank failed during recv 'wait'");
  EXPECT_EQ(failures[2], "another rank failed during recv 'wait'");
}
