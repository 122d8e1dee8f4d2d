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

static double differenceOf(Array found, Array expected) {
  std::vector<Difference> differences =
      compareOutputs({&found, 1}, {&expected, 1});
  EXPECT_EQ(differences.size(), 1u);
  return differences[0].relative;
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

// Tests that a NaN is further than any tolerance.
TEST(Compare, RefusesWhatIsTooFar) {
  auto refusal = [](double relative) -> std::string {
    std::vector<Difference> differences = {{"y", relative}};
    std::optional<Failure> failure =
        catchFailure([&] { verifyEqual(differences, 0.25); });
    return failure ? failure->what() : "";
  };
  EXPECT_EQ(refusal(0.25), "");
  EXPECT_EQ(refusal(0.5), "output 'y' differs by 0.5 of the largest value, at "
                          "most 0.25 is allowed");
  EXPECT_NE(refusal(NaN), "");
  EXPECT_NE(refusal(Inf), "");
}
