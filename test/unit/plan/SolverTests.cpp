//===- SolverTests.cpp - the solver against brute force -------------------===//

#include "passes/plan/Solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace cleave::plan;

namespace {

/// Tries every assignment.
double getBestCost(const Problem &problem) {
  std::vector<size_t> values(problem.variables.size(), 0);
  double best = kForbidden;
  for (;;) {
    best = std::min(best, problem.getCost(values));
    size_t v = 0;
    while (v < values.size() && ++values[v] == problem.getDomain(v))
      values[v++] = 0;
    if (v == values.size())
      return best;
  }
}

/// Small integer costs, some forbidden; some edges parallel, some reversed.
Problem makeRandom(std::mt19937 &random, size_t count, size_t edges,
                   bool forbid) {
  auto draw = [&](unsigned bound) { return random() % bound; };
  auto makeCosts = [&](size_t size) {
    std::vector<double> costs(size);
    for (double &cost : costs)
      cost = forbid && draw(8) == 0 ? kForbidden : draw(20);
    return costs;
  };
  Problem problem;
  for (size_t v = 0; v < count; ++v)
    problem.addVariable("v" + std::to_string(v), makeCosts(1 + draw(4)));
  for (size_t e = 0; e < edges; ++e) {
    size_t a = draw(count), b = draw(count);
    if (a != b)
      problem.addEdge(a, b,
                      makeCosts(problem.getDomain(a) * problem.getDomain(b)));
  }
  return problem;
}

// Tests that the least cost is that of all assignments, forbidden ones
// included.
TEST(Solver, EqualsBruteForce) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    Problem problem = makeRandom(random, 1 + i % 7, i % 13, i % 2);
    ASSERT_EQ(verify(problem), "");
    double best = getBestCost(problem);
    std::optional<Solution> solution = solve(problem);
    ASSERT_EQ(solution.has_value(), std::isfinite(best)) << "problem " << i;
    if (!solution)
      continue;
    EXPECT_EQ(solution->cost, best) << "problem " << i;
    EXPECT_TRUE(solution->exact);
    EXPECT_EQ(verify(problem, *solution), "");
  }
}

// Tests that a bound on the tables gives a valid solution, never a better one,
// that says it is not exact.
TEST(Solver, BoundedTablesAreReported) {
  std::mt19937 random(11);
  for (int i = 0; i < 100; ++i) {
    Problem problem = makeRandom(random, 7, 20, false);
    std::optional<Solution> solution = solve(problem, {/*maxTableEntries=*/16});
    ASSERT_TRUE(solution.has_value());
    EXPECT_EQ(verify(problem, *solution), "");
    EXPECT_GE(solution->cost, getBestCost(problem));
    EXPECT_EQ(solution->exact, solution->fixed.empty());
  }
}

// Tests that where the first choices lead to forbidden ones, others are made:
// all variables have to be equal, the first would be 0, and the last cannot.
TEST(Solver, BoundedTablesLeaveDeadEnds) {
  Problem problem;
  for (size_t v = 0; v < 7; ++v)
    problem.addVariable("v", {v == 6 ? kForbidden : 0, 1, 2});
  std::vector<double> equal(9, kForbidden);
  equal[0] = equal[4] = equal[8] = 0;
  for (size_t a = 0; a < 7; ++a)
    for (size_t b = a + 1; b < 7; ++b)
      problem.addEdge(a, b, equal);
  std::optional<Solution> solution = solve(problem, {/*maxTableEntries=*/16});
  ASSERT_TRUE(solution.has_value());
  EXPECT_EQ(solution->values, std::vector<size_t>(7, 1));
  EXPECT_FALSE(solution->exact);
}

// Tests that a long chain with skips is solved exactly, and quickly.
TEST(Solver, LongChainWithSkips) {
  std::mt19937 random(3);
  Problem problem;
  for (size_t v = 0; v < 2000; ++v)
    problem.addVariable("v", {double(random() % 9), double(random() % 9), 4});
  auto link = [&](size_t a, size_t b) {
    std::vector<double> costs(9);
    for (double &cost : costs)
      cost = random() % 9;
    problem.addEdge(a, b, costs);
  };
  for (size_t v = 1; v < 2000; ++v) {
    link(v - 1, v);
    if (v >= 4 && v % 4 == 0)
      link(v - 4, v);
  }
  std::optional<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.has_value());
  EXPECT_TRUE(solution->exact);
  EXPECT_EQ(verify(problem, *solution), "");
}

// Tests that of equal choices the first is taken.
TEST(Solver, FirstOfEqualsWins) {
  Problem problem;
  problem.addVariable("a", {1, 1, 1});
  problem.addVariable("b", {2, 2});
  problem.addEdge(0, 1, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(solve(problem)->values, (std::vector<size_t>{0, 0}));
}

// Tests that faults of a problem and of a solution are found.
TEST(Solver, VerifyNamesFaults) {
  Problem problem;
  problem.addVariable("a", {0, kForbidden});
  problem.addVariable("b", {0});
  problem.addEdge(0, 1, {0});
  EXPECT_EQ(verify(problem),
            "edge between 'a' and 'b' has 1 costs, expected 2");
  problem.edges[0].costs = {5, 0};
  EXPECT_EQ(verify(problem), "");
  EXPECT_EQ(verify(problem, {{1, 0}, 0, true, {}}),
            "the solution makes a forbidden choice");
  EXPECT_EQ(verify(problem, {{0, 2}, 0, true, {}}),
            "value 2 of 'b' is out of range");
  EXPECT_NE(verify(problem, {{0, 0}, 3, true, {}}), "");
}

} // namespace
