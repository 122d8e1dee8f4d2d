//===- CompareTest.cpp - how far outputs are from those expected ----------===//

#include "runtime/main/Compare.h"
#include "test/unit/runtime/Tensors.h"

#include <gtest/gtest.h>

#include <limits>

using namespace cleave::rt;

template <typename T>
static Array arrayOf(CleaveDtype dtype, std::vector<T> values) {
  Array array{"y", dtype, {static_cast<int64_t>(values.size())}, {}};
  const auto *bytes = reinterpret_cast<const std::byte *>(values.data());
  array.data.assign(bytes, bytes + values.size() * sizeof(T));
  return array;
}

static Difference compare(Array found, Array expected) {
  TensorInfo info{found.name, found.dtype, found.shape};
  std::optional<Array> wanted = std::move(expected);
  std::vector<Difference> differences =
      compareOutputs({&info, 1}, {&found, 1}, {&wanted, 1});
  EXPECT_EQ(differences.size(), 1u);
  return differences[0];
}

static double differenceOf(Array found, Array expected) {
  return compare(std::move(found), std::move(expected)).relative;
}

static double floats(std::vector<float> found, std::vector<float> expected) {
  return differenceOf(arrayOf(CLEAVE_F32, found),
                      arrayOf(CLEAVE_F32, expected));
}

static constexpr float Inf = std::numeric_limits<float>::infinity();
static constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

// Tests that the largest difference counts, in parts of the largest value.
TEST(Compare, IsRelativeToTheLargestValue) {
  EXPECT_EQ(floats({1, 2, -8}, {1, 2, -8}), 0);
  EXPECT_EQ(floats({1, 3, -8}, {1, 2, -8}), 0.125);
  EXPECT_EQ(floats({0.5, 0}, {0, 0}), 0.5);
  EXPECT_EQ(floats({}, {}), 0);
}

// Tests that NaN and infinities are equal to themselves only.
TEST(Compare, TellsNaNAndInfinities) {
  EXPECT_EQ(floats({NaN, Inf, 4}, {NaN, Inf, 2}), 1);
  EXPECT_EQ(floats({NaN, 1}, {1, 1}), Inf);
  EXPECT_EQ(floats({1, 1}, {NaN, 1}), Inf);
  EXPECT_EQ(floats({Inf}, {-Inf}), Inf);
}

// Tests that 64-bit integers are told apart where double cannot, that types may
// differ, and that arrays longer than a block are compared to their end.
TEST(Compare, IsExactForAllTypes) {
  int64_t large = int64_t{1} << 62;
  EXPECT_GT(differenceOf(arrayOf<int64_t>(CLEAVE_I64, {large + 1}),
                         arrayOf<int64_t>(CLEAVE_I64, {large})),
            0);
  EXPECT_EQ(differenceOf(arrayOf<uint16_t>(CLEAVE_BF16, {0x3f80}),
                         arrayOf<double>(CLEAVE_F64, {1})),
            0);
  std::vector<float> expected(5000, 1), found = expected;
  found.back() = 1.5;
  EXPECT_EQ(floats(found, expected), 0.5);
}

// Tests that the elements that differ most are told, with their place.
TEST(Compare, TellsWhere) {
  std::vector<float> found(12, 1), expected(12, 1);
  found[7] = 3;
  expected[10] = 2;
  Array left = arrayOf(CLEAVE_F32, found),
        right = arrayOf(CLEAVE_F32, expected);
  left.shape = right.shape = {3, 4};
  Difference difference = compare(left, right);
  EXPECT_EQ(difference.index, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(difference.found, 3);
  EXPECT_EQ(difference.expected, 1);
  EXPECT_EQ(difference.relative, 1);
}

/// An output of the node at `position`.
static TensorInfo outputAt(const char *name, int64_t position) {
  TensorInfo info;
  info.name = name;
  info.node = std::string("node-") + name;
  info.op = "Add";
  info.position = position;
  return info;
}

// Tests that outputs are compared in the order of nodes, those that are not
// expected left out.
TEST(Compare, GoesByNodes) {
  std::vector<TensorInfo> infos = {outputAt("y", 5), outputAt("a", 1),
                                   outputAt("b", 3)};
  std::vector<Array> found(3, arrayOf<float>(CLEAVE_F32, {1}));
  std::vector<std::optional<Array>> expected = {found[0], found[1],
                                                std::nullopt};
  std::vector<Difference> differences = compareOutputs(infos, found, expected);
  ASSERT_EQ(differences.size(), 2u);
  EXPECT_EQ(differences[0].output.name, "a");
  EXPECT_EQ(differences[1].output.name, "y");
}

static std::string refusalOf(const std::vector<Difference> &differences,
                             double tolerance) {
  std::optional<Failure> failure =
      catchFailure([&] { verifyEqual(differences, tolerance); });
  return failure ? failure->what() : "";
}

// Tests that a NaN is further than any tolerance.
TEST(Compare, RefusesWhatIsTooFar) {
  auto refusal = [](double relative) {
    TensorInfo output;
    output.name = "y";
    return refusalOf({{output, relative, {0, 2}, 1.5, 1}}, 0.25);
  };
  EXPECT_EQ(refusal(0.25), "");
  EXPECT_EQ(refusal(0.5),
            "output 'y' differs by 0.5 of the largest value, at most 0.25 is "
            "allowed: 1.5 at [0, 2], expected 1");
  EXPECT_NE(refusal(NaN), "");
  EXPECT_NE(refusal(Inf), "");
}

// Tests that the first node is told, and how many before it nobody compared.
TEST(Compare, TellsTheFirstNode) {
  std::string text = refusalOf({{outputAt("a", 1), 0, {0}, 1, 1},
                                {outputAt("b", 3), 1, {0}, 2, 1},
                                {outputAt("y", 5), 1, {0}, 2, 1}},
                               0.25);
  EXPECT_EQ(text, "output 'b' of node 'node-b' (Add) differs by 1 of the "
                  "largest value, at most 0.25 is allowed: 2 at [0], expected "
                  "1; the first of 2 that do; 2 nodes before it are not "
                  "compared (cleave compile --keep '*')");
}
