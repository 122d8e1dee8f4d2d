//===- LoopbackTest.cpp - the transports' suite on threads ----------------===//

#include "runtime/transport/Loopback.h"
#include "runtime/support/Error.h"
#include "test/dist/Conformance.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <thread>

using namespace cleave::rt;

/// Runs `body` on `size` rank threads; the messages of failures by rank.
static std::vector<std::string>
runRanks(int size, Deadlines deadlines,
         const std::function<void(Transport &)> &body) {
  std::shared_ptr<LoopbackHub> hub = makeLoopbackHub(size);
  std::vector<std::string> failures(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      std::unique_ptr<Transport> transport =
          makeLoopbackTransport(hub, rank, deadlines);
      try {
        body(*transport);
      } catch (const Failure &failure) {
        failures[rank] = failure.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return failures;
}

class Loopback : public testing::TestWithParam<int> {};

// Tests that all operations give exact results, many times in a row.
TEST_P(Loopback, Conforms) {
  std::mutex mutex;
  std::vector<std::string> failures =
      runRanks(GetParam(), {60, 60}, [&](Transport &transport) {
        std::vector<std::string> problems =
            conformance::check(transport, GetParam() > 4 ? 200 : 1000);
        std::lock_guard<std::mutex> lock(mutex);
        for (const std::string &problem : problems)
          ADD_FAILURE() << problem;
      });
  for (const std::string &failure : failures)
    EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, Loopback, testing::Values(1, 2, 3, 4, 8));

// Tests that a rank that stays away is named, with operation and time.
TEST(LoopbackDeadline, NamesTheMissingRank) {
  std::vector<std::string> failures = runRanks(3, {1, 60}, [](Transport &t) {
    conformance::missLastRank(t, std::chrono::seconds(3));
  });
  const char *expected = "rank 2 did not arrive in all_reduce 'late' after 1 s";
  EXPECT_EQ(failures[0], expected);
  EXPECT_EQ(failures[1], expected);
}

// Tests that a message that never comes names its sender.
TEST(LoopbackDeadline, NamesTheSilentSender) {
  std::vector<std::string> failures = runRanks(2, {0.3, 60}, [](Transport &t) {
    char byte;
    if (t.rank() == 0)
      t.recv(1, &byte, 1, 7, "blocks.3");
  });
  EXPECT_EQ(failures[0],
            "rank 1 did not arrive in recv 'blocks.3' after 0.3 s");
}

// Tests that ranks in different operations are told so instead of mixing data.
TEST(LoopbackOrder, DifferentOperationsFail) {
  std::vector<std::string> failures = runRanks(2, {5, 5}, [](Transport &t) {
    t.connect(conformance::groupsFor(2));
    std::vector<float> values(8);
    t.group(0).allReduce(values.data(), values.data(), t.rank() ? 4 : 8,
                         CLEAVE_F32, CLEAVE_SUM, "sizes");
  });
  EXPECT_EQ(failures[0], "rank 1 is in another operation or has other sizes "
                         "than all_reduce 'sizes' of this rank");
}

// Tests that an abort ends the waits of the other ranks at once.
TEST(LoopbackAbort, EndsWaits) {
  std::vector<std::string> failures = runRanks(3, {60, 60}, [](Transport &t) {
    char byte;
    if (t.rank() == 0)
      t.abort(ExitDevice, "out of memory");
    else if (t.rank() == 1)
      t.world().barrier("wait");
    else
      t.recv(0, &byte, 1, 7, "wait");
  });
  EXPECT_EQ(failures[1], "another rank failed during barrier 'wait'");
  EXPECT_EQ(failures[2], "another rank failed during recv 'wait'");
}

// Tests that a sum depends only on the order of the group: 1e8 + 1 - 1e8.
TEST(LoopbackOrder, SumsInGroupOrder) {
  runRanks(3, {60, 60}, [](Transport &t) {
    t.connect({{{0, 1, 2}}, {{0, 2, 1}}});
    const float values[] = {1e8f, 1.f, -1e8f};
    std::vector<float> out(5000), in(5000, values[t.rank()]);
    t.group(0).allReduce(in.data(), out.data(), 5000, CLEAVE_F32, CLEAVE_SUM,
                         "order");
    EXPECT_EQ(out, std::vector<float>(5000, 0.f));
    t.group(1).allReduce(in.data(), out.data(), 5000, CLEAVE_F32, CLEAVE_SUM,
                         "order");
    EXPECT_EQ(out, std::vector<float>(5000, 1.f));
  });
}
