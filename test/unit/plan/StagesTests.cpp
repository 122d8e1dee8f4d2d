//===- StagesTests.cpp - cutting into stages, against brute force ---------===//

#include "passes/plan/Stages.h"

#include <gtest/gtest.h>

#include <random>

using namespace cleave::plan;

namespace {

CutProblem makeProblem(std::vector<double> times, int64_t stages) {
  CutProblem problem;
  problem.sends.assign(times.size(), 0);
  problem.pins.assign(times.size(), -1);
  problem.times = std::move(times);
  problem.stages = stages;
  return problem;
}

/// Slowest stage, what it sends on included.
double getSlowest(const CutProblem &problem,
                  const std::vector<int64_t> &stages) {
  std::vector<double> total(problem.stages, 0);
  for (size_t i = 0; i < stages.size(); ++i) {
    total[stages[i]] += problem.times[i];
    if (i > 0 && stages[i] != stages[i - 1])
      total[stages[i - 1]] += problem.sends[i];
  }
  return *std::max_element(total.begin(), total.end());
}

/// The least slowest stage of all contiguous cuts into three.
double getBest(const CutProblem &problem) {
  double best = std::numeric_limits<double>::infinity();
  size_t count = problem.times.size();
  for (size_t a = 1; a < count; ++a)
    for (size_t b = a + 1; b < count; ++b) {
      std::vector<int64_t> stages(count, 0);
      std::fill(stages.begin() + a, stages.begin() + b, 1);
      std::fill(stages.begin() + b, stages.end(), 2);
      best = std::min(best, getSlowest(problem, stages));
    }
  return best;
}

// Tests by hand: 1 1 4 | 2 3 are 6 and 5.
TEST(Stages, BalancesByHand) {
  EXPECT_EQ(cutItems(makeProblem({1, 1, 4, 2, 3}, 2)),
            (std::vector<int64_t>{0, 0, 0, 1, 1}));
}

// Tests that of equal stages the cut that sends least is taken.
TEST(Stages, CutsWhereLittleIsSent) {
  CutProblem problem = makeProblem({2, 0, 0, 2}, 2);
  problem.sends = {0, 0.5, 0.1, 0.5};
  EXPECT_EQ(cutItems(problem), (std::vector<int64_t>{0, 0, 1, 1}));
}

TEST(Stages, EqualsBruteForce) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> times(3 + i % 8);
    for (double &time : times)
      time = random() % 10;
    CutProblem problem = makeProblem(times, 3);
    for (double &send : problem.sends)
      send = random() % 5;
    std::optional<std::vector<int64_t>> stages = cutItems(problem);
    ASSERT_TRUE(stages.has_value());
    EXPECT_EQ(getSlowest(problem, *stages), getBest(problem))
        << "problem " << i;
  }
}

// Tests that pins hold, and that what they forbid is no result.
TEST(Stages, Pins) {
  CutProblem problem = makeProblem({1, 1, 1, 1}, 2);
  problem.pins[2] = 0;
  EXPECT_EQ(cutItems(problem), (std::vector<int64_t>{0, 0, 0, 1}));
  problem.pins[1] = 1;
  EXPECT_EQ(cutItems(problem), std::nullopt);
  EXPECT_EQ(cutItems(makeProblem({1, 1}, 3)), std::nullopt);
}

} // namespace
