//===- SharedOutboxTest.cpp - messages that do and do not find room -------===//

#include "runtime/transport/SharedOutbox.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

using namespace cleave::rt;

namespace {
/// Two ranks whose outboxes lie in ordinary memory.
class SharedOutboxTest : public testing::Test {
protected:
  SharedOutboxTest() {
    size_t bytes = (SharedOutbox::bytesFor(2) + 63) / 64 * 64;
    std::vector<std::byte *> bases;
    for (auto &memory : memories) {
      memory.reset(static_cast<std::byte *>(std::aligned_alloc(64, bytes)));
      std::fill_n(memory.get(), bytes, std::byte{});
      bases.push_back(memory.get());
    }
    a = std::make_unique<SharedOutbox>(bases, std::vector<int>{4, 5}, 0);
    b = std::make_unique<SharedOutbox>(bases, std::vector<int>{4, 5}, 1);
    waiting.timeout = 20;
  }

  struct Free {
    void operator()(std::byte *p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memories[2];
  std::unique_ptr<SharedOutbox> a, b;
  Waiting waiting;
  Call call{"recv", "test"};
};
} // namespace

static std::vector<char> message(size_t bytes, int number) {
  return std::vector<char>(bytes, static_cast<char>(number));
}

// Tests that sends return though nobody receives, far beyond the data area and
// the slots of a lane, and that all messages come whole and in order.
TEST_F(SharedOutboxTest, SendsNeverWait) {
  const size_t sizes[] = {1, 3000000, 64, 0, 5000001};
  const int count = 200;
  for (int i = 0; i < count; ++i)
    a->send(1, message(sizes[i % 5], i).data(), sizes[i % 5], 9);
  std::thread receiver([&] {
    for (int i = 0; i < count; ++i) {
      std::vector<char> got(sizes[i % 5]);
      b->recv(0, got.data(), got.size(), 9, waiting, call);
      EXPECT_EQ(got, message(sizes[i % 5], i)) << i;
    }
  });
  a->drain(waiting, call);
  receiver.join();
}

// Tests that the largest message passes, again and again.
TEST_F(SharedOutboxTest, LargestMessage) {
  std::vector<char> got(SharedOutbox::MaxMessage);
  for (int i = 0; i < 5; ++i) {
    a->send(1, message(got.size(), i).data(), got.size(), 1);
    b->recv(0, got.data(), got.size(), 1, waiting, call);
    EXPECT_EQ(got, message(got.size(), i));
  }
}

// Tests that tags are told apart while older messages stay.
TEST_F(SharedOutboxTest, TagsInAnyOrder) {
  for (int round = 0; round < 100; ++round) {
    for (int tag : {1, 2, 3})
      a->send(1, &tag, sizeof(tag), tag);
    for (int tag : {3, 1, 2}) {
      int got = 0;
      b->recv(0, &got, sizeof(got), tag, waiting, call);
      EXPECT_EQ(got, tag);
    }
  }
}

// Tests that a message of another size is an error with the sender's rank.
TEST_F(SharedOutboxTest, OtherSizeFails) {
  int value = 1;
  char got[8];
  a->send(1, &value, sizeof(value), 1);
  try {
    b->recv(0, got, sizeof(got), 1, waiting, call);
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_STREQ(failure.what(), "rank 4 is in another operation or has other "
                                 "sizes than recv 'test' of this rank");
  }
}

// Tests that a wait for nobody's message ends at its deadline.
TEST_F(SharedOutboxTest, DeadlineNamesTheSender) {
  char got;
  waiting.timeout = 0.2;
  try {
    b->recv(0, &got, 1, 1, waiting, call);
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_STREQ(failure.what(),
                 "rank 4 did not arrive in recv 'test' after 0.2 s");
  }
}
