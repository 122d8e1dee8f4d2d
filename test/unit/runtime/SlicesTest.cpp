//===- SlicesTest.cpp - parts of whole tensors, with padding --------------===//

#include "runtime/program/Slices.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace cleave::rt;

static const std::vector<int64_t> AxisSizes = {2, 3};

template <typename T> static const std::byte *bytes(const std::vector<T> &v) {
  return reinterpret_cast<const std::byte *>(v.data());
}
template <typename T> static std::byte *bytes(std::vector<T> &v) {
  return reinterpret_cast<std::byte *>(v.data());
}

/// The local values of the rank at `coords`, from 0, 1, 2, ...
static std::vector<int32_t> take(const PortInfo &port,
                                 std::vector<int64_t> wholeShape,
                                 std::vector<int64_t> coords) {
  int64_t count = std::accumulate(wholeShape.begin(), wholeShape.end(),
                                  int64_t{1}, std::multiplies<>());
  std::vector<int32_t> whole(count);
  std::iota(whole.begin(), whole.end(), 1);
  int64_t localCount = std::accumulate(port.shape.begin(), port.shape.end(),
                                       int64_t{1}, std::multiplies<>());
  std::vector<int32_t> local(localCount, -1);
  Slice slice = sliceOf(port, wholeShape, coords, AxisSizes);
  takeSlice(bytes(whole), wholeShape, bytes(local), port.shape, slice, 4);
  return local;
}

using Values = std::vector<int32_t>;

// Tests that an unsplit dim is taken whole.
TEST(Slices, WholeTensor) {
  PortInfo port{0, {2, 2}, {{}, {}}};
  EXPECT_EQ(take(port, {2, 2}, {1, 2}), Values({1, 2, 3, 4}));
}

// Tests that the last part of an uneven dim is padded with zeros: 7 over 3.
TEST(Slices, UnevenPartIsPadded) {
  PortInfo port{0, {3}, {{{1}, 3}}};
  EXPECT_EQ(take(port, {7}, {0, 0}), Values({1, 2, 3}));
  EXPECT_EQ(take(port, {7}, {0, 1}), Values({4, 5, 6}));
  EXPECT_EQ(take(port, {7}, {0, 2}), Values({7, 0, 0}));
}

// Tests that a part beyond the end is all zeros: 4 over 3 in chunks of 2.
TEST(Slices, EmptyPart) {
  PortInfo port{0, {2}, {{{1}, 2}}};
  EXPECT_EQ(take(port, {4}, {0, 2}), Values({0, 0}));
}

// Tests that axes of one dim count outer first: index = c0 * 3 + c1.
TEST(Slices, TwoAxesOnOneDim) {
  PortInfo port{0, {1}, {{{0, 1}, 1}}};
  EXPECT_EQ(take(port, {6}, {1, 0}), Values({4}));
  EXPECT_EQ(take(port, {6}, {0, 2}), Values({3}));
}

// Tests that two dims are cut at once, both uneven, and put together again.
TEST(Slices, PartsMakeTheWhole) {
  std::vector<int64_t> shape = {3, 5, 2};
  PortInfo port{0, {2, 2, 2}, {{{0}, 2}, {{1}, 2}, {}}};
  Values whole(30, -1);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      Values local = take(port, shape, {i, j});
      std::vector<int64_t> coords = {i, j};
      putSlice(bytes(std::as_const(local)), port.shape, bytes(whole), shape,
               sliceOf(port, shape, coords, AxisSizes), 4);
    }
  Values expected(30);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(whole, expected);
}

// Tests that a scalar has one part.
TEST(Slices, Scalar) {
  PortInfo port{0, {}, {}};
  EXPECT_EQ(take(port, {}, {0, 0}), Values({1}));
}
