//===- RowTests.cpp - norms, softmax and cross-entropy against plain loops ===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace cleave;

static std::string normText(const char *kind, const char *shape,
                            const char *row, int axis) {
  return llvm::formatv(R"(
    func.func @f(%a: tensor<{1}xf32>, %b: tensor<{2}xf32>, %c: tensor<{2}xf32>) -> tensor<{1}xf32> {{
      %r = cleave.kernel row(%a, %b, %c) : (tensor<{1}xf32>, tensor<{2}xf32>, tensor<{2}xf32>) -> tensor<{1}xf32> {{
      ^bb0(%x: tensor<{1}xf32>, %s: tensor<{2}xf32>, %t: tensor<{2}xf32>):
        %y = cleave.norm {0} %x, %s, %t {{axis = {3} : i64, epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}
          : (tensor<{1}xf32>, tensor<{2}xf32>, tensor<{2}xf32>) -> tensor<{1}xf32>
        cleave.yield %y : tensor<{1}xf32>
      }
      return %r : tensor<{1}xf32>
    })",
                       kind, shape, row, axis)
      .str();
}

/// Norm of rows of `size` in double precision.
static std::vector<double> normRow(bool isLayer, Array<float> &x, int64_t row,
                                   int64_t size, Array<float> &scale,
                                   Array<float> &bias) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; isLayer && i < size; ++i)
    mean += x[row * size + i] / double(size);
  for (int64_t i = 0; i < size; ++i)
    variance += std::pow(x[row * size + i] - mean, 2) / size;
  std::vector<double> result;
  for (int64_t i = 0; i < size; ++i)
    result.push_back((x[row * size + i] - mean) / std::sqrt(variance + 1e-5) *
                         scale[i] +
                     bias[i]);
  return result;
}

static void checkNorm(const char *kind, Array<float> x, const char *shape,
                      const char *rowShape, int64_t size, int axis) {
  Array<float> scale({size}), bias({size}), y(x.shape);
  x.randomize(3, 1);
  scale.randomize(2, 2);
  bias.randomize(1, 3);
  JitKernel kernel(normText(kind, shape, rowShape, axis), {x.strides});
  kernel.run(
      {x.data.data(), scale.data.data(), bias.data.data(), y.data.data()});
  for (int64_t row = 0; row < x.count() / size; ++row) {
    auto expected = normRow(kind[0] == 'l', x, row, size, scale, bias);
    for (int64_t i = 0; i < size; ++i)
      EXPECT_NEAR(y[row * size + i], expected[i], 2e-6) << row << "," << i;
  }
}

// Tests norms of whole, odd, short and multi-dim rows, dense and strided.
TEST(Norm, Rows) {
  checkNorm("layer", Array<float>({2, 5, 384}), "2x5x384", "384", 384, 2);
  checkNorm("layer", Array<float>({7, 99}, {}, 13), "7x99", "99", 99, 1);
  checkNorm("rms", Array<float>({3, 5}), "3x5", "5", 5, 1);
  checkNorm("layer", Array<float>({3, 4, 37}), "3x4x37", "4x37", 148, 1);
  checkNorm("rms", Array<float>({3, 4, 37}, {1, 2, 0}), "3x4x37", "4x37", 148,
            1);
  checkNorm("layer", Array<float>({20, 33}, {1, 0}), "20x33", "33", 33, 1);
}

// Tests a sum that feeds a norm and is a result itself, with a gelu after the
// norm.
TEST(Norm, SumBeforeGeluAfter) {
  Array<float> a({5, 100}), b({5, 100}), sum({5, 100}), y({5, 100});
  Array<float> scale({100}), bias({100});
  a.randomize(1, 1), b.randomize(1, 2), scale.randomize(2, 3);
  for (int64_t i = 0; i < 100; ++i)
    bias[i] = 0;
  JitKernel kernel(R"(
    func.func @f(%a: tensor<5x100xf32>, %b: tensor<5x100xf32>, %c: tensor<100xf32>) -> (tensor<5x100xf32>, tensor<5x100xf32>) {
      %r:2 = cleave.kernel row(%a, %b, %c) : (tensor<5x100xf32>, tensor<5x100xf32>, tensor<100xf32>) -> (tensor<5x100xf32>, tensor<5x100xf32>) {
      ^bb0(%x: tensor<5x100xf32>, %y: tensor<5x100xf32>, %s: tensor<100xf32>):
        %z = cleave.binary add %x, %y : tensor<5x100xf32>
        %n = cleave.norm layer %z, %s {axis = 1 : i64, epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}
          : (tensor<5x100xf32>, tensor<100xf32>) -> tensor<5x100xf32>
        %g = cleave.unary gelu_erf %n : tensor<5x100xf32>
        cleave.yield %z, %g : tensor<5x100xf32>, tensor<5x100xf32>
      }
      return %r#0, %r#1 : tensor<5x100xf32>, tensor<5x100xf32>
    })");
  kernel.run({a.data.data(), b.data.data(), scale.data.data(), sum.data.data(),
              y.data.data()});
  for (int64_t i = 0; i < 500; ++i)
    EXPECT_EQ(sum[i], a[i] + b[i]);
  for (int64_t row = 0; row < 5; ++row) {
    auto normed = normRow(true, sum, row, 100, scale, bias);
    for (int64_t i = 0; i < 100; ++i)
      EXPECT_NEAR(y[row * 100 + i],
                  normed[i] / 2 * (1 + std::erf(normed[i] / std::sqrt(2.0))),
                  2e-6);
  }
}

template <typename T>
static void checkSoftmax(Array<T> x, const char *type, int64_t dim, bool log,
                         double tolerance) {
  std::string text = llvm::formatv(R"(
    func.func @f(%a: tensor<{0}>) -> tensor<{0}> {{
      %r = cleave.kernel row(%a) : (tensor<{0}>) -> tensor<{0}> {{
      ^bb0(%x: tensor<{0}>):
        %y = cleave.softmax %x {{dim = {1} : i64{2}} : (tensor<{0}>) -> tensor<{0}>
        cleave.yield %y : tensor<{0}>
      }
      return %r : tensor<{0}>
    })",
                                   type, dim, log ? ", log" : "");
  Array<T> y(x.shape);
  x.randomize(20);
  JitKernel kernel(text, {x.strides});
  kernel.run({x.data.data(), y.data.data()});
  int64_t size = x.shape[dim], inner = 1;
  for (size_t d = dim + 1; d < x.shape.size(); ++d)
    inner *= x.shape[d];
  for (int64_t row = 0; row < x.count() / size; ++row) {
    int64_t first = row / inner * inner * size + row % inner;
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < size; ++i)
      largest = std::max<double>(largest, x[first + i * inner]);
    for (int64_t i = 0; i < size; ++i)
      sum += std::exp(x[first + i * inner] - largest);
    for (int64_t i = 0; i < size; ++i) {
      double z = x[first + i * inner] - largest;
      double expected = log ? z - std::log(sum) : std::exp(z) / sum;
      EXPECT_NEAR(y[first + i * inner], expected,
                  tolerance * std::max(std::fabs(expected), 1e-3));
    }
  }
}

// Tests softmax over the last and other dims, its logarithm, and f64.
TEST(Softmax, Rows) {
  checkSoftmax(Array<float>({3, 6, 197}), "3x6x197xf32", 2, false, 2e-6);
  checkSoftmax(Array<float>({9, 1000}, {}, 3), "9x1000xf32", 1, false, 2e-6);
  checkSoftmax(Array<float>({4, 10}), "4x10xf32", 1, true, 2e-6);
  checkSoftmax(Array<float>({4, 30, 7}), "4x30x7xf32", 1, false, 2e-6);
  checkSoftmax(Array<double>({4, 33}), "4x33xf64", 1, false, 1e-13);
}

static const char *lossText = R"(
  func.func @f(%a: tensor<6x50xf32>, %b: tensor<6xi64>, %c: tensor<6xf32>) -> (tensor<6xf32>, tensor<6x50xf32>) {
    %r:2 = cleave.kernel row(%a, %b, %c) : (tensor<6x50xf32>, tensor<6xi64>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6x50xf32>) {
    ^bb0(%x: tensor<6x50xf32>, %l: tensor<6xi64>, %d: tensor<6xf32>):
      %y = cleave.cross_entropy %x, %l : (tensor<6x50xf32>, tensor<6xi64>) -> tensor<6xf32>
      %g = cleave.cross_entropy_grad %x, %l, %d : (tensor<6x50xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<6x50xf32>
      cleave.yield %y, %g : tensor<6xf32>, tensor<6x50xf32>
    }
    return %r#0, %r#1 : tensor<6xf32>, tensor<6x50xf32>
  })";

// Tests loss and gradient, an ignored label, and one that does not exist.
TEST(CrossEntropy, LossAndGradient) {
  Array<float> x({6, 50}), dloss({6}), loss({6}), gradient({6, 50});
  Array<int64_t> labels({6});
  x.randomize(5, 1), dloss.randomize(1, 2);
  for (int64_t i = 0; i < 6; ++i)
    labels[i] = i == 2 ? -100 : i * 9;
  JitKernel kernel(lossText);
  std::vector<void *> args = {x.data.data(), labels.data.data(),
                              dloss.data.data(), loss.data.data(),
                              gradient.data.data()};
  EXPECT_TRUE(kernel.plan.mayFail);
  EXPECT_EQ(kernel.run(args), 0);
  for (int64_t row = 0; row < 6; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 50; ++i)
      sum += std::exp(double(x.at(row, i)));
    bool ignored = row == 2;
    double expected = ignored ? 0 : std::log(sum) - x.at(row, labels[row]);
    EXPECT_NEAR(loss[row], expected, 3e-6);
    for (int64_t i = 0; i < 50; ++i) {
      double p = std::exp(double(x.at(row, i))) / sum - (labels[row] == i);
      EXPECT_NEAR(gradient.at(row, i), ignored ? 0 : p * dloss[row], 1e-6);
    }
  }
  labels[4] = 50;
  EXPECT_EQ(kernel.run(args), 1);
}
