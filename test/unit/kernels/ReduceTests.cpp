//===- ReduceTests.cpp - reductions against plain loops -------------------===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace cleave;

/// Reduces squares over `dims` of [4, 5, 70] and halves the result.
template <typename T>
static void check(const char *kind, const char *type, std::vector<int64_t> dims,
                  std::vector<int64_t> order) {
  std::string list, result;
  std::vector<int64_t> shape = {4, 5, 70}, kept;
  for (int64_t dim = 0; dim < 3; ++dim) {
    bool isReduced = std::count(dims.begin(), dims.end(), dim);
    if (isReduced)
      list += (list.empty() ? ": " : ", ") + std::to_string(dim);
    else
      result += std::to_string(shape[dim]) + "x", kept.push_back(dim);
  }
  std::string text = llvm::formatv(R"(
    func.func @f(%a: tensor<4x5x70x{1}>) -> tensor<{3}{1}> {{
      %r = cleave.kernel reduce(%a) : (tensor<4x5x70x{1}>) -> tensor<{3}{1}> {{
      ^bb0(%x: tensor<4x5x70x{1}>):
        %q = cleave.binary mul %x, %x : tensor<4x5x70x{1}>
        %y = cleave.reduce {0} %q {{dims = array<i64{2}>} : (tensor<4x5x70x{1}>) -> tensor<{3}{1}>
        %z = cleave.binary add %y, %y : tensor<{3}{1}>
        cleave.yield %z : tensor<{3}{1}>
      }
      return %r : tensor<{3}{1}>
    })",
                                   kind, type, list, result);
  std::vector<int64_t> keptShape;
  for (int64_t dim : kept)
    keptShape.push_back(shape[dim]);
  Array<T> x(shape, order), y(keptShape);
  x.randomize(3);
  JitKernel kernel(text, {x.strides});
  kernel.run({x.data.data(), y.data.data()});
  std::vector<double> expected(y.count(), kind[0] == 's'   ? 0
                                          : kind[0] == 'p' ? 1
                                          : kind[1] == 'a' ? -INFINITY
                                                           : INFINITY);
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t index[3] = {i / 350, i / 70 % 5, i % 70}, place = 0;
    for (int64_t dim : kept)
      place = place * shape[dim] + index[dim];
    double square = double(x[i]) * x[i];
    double &sum = expected[place];
    sum = kind[0] == 's'   ? sum + square
          : kind[0] == 'p' ? sum * square
          : kind[1] == 'a' ? std::max(sum, square)
                           : std::min(sum, square);
  }
  for (int64_t i = 0; i < y.count(); ++i)
    EXPECT_NEAR(y[i], 2 * expected[i],
                3e-6 * std::max(1.0, std::fabs(2 * expected[i])));
}

// Tests lanes along reduced and kept dims, all dims, and permuted memory.
TEST(Reduce, Dims) {
  for (std::vector<int64_t> order : {std::vector<int64_t>{0, 1, 2}, {2, 0, 1}})
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{2}, {0}, {1}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}})
      check<float>("sum", "f32", dims, order);
}

// Tests the other kinds and types.
TEST(Reduce, Kinds) {
  for (const char *kind : {"max", "min"})
    for (std::vector<int64_t> dims : {std::vector<int64_t>{2}, {0, 1}})
      check<float>(kind, "f32", dims, {});
  check<double>("prod", "f64", {0}, {});
  check<double>("sum", "f64", {1, 2}, {});
  check<int64_t>("sum", "i64", {1, 2}, {});
}
