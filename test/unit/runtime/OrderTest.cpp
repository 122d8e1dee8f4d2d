//===- OrderTest.cpp - the order of samples -------------------------------===//

#include "runtime/data/Order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace cleave::rt;

static std::vector<int64_t> listAll(int64_t count, uint64_t seed,
                                    int64_t epoch) {
  Order order(count, seed, epoch);
  std::vector<int64_t> list(count);
  for (int64_t i = 0; i < count; ++i)
    list[i] = order.at(i);
  return list;
}

// Tests that each sample comes once in an epoch, however many there are.
TEST(Order, HasEachSampleOnce) {
  for (int64_t count = 1; count <= 130; ++count) {
    std::vector<int64_t> list = listAll(count, 7, count % 3), all(count);
    std::sort(list.begin(), list.end());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(list, all);
  }
}

// Tests that epochs and seeds have orders of their own, and always the same.
TEST(Order, DependsOnSeedAndEpoch) {
  EXPECT_EQ(listAll(100, 1, 0), listAll(100, 1, 0));
  EXPECT_NE(listAll(100, 1, 0), listAll(100, 1, 1));
  EXPECT_NE(listAll(100, 1, 0), listAll(100, 2, 0));
}

// Tests that samples are as often at one place as at another: the sum of
// squares that a chi-squared test looks at is below its bound for 81 degrees of
// freedom, 1 in 1000 (124.8).
TEST(Order, IsEven) {
  constexpr int Samples = 10, Epochs = 2000;
  int counts[Samples][Samples] = {};
  for (int epoch = 0; epoch < Epochs; ++epoch) {
    Order order(Samples, 3, epoch);
    for (int place = 0; place < Samples; ++place)
      ++counts[place][order.at(place)];
  }
  double expected = double{Epochs} / Samples, sum = 0;
  for (auto &row : counts)
    for (int count : row)
      sum += (count - expected) * (count - expected) / expected;
  EXPECT_LT(sum, 124.8);
}

// Tests that more samples than any memory holds cost no memory.
TEST(Order, IsComputedPlaceByPlace) {
  Order order(int64_t{1} << 50, 1, 0);
  for (int64_t place : {int64_t{0}, (int64_t{1} << 50) - 1}) {
    EXPECT_GE(order.at(place), 0);
    EXPECT_LT(order.at(place), int64_t{1} << 50);
  }
}
