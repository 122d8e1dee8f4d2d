//===- ElementwiseTests.cpp - every kind against the C++ library ----------===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>

using namespace cleave;

namespace {

std::string unaryText(const char *kind, const char *type) {
  return llvm::formatv(R"(
    func.func @f(%a: tensor<3x37x{1}>) -> tensor<3x37x{1}> {{
      %r = cleave.kernel loop(%a) : (tensor<3x37x{1}>) -> tensor<3x37x{1}> {{
      ^bb0(%x: tensor<3x37x{1}>):
        %y = cleave.unary {0} %x : tensor<3x37x{1}>
        cleave.yield %y : tensor<3x37x{1}>
      }
      return %r : tensor<3x37x{1}>
    })",
                       kind, type)
      .str();
}

std::string binaryText(const char *kind, const char *type) {
  return llvm::formatv(R"(
    func.func @f(%a: tensor<3x37x{1}>, %b: tensor<3x37x{1}>) -> tensor<3x37x{1}> {{
      %r = cleave.kernel loop(%a, %b) : (tensor<3x37x{1}>, tensor<3x37x{1}>) -> tensor<3x37x{1}> {{
      ^bb0(%x: tensor<3x37x{1}>, %y: tensor<3x37x{1}>):
        %z = cleave.binary {0} %x, %y : tensor<3x37x{1}>
        cleave.yield %z : tensor<3x37x{1}>
      }
      return %r : tensor<3x37x{1}>
    })",
                       kind, type)
      .str();
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct UnaryCase {
  const char *kind;
  std::function<double(double)> expected;
  double range = 4;
  bool positive = false;
};

const UnaryCase unaryCases[] = {
    {"neg", [](double x) { return -x; }},
    {"abs", [](double x) { return std::fabs(x); }},
    {"exp", [](double x) { return std::exp(x); }, 20},
    {"log", [](double x) { return std::log(x); }, 100, true},
    {"sqrt", [](double x) { return std::sqrt(x); }, 100, true},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 100, true},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", sigmoid, 10},
    {"relu", [](double x) { return x > 0 ? x : 0; }},
    {"erf", [](double x) { return std::erf(x); }},
    {"gelu_erf",
     [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"gelu_tanh",
     [](double x) {
       return x / 2 *
              (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {"silu", [](double x) { return x * sigmoid(x); }, 10},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"round", [](double x) { return std::nearbyint(x); }},
    {"tan", [](double x) { return std::tan(x); }, 1.5},
    {"asin", [](double x) { return std::asin(x); }, 1},
    {"acos", [](double x) { return std::acos(x); }, 1},
    {"atan", [](double x) { return std::atan(x); }, 10},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"asinh", [](double x) { return std::asinh(x); }, 10},
    {"atanh", [](double x) { return std::atanh(x); }, 0.99},
};

class Unary : public testing::TestWithParam<UnaryCase> {};
class Binary : public testing::TestWithParam<
                   std::pair<const char *, double (*)(double, double)>> {};

} // namespace

/// Errors relative to the value, or to 1 where it is smaller (sums that
/// cancel).
template <typename T>
static void expectNear(T found, double expected, double tolerance, double at) {
  EXPECT_NEAR(found, expected, tolerance * std::max(1.0, std::fabs(expected)))
      << "at " << at;
}

// Tests that f32 kinds agree with the library to 1e-6, on strided rows.
TEST_P(Unary, F32) {
  const UnaryCase &test = GetParam();
  Array<float> x({3, 37}, {}, 5), y({3, 37}, {}, 2);
  x.randomize(test.range);
  for (int64_t i = 0; test.positive && i < x.count(); ++i)
    x[i] = std::fabs(x[i]) + 1e-3f;
  JitKernel kernel(unaryText(test.kind, "f32"), {x.strides, y.strides});
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t i = 0; i < x.count(); ++i)
    expectNear(y[i], test.expected(x[i]), 1e-6, x[i]);
  EXPECT_EQ(y.data[37], 77.0f) << "wrote between the rows";
}

// Tests that f64 kinds agree with the library to 1e-14.
TEST_P(Unary, F64) {
  const UnaryCase &test = GetParam();
  Array<double> x({3, 37}), y({3, 37});
  x.randomize(test.range);
  for (int64_t i = 0; test.positive && i < x.count(); ++i)
    x[i] = std::fabs(x[i]) + 1e-3;
  JitKernel kernel(unaryText(test.kind, "f64"));
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t i = 0; i < x.count(); ++i)
    expectNear(y[i], test.expected(x[i]), 1e-14, x[i]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Unary, testing::ValuesIn(unaryCases),
                         [](const auto &info) { return info.param.kind; });

// Tests that f32 kinds agree with the library to 1e-6, on a transposed operand.
TEST_P(Binary, F32) {
  auto [kind, expected] = GetParam();
  Array<float> x({3, 37}, {}, 1), y({3, 37}, {1, 0}), z({3, 37});
  x.randomize(4, 1);
  y.randomize(4, 2);
  for (int64_t i = 0; std::string(kind) == "pow" && i < x.count(); ++i)
    x[i] = std::fabs(x[i]) + 0.1f;
  JitKernel kernel(binaryText(kind, "f32"), {x.strides, y.strides, z.strides});
  kernel.run({x.data.data(), y.data.data(), z.data.data()});
  for (int64_t i = 0; i < x.count(); ++i)
    expectNear(z[i], expected(x[i], y[i]), 1e-6, x[i]);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Binary,
    testing::Values(
        std::pair(
            "add", +[](double a, double b) { return a + b; }),
        std::pair(
            "sub", +[](double a, double b) { return a - b; }),
        std::pair(
            "mul", +[](double a, double b) { return a * b; }),
        std::pair(
            "div", +[](double a, double b) { return a / b; }),
        std::pair(
            "pow", +[](double a, double b) { return std::pow(a, b); }),
        std::pair(
            "max", +[](double a, double b) { return std::max(a, b); }),
        std::pair(
            "min", +[](double a, double b) { return std::min(a, b); }),
        std::pair(
            "mod", +[](double a, double b) { return std::fmod(a, b); })),
    [](const auto &info) { return info.param.first; });

// Tests integers; the padding lanes of a division must not trap.
TEST(Integers, Div) {
  Array<int64_t> x({3, 37}), y({3, 37}), z({3, 37});
  x.randomize(1e12, 1);
  y.randomize(1000, 2);
  for (int64_t i = 0; i < y.count(); ++i)
    y[i] += y[i] >= 0;
  JitKernel kernel(binaryText("div", "i64"));
  kernel.run({x.data.data(), y.data.data(), z.data.data()});
  for (int64_t i = 0; i < x.count(); ++i)
    EXPECT_EQ(z[i], x[i] / y[i]);
}

// Tests bools as bytes: compare, and, not, select.
TEST(Bools, SelectWhereInside) {
  Array<float> x({200}), y({200});
  Array<uint8_t> inside({200});
  x.randomize(2);
  JitKernel kernel(R"(
    func.func @f(%a: tensor<200xf32>) -> (tensor<200xf32>, tensor<200xi1>) {
      %r:2 = cleave.kernel loop(%a) : (tensor<200xf32>) -> (tensor<200xf32>, tensor<200xi1>) {
      ^bb0(%x: tensor<200xf32>):
        %one = cleave.constant dense<1.0> : tensor<200xf32>
        %minus = cleave.constant dense<-1.0> : tensor<200xf32>
        %l = cleave.compare lt %x, %one : (tensor<200xf32>, tensor<200xf32>) -> tensor<200xi1>
        %g = cleave.compare gt %x, %minus : (tensor<200xf32>, tensor<200xf32>) -> tensor<200xi1>
        %i = cleave.binary and %l, %g : tensor<200xi1>
        %o = cleave.unary not %i : tensor<200xi1>
        %s = cleave.select %o, %one, %x : (tensor<200xi1>, tensor<200xf32>, tensor<200xf32>) -> tensor<200xf32>
        cleave.yield %s, %i : tensor<200xf32>, tensor<200xi1>
      }
      return %r#0, %r#1 : tensor<200xf32>, tensor<200xi1>
    })");
  kernel.run({x.data.data(), y.data.data(), inside.data.data()});
  for (int64_t i = 0; i < x.count(); ++i) {
    bool isInside = -1 < x[i] && x[i] < 1;
    EXPECT_EQ(inside[i], isInside);
    EXPECT_EQ(y[i], isInside ? x[i] : 1.0f);
  }
}

/// `As`: the C++ type that holds a `To` in memory.
template <typename From, typename To, typename As = To>
static void checkCast(const char *from, const char *to, double range) {
  std::string text = llvm::formatv(R"(
    func.func @f(%a: tensor<45x{0}>) -> tensor<45x{1}> {{
      %r = cleave.kernel loop(%a) : (tensor<45x{0}>) -> tensor<45x{1}> {{
      ^bb0(%x: tensor<45x{0}>):
        %y = cleave.cast %x : (tensor<45x{0}>) -> tensor<45x{1}>
        cleave.yield %y : tensor<45x{1}>
      }
      return %r : tensor<45x{1}>
    })",
                                   from, to);
  Array<From> x({45});
  Array<As> y({45});
  x.randomize(range);
  JitKernel kernel(text);
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t i = 0; i < x.count(); ++i)
    EXPECT_EQ(y[i], static_cast<To>(x[i])) << from << " to " << to;
}

// Tests casts: floats to integers truncate, what is not 0 is true.
TEST(Cast, Types) {
  checkCast<float, int64_t>("f32", "i64", 1e6);
  checkCast<int64_t, float>("i64", "f32", 1e6);
  checkCast<int32_t, int64_t>("i32", "i64", 1e6);
  checkCast<int64_t, int32_t>("i64", "i32", 1e6);
  checkCast<float, double>("f32", "f64", 1e6);
  checkCast<double, float>("f64", "f32", 1e6);
  checkCast<int64_t, bool, uint8_t>("i64", "i1", 1.9);
  checkCast<float, bool, uint8_t>("f32", "i1", 1.9);
  checkCast<float, _Float16>("f32", "f16", 100);
  checkCast<_Float16, float>("f16", "f32", 100);
  checkCast<uint8_t, float>("ui8", "f32", 100);
}
