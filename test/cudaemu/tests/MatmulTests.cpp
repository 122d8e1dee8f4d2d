//===- MatmulTests.cpp - products with epilogues against plain loops ------===//

#include "abi/CublasLt.h"
#include "tests/Device.h"

#include <bit>

#include <cmath>

using namespace cublaslt;

namespace {
/// A matrix of small integers on the device, in any order and place.
struct Matrix {
  uint64_t rows, cols;
  int order;
  int64_t ld, stride;
  int batches;
  std::vector<float> values;
  cuda::DevicePtr at = 0;
  Layout *layout = nullptr;

  Matrix(uint64_t rows, uint64_t cols, int order, int batches = 1)
      : rows(rows), cols(cols), order(order), batches(batches) {
    ld = static_cast<int64_t>(order == Rows ? cols : rows) + 3;
    stride = ld * static_cast<int64_t>(order == Rows ? rows : cols) + 5;
    values.resize(stride * batches);
    EXPECT_EQ(cublasLtMatrixLayoutCreate(&layout, R32F, rows, cols, ld), 0);
    set(LayoutOrder, order);
    set(LayoutBatchCount, batches);
    set(LayoutBatchOffset, stride);
  }
  ~Matrix() { EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout), 0); }
  template <class T> void set(int attribute, T value) {
    EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value,
                                               sizeof value),
              0);
  }
  float &operator()(int batch, uint64_t r, uint64_t c) {
    return values[batch * stride + (order == Rows ? r * ld + c : c * ld + r)];
  }
};

class Products : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_EQ(cublasLtCreate(&handle), 0);
    ASSERT_EQ(cublasLtMatmulDescCreate(&matmul, Compute32F, R32F), 0);
  }
  void TearDown() override {
    EXPECT_EQ(cublasLtMatmulDescDestroy(matmul), 0);
    EXPECT_EQ(cublasLtDestroy(handle), 0);
    DeviceTest::TearDown();
  }
  template <class T> void set(int attribute, T value) {
    EXPECT_EQ(
        cublasLtMatmulDescSetAttribute(matmul, attribute, &value, sizeof value),
        0);
  }
  void fill(Matrix &m, int seed) {
    for (size_t i = 0; i < m.values.size(); ++i)
      m.values[i] = static_cast<float>((i * 7 + seed * 13) % 11) - 5;
    m.at = upload(m.values);
  }
  int run(Matrix &a, Matrix &b, Matrix &c, Matrix &d, float alpha, float beta) {
    Preference *preference;
    EXPECT_EQ(cublasLtMatmulPreferenceCreate(&preference), 0);
    uint64_t most = 1 << 20;
    EXPECT_EQ(cublasLtMatmulPreferenceSetAttribute(
                  preference, PreferenceWorkspace, &most, sizeof most),
              0);
    HeuristicResult found;
    int count = 0;
    int error = cublasLtMatmulAlgoGetHeuristic(handle, matmul, a.layout,
                                               b.layout, c.layout, d.layout,
                                               preference, 1, &found, &count);
    EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), 0);
    if (error)
      return error;
    EXPECT_EQ(count, 1);
    cuda::DevicePtr workspace = 0;
    if (found.workspace)
      EXPECT_EQ(cuMemAlloc_v2(&workspace, found.workspace), 0);
    auto pointer = [](cuda::DevicePtr p) { return std::bit_cast<void *>(p); };
    return cublasLtMatmul(handle, matmul, &alpha, pointer(a.at), a.layout,
                          pointer(b.at), b.layout, &beta, pointer(c.at),
                          c.layout, pointer(d.at), d.layout, &found.algorithm,
                          pointer(workspace), found.workspace, nullptr);
  }
  void fetch(Matrix &m) { m.values = download<float>(m.at, m.values.size()); }

  void *handle = nullptr;
  Matmul *matmul = nullptr;
};
float gelu(float x) {
  return 0.5f * x *
         (1 +
          std::tanh(std::sqrt(2 / 3.14159265f) * (x + 0.044715f * x * x * x)));
}
} // namespace

// Tests transposes, orders, batches, alpha and beta, with exact integers.
TEST_F(Products, LayoutsAndBatches) {
  for (int variant = 0; variant < 32; ++variant) {
    bool ta = variant & 1, tb = variant & 2;
    auto order = [&](int bit) { return variant >> bit & 1 ? Rows : Columns; };
    uint64_t m = 5, n = 7, k = 4;
    Matrix a(ta ? k : m, ta ? m : k, order(2), 2);
    Matrix b(tb ? n : k, tb ? k : n, order(3), 2);
    Matrix c(m, n, order(4), 2), d(m, n, order(2), 2);
    fill(a, 1);
    fill(b, 2);
    fill(c, 3);
    fill(d, 4);
    set(MatmulTransA, static_cast<int32_t>(ta));
    set(MatmulTransB, static_cast<int32_t>(tb));
    ASSERT_EQ(run(a, b, c, d, 2, 3), 0);
    fetch(d);
    for (int batch = 0; batch < 2; ++batch)
      for (uint64_t i = 0; i < m; ++i)
        for (uint64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (uint64_t x = 0; x < k; ++x)
            sum += (ta ? a(batch, x, i) : a(batch, i, x)) *
                   (tb ? b(batch, j, x) : b(batch, x, j));
          ASSERT_EQ(d(batch, i, j), 2 * sum + 3 * c(batch, i, j))
              << "variant " << variant;
        }
  }
}

// Tests bias, relu and gelu, what they keep, and their gradients from it.
TEST_F(Products, Epilogues) {
  uint64_t m = 8, n = 3, k = 4;
  Matrix a(m, k, Columns), b(k, n, Columns), d(m, n, Columns), g(m, n, Columns);
  fill(a, 1);
  fill(b, 2);
  fill(d, 3);
  fill(g, 3);
  std::vector<float> bias{1, 2, 3, 4, -5, -6, -7, -8};
  auto pb = upload(bias), gradient = upload(std::vector<float>(8, 0));
  auto aux = upload(std::vector<float>(128 * 3, 0));
  auto before = [&](uint64_t i, uint64_t j) {
    float sum = bias[i];
    for (uint64_t x = 0; x < k; ++x)
      sum += 0.125f * a(0, i, x) * b(0, x, j);
    return sum;
  };
  set(MatmulAuxPointer, aux);
  for (int kind : {Relu, Gelu}) {
    set(MatmulAuxLd, static_cast<int64_t>(128));
    set(MatmulBiasPointer, pb);
    set(MatmulEpilogue, static_cast<uint32_t>(kind | Aux | Bias));
    ASSERT_EQ(run(a, b, d, d, 0.125f, 0), 0);
    fetch(d);
    for (uint64_t i = 0; i < m; ++i)
      for (uint64_t j = 0; j < n; ++j)
        EXPECT_NEAR(d(0, i, j),
                    kind == Relu ? std::max(before(i, j), 0.0f)
                                 : gelu(before(i, j)),
                    1e-6f);
    set(MatmulBiasPointer, gradient);
    set(MatmulEpilogue, static_cast<uint32_t>((kind == Relu ? DRelu : DGelu) |
                                              Aux | BiasGradient));
    ASSERT_EQ(run(a, b, g, g, 1, 0), 0);
    fetch(g);
    std::vector<float> sums = download<float>(gradient, 8);
    for (uint64_t i = 0; i < m; ++i) {
      float sum = 0;
      for (uint64_t j = 0; j < n; ++j) {
        float x = before(i, j), h = 1e-2f;
        float slope = kind == Relu ? static_cast<float>(x > 0)
                                   : (gelu(x + h) - gelu(x - h)) / (2 * h);
        EXPECT_NEAR(g(0, i, j), slope * 8 * (x - bias[i]), 2e-2f);
        sum += g(0, i, j);
      }
      EXPECT_NEAR(sums[i], sum, 1e-4f);
    }
  }
}

// Tests the sums of op(A) and op(B) over what they share.
TEST_F(Products, BiasGradients) {
  Matrix a(4, 6, Columns), b(6, 5, Columns), d(4, 5, Columns);
  fill(a, 1);
  fill(b, 2);
  fill(d, 3);
  auto gradient = upload(std::vector<float>(5, 0));
  set(MatmulBiasPointer, gradient);
  for (int kind : {BiasGradientA, BiasGradientB}) {
    set(MatmulEpilogue, static_cast<uint32_t>(kind));
    ASSERT_EQ(run(a, b, d, d, 1, 0), 0);
    std::vector<float> sums = download<float>(gradient, 5);
    for (uint64_t i = 0; i < (kind == BiasGradientA ? 4u : 5u); ++i) {
      float sum = 0;
      for (uint64_t x = 0; x < 6; ++x)
        sum += kind == BiasGradientA ? a(0, i, x) : b(0, x, i);
      EXPECT_EQ(sums[i], sum);
    }
  }
}

// Tests 16-bit types with sums in float, and tf32's rounding of operands.
TEST_F(Products, Precisions) {
  // 1.5 and 2 as bf16 and f16; 1.5 * 2 + 2 * 2 = 7
  for (auto [type, x, y, expected] :
       {std::tuple{R16BF, 0x3fc0, 0x4000, 0x40e0},
        std::tuple{R16F, 0x3e00, 0x4000, 0x4700}}) {
    auto u = [](int v) { return static_cast<uint16_t>(v); };
    Matrix a(1, 2, Columns), b(2, 1, Columns), d(1, 1, Columns);
    a.at = upload(std::vector<uint16_t>{u(x), 0, 0, 0, u(y), 0});
    b.at = upload(std::vector<uint16_t>{u(y), u(y), 0, 0, 0});
    d.at = upload(std::vector<uint16_t>{0, 0, 0, 0});
    for (Matrix *matrix : {&a, &b, &d})
      matrix->set(LayoutType, static_cast<uint32_t>(type));
    ASSERT_EQ(run(a, b, d, d, 1, 0), 0);
    EXPECT_EQ(download<uint16_t>(d.at, 1)[0], u(expected));
  }
  Matrix a(1, 1, Columns), b(1, 1, Columns), d(1, 1, Columns);
  a.at = upload(std::vector<float>{1 + 0x1p-12f});
  b.at = upload(std::vector<float>{2});
  d.at = upload(std::vector<float>{0});
  ASSERT_EQ(run(a, b, d, d, 1, 0), 0);
  EXPECT_EQ(download<float>(d.at, 1)[0], 2 + 0x1p-11f);
  set(MatmulComputeType, static_cast<int32_t>(Compute32FFastTF32));
  ASSERT_EQ(run(a, b, d, d, 1, 0), 0);
  EXPECT_EQ(download<float>(d.at, 1)[0], 2.0f);
}

// Tests that shapes that do not fit are refused with a reason, and that a
// matrix that is longer than its memory is found.
TEST_F(Products, Refuses) {
  Matrix a(2, 3, Columns), b(4, 2, Columns), d(2, 2, Columns);
  fill(a, 1);
  fill(b, 2);
  fill(d, 3);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(a, b, d, d, 1, 0), NotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cudaemu: cublasLtMatmul: op(A) is 2 x 3, op(B) 4 x 2, C 2 x 2, D "
            "2 x 2\n");
  Matrix e(2, 4, Columns);
  e.at = upload(std::vector<float>(10));
  testing::internal::CaptureStderr();
  ASSERT_EQ(run(e, b, d, d, 1, 0), 0);
  EXPECT_EQ(cuCtxSynchronize(), cuda::IllegalAddress);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "cublasLtMatmul 2x2: read of 8 bytes at 0x"),
            std::string::npos);
}
