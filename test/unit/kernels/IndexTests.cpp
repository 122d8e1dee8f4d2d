//===- IndexTests.cpp - scatter, top k and prefixes against plain loops ---===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace cleave;

/// A loop kernel of one op without its types.
static std::string opText(const std::vector<std::string> &operands,
                          const std::string &result, const std::string &op) {
  std::string types;
  for (const std::string &operand : operands)
    types += (types.empty() ? "tensor<" : ", tensor<") + operand + ">";
  return loopText(operands, result,
                  op + " : (" + types + ") -> tensor<" + result + ">");
}

//===-- Scatter -----------------------------------------------------------===//

// Tests that updates of one element come in order: the last one stays. Elements
// that no index names are copied.
TEST(Scatter, LastWins) {
  Array<float> x({9, 21}, {}, 3), updates({5, 21}), y({9, 21}, {1, 0});
  x.randomize(), updates.randomize(2, 7);
  std::vector<int64_t> indices = {3, -1, 3, 0, 8};
  JitKernel kernel(opText({"9x21xf32", "5xi64", "5x21xf32"}, "9x21xf32",
                          "%y = cleave.scatter %x0, %x1, %x2 {dim = 0 : i64}"),
                   {x.strides, {}, {}, y.strides});
  EXPECT_EQ(kernel.run({x.data.data(), indices.data(), updates.data.data(),
                        y.data.data()}),
            0);
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t j = 0; j < 21; ++j)
      ASSERT_EQ(y.at(i, j), i == 3   ? updates.at(2, j)
                            : i == 8 ? updates.at(4, j)
                            : i == 0 ? updates.at(3, j)
                                     : x.at(i, j));
}

// Tests batch dims, and repeated indices that are summed, with lanes along no
// dim.
TEST(Scatter, BatchedSum) {
  Array<int32_t> x({3, 30}), updates({3, 50}), y({3, 30});
  x.randomize(100), updates.randomize(100, 2);
  Array<int32_t> indices({3, 50});
  for (int64_t i = 0; i < indices.count(); ++i)
    indices[i] = int32_t(i * 7 % 31) - 1; // -1 to 29
  JitKernel kernel(
      opText({"3x30xi32", "3x50xi32", "3x50xi32"}, "3x30xi32",
             "%y = cleave.scatter %x0, %x1, %x2 {dim = 1 : i64, batch_dims = "
             "1 : i64, combine = #cleave<reduce_kind sum>}"));
  kernel.run(
      {x.data.data(), indices.data.data(), updates.data.data(), y.data.data()});
  for (int64_t b = 0; b < 3; ++b) {
    std::vector<int32_t> expected(30);
    for (int64_t i = 0; i < 30; ++i)
      expected[i] = x.at(b, i);
    for (int64_t j = 0; j < 50; ++j)
      expected[(indices.at(b, j) + 30) % 30] += updates.at(b, j);
    for (int64_t i = 0; i < 30; ++i)
      ASSERT_EQ(y.at(b, i), expected[i]) << b << "," << i;
  }
}

// Tests a tensor of several blocks, and that an index out of range is reported.
TEST(Scatter, BlocksAndErrors) {
  Array<float> x({4000, 16}), updates({3, 16}), y({4000, 16});
  x.randomize(), updates.randomize(2, 5);
  std::vector<int64_t> indices = {3999, 0, 1700};
  JitKernel kernel(opText({"4000x16xf32", "3xi64", "3x16xf32"}, "4000x16xf32",
                          "%y = cleave.scatter %x0, %x1, %x2 {dim = 0 : i64}"));
  EXPECT_GT(kernel.plan.extent, 1);
  std::vector<void *> arguments = {x.data.data(), indices.data(),
                                   updates.data.data(), y.data.data()};
  EXPECT_EQ(kernel.run(arguments), 0);
  for (int64_t i = 0; i < 4000; ++i) {
    auto *at = std::find(&indices[0], &indices[0] + 3, i);
    float expected =
        at == &indices[0] + 3 ? x.at(i, 5) : updates.at(at - &indices[0], 5);
    ASSERT_EQ(y.at(i, 5), expected) << i;
  }
  indices[1] = 4000;
  EXPECT_NE(kernel.run(arguments), 0);
  indices[1] = -4001;
  EXPECT_NE(kernel.run(arguments), 0);
}

//===-- Top k -------------------------------------------------------------===//

/// Row-wise top k of x [rows, n]; equal elements in the order
/// of their indices.
template <typename T>
static void checkTop(const char *type, Array<T> &x, int64_t k, bool least) {
  int64_t rows = x.shape[0], n = x.shape[1];
  std::string in = llvm::formatv("{0}x{1}x{2}", rows, n, type);
  std::string out = llvm::formatv("{0}x{1}xi64", rows, k);
  std::string op =
      llvm::formatv("%y = cleave.top_k %x0 {{dim = 1 : i64, k = {0} : i64{1}}",
                    k, least ? ", least" : "");
  Array<int64_t> y({rows, k});
  JitKernel kernel(opText({in}, out, op), {x.strides});
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      T u = x.at(row, a), v = x.at(row, b);
      return u == v ? a < b : least ? u < v : u > v;
    });
    for (int64_t i = 0; i < k; ++i)
      ASSERT_EQ(y.at(row, i), order[i]) << type << " " << row << "," << i;
  }
}

// Tests floats and integers, ties included, from one element to all of them.
TEST(TopK, Types) {
  for (bool least : {false, true})
    for (int64_t k : {1, 2, 7, 33}) {
      Array<float> floats({4, 33}, {1, 0});
      checkTop("f32", floats.randomize(), k, least);
      Array<double> doubles({4, 33});
      checkTop("f64", doubles.randomize(1e300), k, least);
      Array<int32_t> few({4, 33});
      checkTop("i32", few.randomize(4), k, least);
      Array<int64_t> wide({4, 33});
      wide.randomize(4);
      wide.at(1, 5) = std::numeric_limits<int64_t>::min();
      wide.at(1, 9) = std::numeric_limits<int64_t>::max();
      checkTop("i64", wide, k, least);
      Array<uint8_t> bytes({4, 33});
      for (int64_t i = 0; i < bytes.count(); ++i)
        bytes[i] = uint8_t(i * 37);
      checkTop("ui8", bytes, k, least);
      Array<uint64_t> large({4, 33});
      for (int64_t i = 0; i < large.count(); ++i)
        large[i] = uint64_t(i * 37 % 11) << 60;
      checkTop("ui64", large, k, least);
    }
}

// Tests that -0 and 0 are equal, infinities are numbers, and NaN is the
// largest.
TEST(TopK, SpecialFloats) {
  float infinity = std::numeric_limits<float>::infinity();
  float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = {-0.0f, 0.0f, -infinity, -nan, infinity, 1.0f};
  std::vector<int64_t> y(6), expected = {3, 4, 5, 0, 1, 2};
  JitKernel kernel(
      opText({"1x6xf32"}, "1x6xi64",
             "%y = cleave.top_k %x0 {dim = 1 : i64, k = 6 : i64}"));
  kernel.run({x.data(), y.data()});
  EXPECT_EQ(y, expected);
}

//===-- Cumulate ----------------------------------------------------------===//

// Tests all directions along both dims of a strided array.
TEST(Cumulate, Directions) {
  for (int64_t dim : {0, 1})
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true}) {
        Array<int64_t> x({13, 37}, {}, 5), y({13, 37}, {1, 0});
        x.randomize(1000);
        std::string op = llvm::formatv(
            "%y = cleave.cumulate sum %x0 {{dim = {0} : i64{1}{2}}", dim,
            exclusive ? ", exclusive" : "", reverse ? ", reverse" : "");
        JitKernel kernel(opText({"13x37xi64"}, "13x37xi64", op),
                         {x.strides, y.strides});
        kernel.run({x.data.data(), y.data.data()});
        for (int64_t i = 0; i < 13; ++i)
          for (int64_t j = 0; j < 37; ++j) {
            int64_t own = dim ? j : i, size = dim ? 37 : 13, expected = 0;
            for (int64_t at = 0; at < size; ++at) {
              bool counts = reverse ? at >= own : at <= own;
              if (counts && !(exclusive && at == own))
                expected += dim ? x.at(i, at) : x.at(at, j);
            }
            ASSERT_EQ(y.at(i, j), expected) << i << "," << j;
          }
      }
}

// Tests that the first of exclusive products is 1.
TEST(Cumulate, Products) {
  std::vector<float> x = {2, 3, -4, 5}, y(4), expected = {1, 2, 6, -24};
  JitKernel kernel(
      opText({"4xf32"}, "4xf32",
             "%y = cleave.cumulate prod %x0 {dim = 0 : i64, exclusive}"));
  kernel.run({x.data(), y.data()});
  EXPECT_EQ(y, expected);
}
