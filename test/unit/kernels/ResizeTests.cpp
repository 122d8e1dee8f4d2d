//===- ResizeTests.cpp - interpolation against plain loops ----------------===//
//
// The reference evaluates each output element directly, by ONNX Resize's
// formulas, from all 2^n or 4^n neighbours.
//
//===----------------------------------------------------------------------===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>

using namespace cleave;

static double coordinate(const std::string &mode, double o, double in,
                         double out) {
  if (mode == "align_corners")
    return o * (in - 1) / (out - 1);
  if (mode == "asymmetric")
    return o / (out / in);
  return (o + 0.5) / (out / in) - 0.5;
}

static double cubic(double x) {
  x = std::fabs(x);
  if (x <= 1)
    return 1.25 * x * x * x - 2.25 * x * x + 1;
  return x < 2 ? -0.75 * x * x * x + 3.75 * x * x - 6 * x + 3 : 0;
}

/// Weighted neighbours of an output index.
static std::vector<std::pair<int64_t, double>>
neighbours(const std::string &kind, const std::string &mode, int64_t o,
           int64_t in, int64_t out) {
  double x = coordinate(mode, o, in, out);
  auto clamp = [&](double i) {
    return int64_t(std::min<double>(std::max(i, 0.0), in - 1));
  };
  if (kind == "nearest")
    return {{clamp(std::ceil(x - 0.5)), 1}};
  std::vector<std::pair<int64_t, double>> result;
  for (int64_t i = -3; i < in + 3; ++i) {
    double weight =
        kind == "cubic" ? cubic(x - i) : std::max(0.0, 1 - std::fabs(x - i));
    if (weight != 0)
      result.push_back({clamp(i), weight});
  }
  return result;
}

static void check(const char *kind, const char *mode, int64_t h, int64_t w,
                  int64_t outH, int64_t outW, std::vector<int64_t> order = {}) {
  std::string text = llvm::formatv(
      R"(func.func @f(%a: tensor<2x3x{2}x{3}xf32>) -> tensor<2x3x{4}x{5}xf32> {{
      %r = cleave.kernel loop(%a) : (tensor<2x3x{2}x{3}xf32>) -> tensor<2x3x{4}x{5}xf32> {{
      ^bb0(%x: tensor<2x3x{2}x{3}xf32>):
        %y = cleave.resize {0} %x {{scales = array<f64: 1.0, 1.0, {6}, {7}>, coordinates = "{1}"}
          : (tensor<2x3x{2}x{3}xf32>) -> tensor<2x3x{4}x{5}xf32>
        cleave.yield %y : tensor<2x3x{4}x{5}xf32>
      }
      return %r : tensor<2x3x{4}x{5}xf32>
    })",
      kind, mode, h, w, outH, outW, llvm::formatv("{0:E20}", double(outH) / h),
      llvm::formatv("{0:E20}", double(outW) / w));
  Array<float> x({2, 3, h, w}, order), y({2, 3, outH, outW});
  x.randomize();
  JitKernel kernel(text, {x.strides});
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t plane = 0; plane < 6; ++plane)
    for (int64_t i = 0; i < outH; ++i)
      for (int64_t j = 0; j < outW; ++j) {
        double expected = 0;
        for (auto [row, rowWeight] : neighbours(kind, mode, i, h, outH))
          for (auto [column, weight] : neighbours(kind, mode, j, w, outW))
            expected +=
                rowWeight * weight * x.at(plane / 3, plane % 3, row, column);
        ASSERT_NEAR(y.at(plane / 3, plane % 3, i, j), expected, 3e-6)
            << kind << " " << mode << " " << i << "," << j;
      }
}

// Tests all kinds and coordinate modes, up and down, one dim and both.
TEST(Resize, Kinds) {
  for (const char *kind : {"nearest", "linear", "cubic"})
    for (const char *mode : {"half_pixel", "align_corners", "asymmetric"}) {
      check(kind, mode, 7, 9, 14, 27);
      check(kind, mode, 20, 30, 9, 11);
      check(kind, mode, 5, 16, 5, 40);
      check(kind, mode, 5, 16, 11, 16);
    }
}

// Tests channels that are innermost in memory.
TEST(Resize, ChannelsLast) {
  for (const char *kind : {"nearest", "linear", "cubic"})
    check(kind, "half_pixel", 7, 9, 14, 18, {0, 2, 3, 1});
}
