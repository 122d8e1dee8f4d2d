//===- PoolTests.cpp - pooling against plain loops ------------------------===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace cleave;

namespace {
/// A pool over the last two of four dims; both have the same window.
struct Case {
  const char *kind;
  int64_t height, width, kernel, stride, low, high, dilation = 1;
  const char *flags = "";
  int64_t channels = 3;

  int64_t count(int64_t size) const {
    int64_t rest = size + low + high - dilation * (kernel - 1) - 1;
    bool ceil = std::string(flags).find("ceil") != std::string::npos;
    int64_t n = (ceil ? (rest + stride - 1) / stride : rest / stride) + 1;
    return ceil && (n - 1) * stride >= size + low ? n - 1 : n;
  }
};
} // namespace

template <typename T>
static double getExpected(const Case &c, Array<T> &x, int64_t plane,
                          int64_t row, int64_t column) {
  std::string kind = c.kind;
  bool includePad = std::string(c.flags).find("pad") != std::string::npos;
  double sum = 0, largest = -std::numeric_limits<double>::infinity();
  int64_t elements = 0;
  for (int64_t a = 0; a < c.kernel; ++a)
    for (int64_t b = 0; b < c.kernel; ++b) {
      int64_t i = row * c.stride - c.low + a * c.dilation;
      int64_t j = column * c.stride - c.low + b * c.dilation;
      bool exists = i >= 0 && j >= 0 && i < c.height && j < c.width;
      bool isPadded = i < c.height + c.high && j < c.width + c.high;
      elements += exists || (includePad && isPadded);
      if (!exists)
        continue;
      double value = x.at(plane / c.channels, plane % c.channels, i, j);
      sum += value;
      largest = std::fmax(largest, value);
    }
  return kind == "max" ? largest : kind == "sum" ? sum : sum / elements;
}

template <typename T>
static void check(const char *type, const Case &c,
                  std::vector<int64_t> order = {},
                  std::vector<int64_t> resultOrder = {}) {
  int64_t rows = c.count(c.height), columns = c.count(c.width);
  std::string in =
      llvm::formatv("2x{0}x{1}x{2}x{3}", c.channels, c.height, c.width, type);
  std::string out =
      llvm::formatv("2x{0}x{1}x{2}x{3}", c.channels, rows, columns, type);
  std::string text = llvm::formatv(
      R"(func.func @f(%a: tensor<{0}>) -> tensor<{1}> {{
      %r = cleave.kernel loop(%a) : (tensor<{0}>) -> tensor<{1}> {{
      ^bb0(%x: tensor<{0}>):
        %y = cleave.pool {2} %x {{kernel = array<i64: {3}, {3}>, strides = array<i64: {4}, {4}>,
          pads = array<i64: {5}, {5}, {6}, {6}>, dilations = array<i64: {7}, {7}>{8}}
          : (tensor<{0}>) -> tensor<{1}>
        cleave.yield %y : tensor<{1}>
      }
      return %r : tensor<{1}>
    })",
      in, out, c.kind, c.kernel, c.stride, c.low, c.high, c.dilation, c.flags);
  Array<T> x({2, c.channels, c.height, c.width}, order),
      y({2, c.channels, rows, columns}, resultOrder);
  x.randomize();
  JitKernel kernel(text, {x.strides, y.strides});
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t plane = 0; plane < 2 * c.channels; ++plane)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        ASSERT_NEAR(y.at(plane / c.channels, plane % c.channels, i, j),
                    getExpected(c, x, plane, i, j), 2e-6)
            << c.kind << " " << i << "," << j;
}

// Tests all kinds with pads, strides and dilations, on rows of more and fewer
// than 16 elements.
TEST(Pool, Kinds) {
  for (const char *kind : {"max", "average", "sum"}) {
    check<float>("f32", {kind, 9, 21, 3, 2, 1, 1});
    check<float>("f32", {kind, 7, 50, 2, 1, 0, 0});
    check<float>("f32", {kind, 20, 33, 3, 1, 2, 1, 2});
    check<float>("f32", {kind, 5, 5, 5, 1, 0, 0});
    check<double>("f64", {kind, 9, 18, 3, 3, 1, 0});
  }
}

// Tests windows of more elements than are unrolled.
TEST(Pool, Large) {
  check<float>("f32", {"average", 14, 40, 12, 1, 3, 3});
  check<float>("f32", {"max", 14, 40, 12, 5, 3, 3});
}

// Tests what an average counts: padding, and what sticks out of it.
TEST(Pool, Counts) {
  for (const char *flags : {", include_pad", ", ceil", ", include_pad, ceil"}) {
    check<float>("f32", {"average", 10, 23, 3, 3, 1, 1, 1, flags});
    check<float>("f32", {"average", 10, 23, 4, 3, 2, 0, 1, flags});
    check<float>("f32", {"average", 11, 24, 3, 4, 1, 1, 2, flags});
  }
}

// Tests integers, of which the largest may be negative.
TEST(Pool, Integers) {
  check<int32_t>("i32", {"max", 8, 20, 3, 2, 1, 1});
  check<int32_t>("i32", {"sum", 8, 20, 3, 2, 1, 1});
}

// Tests channels that are innermost in memory, in the operand, the result or
// both.
TEST(Pool, Orders) {
  std::vector<int64_t> inside = {0, 2, 3, 1};
  for (int64_t channels : {3, 16, 32, 64, 72}) {
    for (const char *kind : {"max", "average"}) {
      Case c{kind, 9, 11, 3, 2, 1, 1, 1, "", channels};
      check<float>("f32", c, inside);
      check<float>("f32", c, inside, inside);
    }
    check<float>(
        "f32",
        {"average", 9, 11, 2, 2, 1, 1, 2, ", include_pad, ceil", channels},
        inside, inside);
  }
  check<float>("f32", {"average", 9, 21, 3, 2, 1, 1}, {}, inside);
}
